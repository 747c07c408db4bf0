/**
 * The credential store over a full server's database file, which another process owns, may write at any time and may
 * replace. Each look-up first compares the file's state with the one that was opened:
 *
 *   open ──another inode, or the log is no longer stale──▶ reopening ──▶ open      look-ups wait meanwhile
 *     └──gone, or cannot be read──▶ each look-up fails, and tries again
 *
 * Nothing is created, migrated or changed, except the index that SQLite needs to read a write-ahead log. Called by the
 * light server through the key authenticator. Invariant: a change is seen by the next look-up.
 */
import { statSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { Mutex } from '../../core/concurrency/semaphore.ts'
import { StartError } from '../../core/errors.ts'
import { API_DATABASE, type ApiSchema } from '../api-database.ts'
import type { CredentialStore, ValidKey, ValidSession } from '../credential-store.ts'
import { databaseTrouble } from '../database-errors.ts'
import { refuseForeign } from './open-database.ts'
import { SqliteCredentialStore } from './sqlite-credential-store.ts'
import { type SqliteDatabase, SqliteDriver, SqliteKysely } from './sqlite-driver.ts'

export interface CredentialFileOptions {
  readonly location: string
  /** The option that names the file, for messages. */
  readonly option: string
}

interface OpenFile extends ReadOnlyDatabase {
  readonly credentials: CredentialStore
  /** Look-ups under way; the file is closed when they have ended. */
  readonly lookups: Set<Promise<unknown>>
}

/** The state of the file and of its write-ahead log at one moment. */
interface Files {
  readonly database: FileState
  readonly log: FileState | null
  /** Whether the log belongs to the replaced file. */
  readonly isLogStale: boolean
}

export class CredentialFile implements CredentialStore {
  readonly #options: CredentialFileOptions
  /** As `#opening` has found them, or finds them; null before the first time. */
  #files: Files | null = null
  #mustReopen = true
  #opening: Promise<OpenFile | null> = Promise.resolve(null)

  private constructor(options: CredentialFileOptions) {
    this.#options = options
  }

  /** @throws StartError when the file cannot be read as it is now. */
  static async open(options: CredentialFileOptions): Promise<CredentialFile> {
    const file = new CredentialFile(options)
    await file.#current()
    return file
  }

  findKey(secretHash: string, unixSeconds: number): Promise<ValidKey | null> {
    return this.#lookUp((credentials) => credentials.findKey(secretHash, unixSeconds))
  }

  findSession(secretHash: string, unixSeconds: number): Promise<ValidSession | null> {
    return this.#lookUp((credentials) => credentials.findSession(secretHash, unixSeconds))
  }

  async close(): Promise<void> {
    await closeFile(await this.#opening.catch(() => null))
  }

  async #lookUp<Found>(find: (credentials: CredentialStore) => Promise<Found>): Promise<Found> {
    const file = await this.#current()
    const lookup = find(file.credentials)
    file.lookups.add(lookup)
    try {
      return await lookup
    } catch (error) {
      // The open file may be unusable from here on, so the next look-up opens it again.
      this.#mustReopen = true
      throw error
    } finally {
      file.lookups.delete(lookup)
    }
  }

  /** @throws StartError while the file cannot be read. */
  async #current(): Promise<OpenFile> {
    const { location } = this.#options
    const database = readFileState(location)
    if (database === null) throw this.#error('cannot be read: there is no such file')
    const before = this.#files
    const files = compareFiles(before, { database, log: readFileState(`${location}-wal`) })
    const endsStaleness = before?.isLogStale === true && !files.isLogStale
    if (this.#mustReopen || !isSameFile(database, before?.database ?? null) || endsStaleness) {
      this.#mustReopen = false
      this.#opening = this.#reopen(this.#opening, files.isLogStale)
    }
    this.#files = files
    const file = await this.#opening
    if (file === null) throw this.#error('is closed')
    if (database.version !== before?.database.version) file.forgetPages()
    return file
  }

  /** Closes the old one first: two of one name would share the index of the write-ahead log, and its locks. */
  async #reopen(previous: Promise<OpenFile | null>, ignoresLog: boolean): Promise<OpenFile> {
    await closeFile(await previous.catch(() => null))
    try {
      const opened = openReadOnlyDatabase(this.#options, ignoresLog)
      return { ...opened, credentials: new SqliteCredentialStore(opened.database), lookups: new Set() }
    } catch (error) {
      this.#mustReopen = true
      throw error
    }
  }

  #error(problem: string): StartError {
    const { location, option } = this.#options
    return new StartError(`The database of accounts and keys '${location}' (${option}) ${problem}.`, 1)
  }
}

/**
 * A file that replaces another finds that one's write-ahead log beside it if a server had it open. Nothing in a log
 * says to which file it belongs: reading it with the new file would bring back the keys of the old.
 */
function compareFiles(before: Files | null, { database, log }: Omit<Files, 'isLogStale'>): Files {
  const isReplaced = before !== null && !isSameFile(database, before.database)
  const wasStale = before?.isLogStale === true
  // A server that begins to write the new file rewrites the log that was stale.
  const isRewritten = wasStale && log?.version !== before.log?.version
  const isLogStale = (isReplaced || wasStale) && isSameFile(log, before.log) && !isRewritten
  return { database, log, isLogStale }
}

async function closeFile(file: OpenFile | null): Promise<void> {
  if (file === null) return
  await Promise.allSettled(file.lookups)
  await file.database.destroy()
}

interface ReadOnlyDatabase {
  readonly database: SqliteKysely<ApiSchema>
  /** Drops cached pages. SQLite notices what SQLite wrote, but not a file that was copied over this one. */
  forgetPages(): void
}

/** Identifies a file among others of its name, and one state of it. */
interface FileState {
  readonly device: number
  readonly inode: number
  /** Differs after a change. */
  readonly version: string
}

/**
 * Null where there is no file. Never opens it: closing it again would release every lock of this process on it, those
 * of SQLite included.
 */
function readFileState(location: string): FileState | null {
  const stats = statSync(location, { throwIfNoEntry: false })
  if (stats === undefined) return null
  const { dev: device, ino: inode, size, mtimeMs, ctimeMs } = stats
  return { device, inode, version: `${size} ${mtimeMs} ${ctimeMs}` }
}

function isSameFile(one: FileState | null, other: FileState | null): boolean {
  return one !== null && other !== null && one.device === other.device && one.inode === other.inode
}

/**
 * @param ignoresLog reads the file without the write-ahead log beside it, which belongs to an earlier file of its name
 * @throws StartError in one sentence.
 */
function openReadOnlyDatabase(
  { location, option }: CredentialFileOptions,
  ignoresLog: boolean,
): ReadOnlyDatabase {
  const kind = { ...API_DATABASE, option }
  const refuse = (trouble: string) =>
    new StartError(`The database of ${kind.holds} '${location}' (${option}) cannot be read: ${trouble}.`, 1)
  const url = pathToFileURL(path.resolve(location))
  if (ignoresLog) url.searchParams.set('immutable', '1')
  let sqlite: SqliteDatabase | null = null
  try {
    // The thread belongs to an application: no wait for a lock may block it.
    sqlite = new DatabaseSync(url, { readOnly: true, timeout: 0 })
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

/** An empty file and one of an older version lack them: only the full server creates and migrates tables. */
function requireTables(sqlite: SqliteDatabase, refuse: (trouble: string) => StartError): void {
  const table = sqlite.prepare("select name from sqlite_master where type = 'table' and name = ?")
  const missing = ['api_keys', 'users', 'sessions', 'teams'].find((name) => table.get(name) === undefined)
  if (missing !== undefined) throw refuse(`it has no table '${missing}'; start the full server on it once`)
}
