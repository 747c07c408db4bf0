/** What loading a file of ours loads at once, read from the sources. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

/** A statement that loads another module when this one is loaded; what only takes types from one does not. */
const STATIC_IMPORT = /^(?:import|export)\s+(?!type\s)(?:[^'"`;=()]*\sfrom\s+)?['"](?<specifier>[^'"]+)['"]/gm

export interface Loaded {
  /** Below src. */
  readonly files: ReadonlySet<string>
  /** Packages, and Node's own modules. */
  readonly others: ReadonlySet<string>
}

/** Follows the static imports of a file below src, and of the files they reach. */
export function walkImports(entry: string): Loaded {
  const files = new Set([entry])
  const others = new Set<string>()
  // A set is walked to its end, also to what is added on the way.
  for (const file of files) {
    for (const { groups } of readSource(file).matchAll(STATIC_IMPORT)) {
      const specifier = groups?.['specifier'] ?? ''
      if (specifier.startsWith('.')) files.add(path.posix.join(path.posix.dirname(file), specifier))
      else others.add(specifier)
    }
  }
  return { files, others }
}

export function readSource(file: string): string {
  return readFileSync(path.join(SRC, file), 'utf8')
}
