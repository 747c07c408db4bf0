// @ts-check
/** Reads what the files of src/ import, without a compiler: comments and texts in code are left out. Tests are not read. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** @typedef {{ specifier: string, isStatic: boolean, isTypeOnly: boolean }} Import */

/**
 * The source files, sorted, as paths below src/ with `/` between names.
 * @param {string} root
 * @returns {string[]}
 */
export function listSources(root) {
  const folder = path.join(root, 'src')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(path.sep).join('/'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .sort()
}

/** By file. @param {string} root @returns {Map<string, Import[]>} */
export function readSourceImports(root) {
  return new Map(listSources(root).map((file) => [file, readImports(path.join(root, 'src', file))]))
}

/** Below src/. @param {string} file @param {string} specifier */
export function resolveImport(file, specifier) {
  return path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier))
}

const COMMENT_OR_STRING =
  /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[^]|[^`\\])*`)|\/\/[^\n]*|\/\*[^]*?\*\//g
const FROM_IMPORT = /^\s*(?:import|export)\s(?<names>[^'"`;=]*?)\sfrom\s*['"](?<from>[^'"]+)['"]/gm
const BARE_IMPORT = /^\s*import\s*['"](?<from>[^'"]+)['"]/gm
const DYNAMIC_IMPORT = /\bimport\s*\(\s*['"](?<from>[^'"]+)['"]/g

/** @param {string} file @returns {Import[]} */
function readImports(file) {
  const source = readFileSync(file, 'utf8').replaceAll(COMMENT_OR_STRING, (_, string) => string ?? '')
  /** @param {RegExp} pattern @param {boolean} isStatic */
  const find = (pattern, isStatic) =>
    [...source.matchAll(pattern)].map(({ groups = {} }) => ({
      specifier: groups.from ?? '',
      isStatic,
      isTypeOnly: /^type\s/.test(groups.names ?? ''),
    }))
  return [...find(FROM_IMPORT, true), ...find(BARE_IMPORT, true), ...find(DYNAMIC_IMPORT, false)]
}
