/**
 * One server for each database file: rate windows, permits and bans are in a server's memory, so two on one file would each
 * allow what both may together. The lock is SQLite's own write lock, held on a small database beside the file for as long as
 * the server runs; the system ends it with the process, however that ends. The database names its holder and stays
 * readable. The operator commands and the light server work beside a server and take no lock.
 */
import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { errorCode } from '../../core/system-error.ts'
import { isBusy, type SqliteDatabase } from './sqlite-driver.ts'

/** Who holds the lock; null where it was not to be read. */
export type LockHolder = { readonly pid: number; readonly host: string } | null

export type ServerLock =
  | { readonly outcome: 'held'; readonly release: () => void }
  | { readonly outcome: 'refused'; readonly holder: LockHolder }

/** A start waits this long for a lock that is taken, as `findLockHolder` takes it for a moment. */
const LOOK_MS = 50

/** @param file the real path of the database, one text for each file @throws what SQLite and the file system throw */
export function acquireServerLock(file: string): ServerLock {
  const lockFile = `${file}.lock`
  for (;;) {
    const inode = makeLockFile(lockFile)
    const lock = new DatabaseSync(lockFile, { timeout: LOOK_MS })
    try {
      takeLock(lock)
    } catch (error) {
      const holder = isBusy(error) ? readHolder(lock) : null
      lock.close()
      if (!isBusy(error)) throw error
      return { outcome: 'refused', holder }
    }
    // Whoever released it in the meantime removed the file, and with it the lock that others would meet.
    if (inodeOf(lockFile) === inode) return { outcome: 'held', release: () => release(lock, lockFile) }
    lock.close()
  }
}

/**
 * Who holds the lock, in words; null where nobody does. The file and the name in it outlive a server that is killed, so only the
 * lock itself tells: whoever gets it, and gives it back at once, has found that it is free.
 */
export function findLockHolder(file: string): string | null {
  const lockFile = `${file}.lock`
  if (inodeOf(lockFile) === null) return null
  const url = pathToFileURL(lockFile)
  // Not made anew where a server has removed it since.
  url.searchParams.set('mode', 'rw')
  const lock = new DatabaseSync(url, { timeout: 0 })
  try {
    lock.exec('begin immediate')
    return null
  } catch (error) {
    if (!isBusy(error)) throw error
    return describeHolder(readHolder(lock))
  } finally {
    // Ends the transaction, in which nothing was written.
    lock.close()
  }
}

/** In messages: `the server with process id 7`. */
export function describeHolder(holder: LockHolder): string {
  if (holder === null) return 'another server'
  const { pid, host } = holder
  if (pid === process.pid && host === os.hostname()) return `another server of this process (${pid})`
  return host === os.hostname()
    ? `the server with process id ${pid}`
    : `the server with process id ${pid} on ${host}`
}

/** Created here and not by SQLite, so that no other user of the machine can hold it. */
function makeLockFile(lockFile: string): bigint | null {
  try {
    closeSync(openSync(lockFile, 'wx', 0o600))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
  return inodeOf(lockFile)
}

function inodeOf(lockFile: string): bigint | null {
  return statSync(lockFile, { bigint: true, throwIfNoEntry: false })?.ino ?? null
}

/** The holder is committed first: others read what is committed. */
function takeLock(lock: SqliteDatabase): void {
  lock.exec('begin immediate')
  lock.exec('create table if not exists holder (pid integer not null, host text not null)')
  lock.exec('delete from holder')
  lock.prepare('insert into holder (pid, host) values (?, ?)').run(process.pid, os.hostname())
  lock.exec('commit')
  lock.exec('begin immediate')
}

function readHolder(lock: SqliteDatabase): LockHolder {
  try {
    const row = lock.prepare('select pid, host from holder').get() as
      | { pid: number; host: string }
      | undefined
    return row ?? null
  } catch {
    // The holder is writing its name at this moment.
    return null
  }
}

function release(lock: SqliteDatabase, lockFile: string): void {
  try {
    // Before the lock ends: afterwards the file may be another's.
    rmSync(lockFile, { force: true })
  } catch {
    // Windows removes no open file. One that is left does not matter: it is the lock that counts.
  }
  lock.close()
}
