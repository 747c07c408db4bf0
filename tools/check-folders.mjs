// @ts-check
/** Fails when a folder holds more files side by side than a reader takes in at once. */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { runCheck } from './run-check.mjs'

const MAX_FILES = 20
const PARTS = ['src', 'test', 'bench', 'tools', 'docs']
/** A log that only grows: its files are found by their number. */
const LOG = 'docs/decisions'

/** @param {string} root @returns {string[]} */
export function checkFolders(root) {
  return PARTS.filter((part) => existsSync(path.join(root, part))).flatMap((part) => {
    const folders = readdirSync(path.join(root, part), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, entry.parentPath).split(path.sep).join('/'))
    return [...new Set(folders)].sort().flatMap((folder) => {
      const count = folders.filter((other) => other === folder).length
      if (count <= MAX_FILES || folder === LOG) return []
      return [`${folder} holds ${count} files side by side; at most ${MAX_FILES} may`]
    })
  })
}

runCheck(import.meta.url, checkFolders)
