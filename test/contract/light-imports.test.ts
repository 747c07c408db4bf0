/** What importing `sluice/light` loads: Node's own modules and files of ours, no package and nothing native. */
import { describe, expect, it } from 'vitest'
import { readSource, walkImports } from '../support/import-graph.ts'

const DYNAMIC_LOAD = /\bimport\s*\(|\brequire\s*\(|\bcreateRequire\b|\bprocess\.dlopen\b/

describe('the imports of the light server', () => {
  const { files, others } = walkImports('light/index.ts')

  it('reach the real scheduler', () => {
    expect(files).toContain('scheduler/continuous-batch-scheduler.ts')
    expect(files).toContain('engines/passthrough/passthrough-runner.ts')
  })

  it('take nothing from outside but Node’s own modules', () => {
    expect([...others].filter((specifier) => !specifier.startsWith('node:'))).toEqual([])
  })

  it('load nothing later that would not be seen here', () => {
    expect([...files].filter((file) => DYNAMIC_LOAD.test(readSource(file)))).toEqual([])
  })

  it('stay out of the parts that own packages or processes', () => {
    const parts = /^(?:core|protocol|http|scheduler|light)\/|^engines\/(?:passthrough|local)\//

    expect([...files].filter((file) => !parts.test(file))).toEqual([])
  })
})

it('a walk of the full server’s imports does find its packages', () => {
  expect(walkImports('server/create-server.ts').others).toContain('fastify')
})
