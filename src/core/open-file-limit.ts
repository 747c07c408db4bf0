/** How many files this process may have open. Read when the program begins: where all are in use, this cannot be read either. */
import { readFileSync } from 'node:fs'

/** Infinity where the system does not report it. */
export const OPEN_FILE_LIMIT = readOpenFileLimit()

function readOpenFileLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
