/**
 * Opens the accounts database of a full server for reading only: another process owns the file, may write it at any time and
 * may replace it. Nothing is created, migrated or changed, except the index that SQLite needs to read a write-ahead log.
 */
import { statSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { Mutex } from '../../core/concurrency/semaphore.ts'
import { StartError } from '../../core/errors.ts'
import { API_DATABASE, type ApiSchema } from '../api-database.ts'
import { databaseTrouble } from '../database-errors.ts'
import { refuseForeign } from './open-database.ts'
import { type SqliteDatabase, SqliteDriver, SqliteKysely } from './sqlite-driver.ts'

export interface ReadOnlyDatabase {
  readonly database: SqliteKysely<ApiSchema>
  /** Drops cached pages. SQLite notices what SQLite wrote, but not a file that was copied over this one. */
  forgetPages(): void
}

/** Identifies a file among others of its name, and one state of it. */
export interface FileState {
  readonly device: number
  readonly inode: number
  /** Differs after a change. */
  readonly version: string
}

/** The write-ahead log that SQLite keeps beside the file of a database. */
export function logOf(location: string): string {
  return `${location}-wal`
}

/**
 * Null where there is no file. Never opens it: closing it again would release every lock of this process on it, those of
 * SQLite included.
 */
export function readFileState(location: string): FileState | null {
  const stats = statSync(location, { throwIfNoEntry: false })
  if (stats === undefined) return null
  const { dev: device, ino: inode, size, mtimeMs, ctimeMs } = stats
  return { device, inode, version: `${size} ${mtimeMs} ${ctimeMs}` }
}

export function isSameFile(one: FileState | null, other: FileState | null): boolean {
  return one !== null && other !== null && one.device === other.device && one.inode === other.inode
}

export interface ReadOnlyOptions {
  /** The option that names the file, for messages. */
  readonly option: string
  /**
   * Reads the file without the write-ahead log beside it, which belongs to another file that had its name.
   * @default false
   */
  readonly ignoresLog?: boolean
}

/** @throws StartError in one sentence. */
export function openReadOnlyDatabase(
  location: string,
  { option, ignoresLog = false }: ReadOnlyOptions,
): ReadOnlyDatabase {
  const kind = { ...API_DATABASE, option }
  const refuse = (trouble: string) =>
    new StartError(`The database of ${kind.holds} '${location}' (${option}) cannot be read: ${trouble}.`, 1)
  let sqlite: SqliteDatabase | null = null
  try {
    // The thread belongs to an application: no wait for a lock may block it.
    sqlite = new DatabaseSync(toUrl(location, ignoresLog), { readOnly: true, timeout: 0 })
    refuseForeign(sqlite, location, kind)
    requireTables(sqlite, refuse)
    const opened = sqlite
    return {
      database: new SqliteKysely<ApiSchema>(
        new SqliteDriver(opened, { mutex: new Mutex(), isReadOnly: true }),
      ),
      forgetPages: () => opened.exec('pragma shrink_memory'),
    }
  } catch (error) {
    sqlite?.close()
    throw error instanceof StartError ? error : refuse(databaseTrouble(error))
  }
}

function toUrl(location: string, ignoresLog: boolean): URL {
  const url = pathToFileURL(path.resolve(location))
  if (ignoresLog) url.searchParams.set('immutable', '1')
  return url
}

/** An empty file and one of an older version lack them: only the full server creates and migrates tables. */
function requireTables(sqlite: SqliteDatabase, refuse: (trouble: string) => StartError): void {
  const table = sqlite.prepare("select name from sqlite_master where type = 'table' and name = ?")
  const missing = ['api_keys', 'users', 'sessions'].find((name) => table.get(name) === undefined)
  if (missing !== undefined) throw refuse(`it has no table '${missing}'; start the full server on it once`)
}
