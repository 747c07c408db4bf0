/**
 * Copies a SQLite database that others may be writing to: one read transaction, so the copy is the database as it was at one
 * moment, without its write-ahead log. Writers go on meanwhile. The copy has its name only once it is whole and on the disk.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'

const BUSY_TIMEOUT_MS = 10_000

/** @param from must exist, @param to must not. @throws what SQLite and the file system throw */
export function backUpDatabase(from: string, to: string): void {
  const partial = `${to}.partial`
  rmSync(partial, { force: true })
  // Created here and not by SQLite, so that no other user of the machine can read it.
  closeSync(openSync(partial, 'wx', 0o600))
  try {
    const database = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    try {
      database.prepare('vacuum into ?').run(partial)
    } finally {
      database.close()
    }
    flush(partial)
    renameSync(partial, to)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

function flush(file: string): void {
  const handle = openSync(file, 'r+')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
