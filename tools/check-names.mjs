// @ts-check
/**
 * Fails when two files of src/ declare the same exported name: a reader who finds one takes it for the other. What passes
 * a name on (`export … from`) declares nothing.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { listSources } from './read-imports.mjs'
import { runCheck } from './run-check.mjs'

const DECLARATION =
  /^export (?:abstract )?(?:async )?(?:class|const|enum|function\*?|interface|let|type) (?<name>[\w$]+)/gm

/** @param {string} root @returns {string[]} */
export function checkNames(root) {
  /** @type {Map<string, Set<string>>} */
  const filesOf = new Map()
  for (const file of listSources(root)) {
    for (const { groups } of readFileSync(path.join(root, 'src', file), 'utf8').matchAll(DECLARATION)) {
      const name = groups?.name ?? ''
      filesOf.set(name, (filesOf.get(name) ?? new Set()).add(file))
    }
  }
  return [...filesOf]
    .filter(([, files]) => files.size > 1)
    .map(([name, files]) => `${name} is exported by ${[...files].map((file) => `src/${file}`).join(', ')}`)
    .sort()
}

runCheck(import.meta.url, checkNames)
