/**
 * Opens one SQLite database, or explains in one sentence why it cannot be used. A new file gets its tables from whoever opens it
 * first; one of an older version is migrated by a server alone. A file of another program, or of a newer version of this one, is
 * left unchanged: it is checked before anything is written.
 */
import { accessSync, closeSync, constants, openSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { type Migration, Migrator } from 'kysely'
import { Mutex } from '../../core/concurrency/semaphore.ts'
import { StartError } from '../../core/errors.ts'
import { errorCode, systemCallCode } from '../../core/system-error.ts'
import { databaseTrouble, newerSchema, olderSchema } from '../database-errors.ts'
import { FilePlace } from './file-place.ts'
import { acquireServerLock, describeHolder } from './server-lock.ts'
import { BUSY_PAUSE_MS, isBusy, type SqliteDatabase, SqliteDriver, SqliteKysely } from './sqlite-driver.ts'

export interface DatabaseKind {
  /** Its contents, for messages: `accounts and keys`. */
  readonly holds: string
  /** The option that names the file, for messages. */
  readonly option: string
  /** Written into the file's header, so that another program's file is recognized. */
  readonly applicationId: number
  /** By name; run in the order of their names. */
  readonly migrations: Readonly<Record<string, Migration>>
}

export const IN_MEMORY = ':memory:'

/** While the file is being opened, a wait for another process's lock may block the thread: no request comes yet. */
const BUSY_TIMEOUT_MS = 10_000

/** The log that a long reader makes grow is cut back to this once it can be. */
const MAX_IDLE_WAL_BYTES = 16 * 1024 * 1024

/** The migrator's own table. */
const MIGRATION_TABLE = 'kysely_migration'

export interface OpenDatabaseOptions {
  /** Whether a server opens it, of which there may be one at a time, and which alone migrates what is there. @default false */
  readonly isServer?: boolean
}

/** @throws StartError */
export async function openDatabase<Schema>(
  location: string,
  kind: DatabaseKind,
  { isServer = false }: OpenDatabaseOptions = {},
): Promise<SqliteKysely<Schema>> {
  const sqlite = await refuseWhenUnusable(location, kind, () => openSqlite(location, { kind, isServer }))
  const file = location === IN_MEMORY ? null : realpathSync(location)
  const options = {
    mutex: mutexOf(file),
    place: file === null ? null : { holds: kind.holds, file: new FilePlace(file) },
    onClose: isServer && file !== null ? await lockOrClose(sqlite, file, { location, kind }) : () => {},
  }
  const database = new SqliteKysely<Schema>(new SqliteDriver(sqlite, options))
  try {
    await refuseWhenUnusable(location, kind, () =>
      file === null ? createInMemory(sqlite, database, kind) : migrate(database, kind),
    )
    sqlite.exec(`pragma busy_timeout = ${BUSY_PAUSE_MS}`)
    return database
  } catch (error) {
    await database.destroy()
    throw error
  }
}

const MUTEX_BY_FILE = new Map<string, Mutex>()

/** @param file its real path, as two names of one file are one file; null in memory */
function mutexOf(file: string | null): Mutex {
  if (file === null) return new Mutex()
  const mutex = MUTEX_BY_FILE.get(file) ?? new Mutex()
  MUTEX_BY_FILE.set(file, mutex)
  return mutex
}

interface Named {
  readonly location: string
  readonly kind: DatabaseKind
}

/** Gives what releases the lock; closes the database when it is refused. */
async function lockOrClose(
  sqlite: SqliteDatabase,
  file: string,
  { location, kind }: Named,
): Promise<() => void> {
  try {
    const lock = await refuseWhenUnusable(location, kind, () => acquireServerLock(file))
    if (lock.outcome === 'held') return lock.release
    throw new StartError(
      `${describeDatabase(location, kind)} is in use by ${describeHolder(lock.holder)}: ` +
        'stop that one, or give this one files of its own (--data-dir, or --api-db and --usage-db).',
      1,
    )
  } catch (error) {
    sqlite.close()
    throw error
  }
}

export async function refuseWhenUnusable<T>(
  location: string,
  kind: DatabaseKind,
  open: () => T | Promise<T>,
): Promise<T> {
  try {
    return await open()
  } catch (error) {
    if (error instanceof StartError) throw error
    const trouble = FILE_TROUBLES[systemCallCode(error) ?? ''] ?? databaseTrouble(error)
    throw new StartError(`${describeDatabase(location, kind)} cannot be used: ${trouble}.`, 1)
  }
}

/** The database's name in messages. */
export function describeDatabase(location: string, { holds, option }: DatabaseKind): string {
  return `The database of ${holds} '${location}' (${option})`
}

const FILE_TROUBLES: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'writing there is not permitted',
  EPERM: 'writing there is not permitted',
  EROFS: 'it lies on a read-only disk',
  ENOSPC: 'the disk is full',
}

function openSqlite(
  location: string,
  { kind, isServer }: { readonly kind: DatabaseKind; readonly isServer: boolean },
): SqliteDatabase {
  if (location !== IN_MEMORY) makeFile(location)
  // A whole path, because SQLite takes a name that begins with `file:` for a URI.
  const sqlite = new DatabaseSync(location === IN_MEMORY ? location : path.resolve(location), {
    timeout: BUSY_TIMEOUT_MS,
    enableForeignKeyConstraints: true,
  })
  try {
    refuseForeign(sqlite, location, kind)
    if (!isServer) refuseOlder(sqlite, location, kind)
    prepareFile(sqlite, kind)
    return sqlite
  } catch (error) {
    sqlite.close()
    throw error
  }
}

/**
 * Created here and not by SQLite, so that no other user of the machine can read it. A file that exists is never opened
 * here: closing it again would release the locks that this process holds on it.
 */
function makeFile(location: string): void {
  try {
    closeSync(openSync(location, 'wx', 0o600))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    requireUsableFile(location)
  }
}

/** Of one that is there. @throws a system error */
export function requireUsableFile(location: string): void {
  if (statSync(location).isDirectory()) {
    throw Object.assign(new Error('it is a folder'), { code: 'EISDIR', syscall: 'open' })
  }
  accessSync(location, constants.R_OK | constants.W_OK)
}

/** Only reads. @throws StartError */
export function refuseForeign(sqlite: SqliteDatabase, location: string, kind: DatabaseKind): void {
  const { application_id: applicationId } = readRow(sqlite, 'pragma application_id')
  const { tables } = readRow(sqlite, 'select count(*) as tables from sqlite_master')
  if (applicationId === 0 && tables === 0) return
  if (applicationId !== kind.applicationId) {
    throw new StartError(
      `${describeDatabase(location, kind)} holds something else; nothing in it was changed.`,
      1,
    )
  }
  const problem = newerSchema({ ...kind, applied: readApplied(sqlite) })
  if (problem !== null) throw new StartError(`${describeDatabase(location, kind)} ${problem}.`, 1)
}

/** What is wrong with it for all but a server, which brings it up to date, as the end of a sentence. */
export function olderProblem(sqlite: SqliteDatabase, { migrations }: DatabaseKind): string | null {
  return olderSchema({ migrations, applied: readApplied(sqlite) })
}

/** @throws StartError */
function refuseOlder(sqlite: SqliteDatabase, location: string, kind: DatabaseKind): void {
  const problem = olderProblem(sqlite, kind)
  if (problem !== null) throw new StartError(`${describeDatabase(location, kind)} ${problem}.`, 1)
}

/** Names of migrations. */
function readApplied(sqlite: SqliteDatabase): ReadonlySet<string> {
  const { hasHistory } = readRow(
    sqlite,
    `select count(*) as hasHistory from sqlite_master where name = '${MIGRATION_TABLE}'`,
  )
  if (hasHistory === 0) return new Set()
  const rows = sqlite.prepare(`select name from ${MIGRATION_TABLE}`).all() as { name: string }[]
  return new Set(rows.map(({ name }) => name))
}

function readRow(sqlite: SqliteDatabase, sql: string): Record<string, unknown> {
  return sqlite.prepare(sql).get() as Record<string, unknown>
}

function prepareFile(sqlite: SqliteDatabase, { applicationId }: DatabaseKind): void {
  // Not again: a write would wait for whatever transaction is open.
  if (readRow(sqlite, 'pragma application_id')['application_id'] !== applicationId) {
    sqlite.exec(`pragma application_id = ${applicationId}`)
  }
  switchToWal(sqlite)
  // The process may die at any time and loses nothing; a power cut may lose the last moments (decisions, Limits and usage).
  sqlite.exec('pragma synchronous = normal')
  sqlite.exec(`pragma journal_size_limit = ${MAX_IDLE_WAL_BYTES}`)
}

/** SQLite waits for locks everywhere but here, where two processes that start on one new file meet. */
function switchToWal(sqlite: SqliteDatabase): void {
  const deadlineMs = performance.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      sqlite.exec('pragma journal_mode = wal')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

async function migrate<Schema>(database: SqliteKysely<Schema>, { migrations }: DatabaseKind): Promise<void> {
  const provider = { getMigrations: async () => ({ ...migrations }) }
  // The default comparison is the locale's, whose tables take longer to load than the database to open.
  const nameComparator = (one: string, other: string) => (one < other ? -1 : 1)
  const { error } = await new Migrator({ db: database, provider, nameComparator }).migrateToLatest()
  if (error !== undefined) throw error
}

/** By kind; only where databases are opened in memory, of which a process that makes many servers has many. */
const NEW_DATABASES = new WeakMap<DatabaseKind, string>()

/** The migrations take many times as long as the statements that give what is there after them. */
async function createInMemory<Schema>(
  sqlite: SqliteDatabase,
  database: SqliteKysely<Schema>,
  kind: DatabaseKind,
): Promise<void> {
  const known = NEW_DATABASES.get(kind)
  if (known !== undefined) return sqlite.exec(known)
  await migrate(database, kind)
  NEW_DATABASES.set(kind, describeNew(sqlite))
}

/** What the migrations have made, in the order in which they did, and what they have written into it, as statements. */
function describeNew(sqlite: SqliteDatabase): string {
  const made = sqlite
    .prepare("select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite_%'")
    .all() as { type: string; name: string; sql: string }[]
  const statementsOf = (one: (typeof made)[number]) =>
    one.type === 'table' ? [one.sql, ...describeRows(sqlite, one.name)] : [one.sql]
  return ['begin', ...made.flatMap(statementsOf), 'commit;'].join(';\n')
}

function describeRows(sqlite: SqliteDatabase, table: string): readonly string[] {
  const columns = sqlite.prepare(`pragma table_info("${table}")`).all() as { name: string }[]
  const values = columns.map(({ name }) => `quote("${name}")`).join(` || ',' || `)
  const rows = sqlite.prepare(`select ${values} as row from "${table}"`).all() as { row: string }[]
  return rows.map(({ row }) => `insert into "${table}" values (${row})`)
}
