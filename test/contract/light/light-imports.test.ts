/** What importing `sluice/light` loads: Node's own modules and files of ours, no package and nothing native. */
import { describe, expect, it } from 'vitest'
import { readSource, walkImports } from '../../support/import-graph.ts'

const DYNAMIC_LOAD =
  /\bimport\s*\(\s*(?:'(?<specifier>[^']+)')?|\brequire\s*\(|\bcreateRequire\b|\bprocess\.dlopen\b/g

/** What the files load later, as it is written there. */
function laterLoads(files: Iterable<string>): readonly string[] {
  return [...files].flatMap((file) =>
    Array.from(
      readSource(file).matchAll(DYNAMIC_LOAD),
      ([text, specifier = text]) => `${file}: ${specifier}`,
    ),
  )
}

describe('the imports of the light server', () => {
  const { files, others } = walkImports('light.ts')

  it('take nothing from outside but Node’s own modules', () => {
    expect(files.size).toBeGreaterThan(10)
    expect([...others].filter((specifier) => !specifier.startsWith('node:'))).toEqual([])
  })

  it('are few: each file takes its time, and what only a server that listens needs comes with `listen`', () => {
    expect([...others].sort()).toEqual(['node:fs', 'node:path'])
    expect(files.size).toBeLessThanOrEqual(14)
  })

  it('load later only what it listens with, and what a key database and a checkpoint need', () => {
    expect(laterLoads(files)).toEqual([
      'app/create-light-server.ts: ./light-checkpoint.ts',
      'app/create-light-server.ts: ../accounts/keys/key-file.ts',
      'light/light-server.ts: ./http-front.ts',
      'light/light-server.ts: ./workers/passthrough-host.ts',
    ])
  })

  it('stay out of the parts that own packages or processes', () => {
    const parts = /^(?:light\.ts$|app\/create-light-server\.ts$|(?:core|net|light)\/)/

    expect([...files].filter((file) => !parts.test(file))).toEqual([])
  })
})

it.each(['light/http-front.ts', 'light/workers/passthrough-host.ts', 'light/workers/generation-worker.ts'])(
  'the imports of %s take nothing from outside but Node’s own modules, and load nothing later',
  (file) => {
    const { files, others } = walkImports(file)

    expect([...others].filter((specifier) => !specifier.startsWith('node:'))).toEqual([])
    expect(laterLoads(files)).toEqual([])
  },
)

describe('the imports of its worker threads', () => {
  const { files } = walkImports('light/workers/generation-worker.ts')

  it('reach the real scheduler', () => {
    expect(files).toContain('scheduler/continuous-batch-scheduler.ts')
    expect(files).toContain('engines/passthrough/passthrough-runner.ts')
  })
})

describe('a walk of the imports', () => {
  it('finds the packages of the full server', () => {
    expect(walkImports('app/open-service.ts').others).toContain('fastify')
  })

  it('finds those of a key database and of a checkpoint', () => {
    expect(walkImports('accounts/keys/key-file.ts').others).toContain('@photostructure/sqlite')
    expect(walkImports('app/light-checkpoint.ts').others).toContain('pino')
  })
})
