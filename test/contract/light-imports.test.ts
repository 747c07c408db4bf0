/** What importing `sluice/light` loads: Node's own modules and files of ours, no package and nothing native. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

/** A statement that loads another module when this one is loaded; what only takes types from one does not. */
const STATIC_IMPORT = /^(?:import|export)\s+(?!type\s)(?:[^'"`;=()]*\sfrom\s+)?['"](?<specifier>[^'"]+)['"]/gm

const DYNAMIC_LOAD = /\bimport\s*\(|\brequire\s*\(|\bcreateRequire\b|\bprocess\.dlopen\b/

interface Loaded {
  /** Below src. */
  readonly files: ReadonlySet<string>
  readonly others: ReadonlySet<string>
}

/** Follows the static imports of a file, and of the files they reach. */
function walkImports(entry: string): Loaded {
  const files = new Set([entry])
  const others = new Set<string>()
  // A set is walked to its end, also to what is added on the way.
  for (const file of files) {
    for (const { groups } of read(file).matchAll(STATIC_IMPORT)) {
      const specifier = groups?.['specifier'] ?? ''
      if (specifier.startsWith('.')) files.add(path.posix.join(path.posix.dirname(file), specifier))
      else others.add(specifier)
    }
  }
  return { files, others }
}

function read(file: string): string {
  return readFileSync(path.join(SRC, file), 'utf8')
}

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
    expect([...files].filter((file) => DYNAMIC_LOAD.test(read(file)))).toEqual([])
  })

  it('stay out of the parts that own packages or processes', () => {
    const parts = /^(?:core|protocol|http|scheduler|light)\/|^engines\/(?:passthrough|local)\//

    expect([...files].filter((file) => !parts.test(file))).toEqual([])
  })
})

it('a walk of the full server’s imports does find its packages', () => {
  expect(walkImports('server/create-server.ts').others).toContain('fastify')
})
