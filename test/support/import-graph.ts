/** What loading a file of ours loads at once, read from the sources. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { readSourceImports, resolveImport } from '../../tools/read-imports.mjs'

const ROOT = path.resolve(import.meta.dirname, '../..')
const IMPORTS = readSourceImports(ROOT)

export interface Loaded {
  /** Below src. */
  readonly files: ReadonlySet<string>
  /** Packages, and Node's own modules. */
  readonly others: ReadonlySet<string>
}

/** Follows the static imports of a file below src, and of the files they reach; types load nothing. */
export function walkImports(entry: string): Loaded {
  const files = new Set([entry])
  const others = new Set<string>()
  // A set is walked to its end, also to what is added on the way.
  for (const file of files) {
    for (const { specifier, isStatic, isTypeOnly } of IMPORTS.get(file) ?? []) {
      if (!isStatic || isTypeOnly) continue
      if (specifier.startsWith('.')) files.add(resolveImport(file, specifier))
      else others.add(specifier)
    }
  }
  return { files, others }
}

export function readSource(file: string): string {
  return readFileSync(path.join(ROOT, 'src', file), 'utf8')
}
