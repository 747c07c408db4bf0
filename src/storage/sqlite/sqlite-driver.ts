/**
 * The one connection to a SQLite file: prepared statements, transactions and waiting for locks. The query builder uses it
 * through `SqliteKysely`; the stores of the hot path use `run` and `transact` with SQL compiled once, because building a
 * query costs more than running it. Both lock one mutex for each file.
 * Invariant: the event loop never waits longer than `BUSY_PAUSE_MS` for another process's lock.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseSync, StatementSyncInstance } from '@photostructure/sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Mutex, Permit } from '../../core/concurrency/semaphore.ts'
import { ServiceError } from '../../core/errors.ts'
import { sqliteCode } from '../database-errors.ts'
import type { FilePlace } from './file-place.ts'

export type SqliteDatabase = InstanceType<typeof DatabaseSync>

/** The query builder, and the driver below it. */
export class SqliteKysely<Schema> extends Kysely<Schema> {
  readonly driver: SqliteDriver

  constructor(driver: SqliteDriver) {
    super({
      dialect: {
        createDriver: () => driver,
        createQueryCompiler: () => new SqliteQueryCompiler(),
        createAdapter: () => new TransactionalSqliteAdapter(),
        createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
      },
    })
    this.driver = driver
  }
}

/** Tables are created in a transaction as well, so a migration that fails leaves nothing behind. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

export interface SqliteDriverOptions {
  /**
   * Shared by all connections of this process to one file: a connection that waits for a lock blocks the thread, so the
   * transaction that holds the lock on that same thread could never end.
   */
  readonly mutex: Mutex
  /** @default false */
  readonly isReadOnly?: boolean
  /** The file, and its contents for messages; null in memory. @default null */
  readonly place?: { readonly holds: string; readonly file: FilePlace } | null
  /** Called once, when the connection has been closed. */
  readonly onClose?: () => void
}

/** `begin immediate` takes the write lock first, so that no other process can write between its reads and its writes. */
const BEGIN = { read: 'begin', write: 'begin immediate' } as const

export class SqliteDriver implements Driver {
  readonly #database: SqliteDatabase
  readonly #connection: SqliteConnection
  readonly #mutex: Mutex
  readonly #isReadOnly: boolean
  readonly #place: SqliteDriverOptions['place']
  readonly #onClose: () => void
  /** Of the query builder, while it has the connection. */
  #permit: Permit | null = null

  constructor(database: SqliteDatabase, options: SqliteDriverOptions) {
    const { mutex, isReadOnly = false, place = null, onClose = () => {} } = options
    this.#database = database
    this.#connection = new SqliteConnection(database, () => this.#requirePlace(), place?.holds)
    this.#mutex = mutex
    this.#isReadOnly = isReadOnly
    this.#place = place
    this.#onClose = onClose
  }

  /** The error of a database whose file was removed or replaced; null while it is in its place. */
  whyLost(): ServiceError | null {
    const place = this.#place ?? null
    return place === null || place.file.isIntact()
      ? null
      : new ServiceError('storage_lost', { holds: place.holds })
  }

  /** Runs `work` alone on the connection, at once where nobody else has it. It is repeated while another process holds the lock it needs. */
  async run<Result>(work: (connection: SqliteConnection) => Result): Promise<Result> {
    if (this.#mutex.isIdle) {
      try {
        return work(this.#connection)
      } catch (error) {
        if (!isBusy(error)) throw error
      }
    }
    return await this.#mutex.run(() => untilFree(() => work(this.#connection)))
  }

  /** As `run`, in one transaction: `work` starts with the lock held, and all that it wrote is kept or nothing. */
  transact<Result>(kind: 'read' | 'write', work: (connection: SqliteConnection) => Result): Promise<Result> {
    return this.run((connection) => {
      connection.run(BEGIN[kind], [])
      try {
        const result = work(connection)
        connection.run('commit', [])
        return result
      } catch (error) {
        this.#rollback()
        throw error
      }
    })
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    this.#permit = await this.#mutex.acquire()
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    this.#permit?.[Symbol.dispose]()
  }

  async beginTransaction(): Promise<void> {
    await untilFree(() => this.#connection.run(BEGIN.write, []))
  }

  async commitTransaction(): Promise<void> {
    this.#connection.run('commit', [])
  }

  async rollbackTransaction(): Promise<void> {
    this.#rollback()
  }

  #rollback(): void {
    // Some errors, a full disk among them, have ended the transaction already.
    if (this.#database.isTransaction) this.#database.exec('rollback')
  }

  #requirePlace(): void {
    const error = this.whyLost()
    if (error !== null) throw error
  }

  async destroy(): Promise<void> {
    await this.#mutex.run(async () => {
      if (!this.#database.isOpen) return
      if (!this.#isReadOnly) removeLog(this.#database)
      this.#database.close()
      this.#onClose()
    })
  }
}

/** SQLite waits this long for another process's lock with the thread blocked; then as long between two tries without it. */
export const BUSY_PAUSE_MS = 20

/** A process that holds a lock for longer is taken to hold it for good. */
const BUSY_DEADLINE_MS = 10_000

const SQLITE_BUSY = 5
const SQLITE_FULL = 13

export function isBusy(error: unknown): boolean {
  return ((sqliteCode(error) ?? 0) & 0xff) === SQLITE_BUSY
}

/** Repeats `run` while another process holds the lock it needs; a statement that was refused for a lock has done nothing. */
async function untilFree<Result>(run: () => Result): Promise<Result> {
  let deadlineMs: number | null = null
  for (;;) {
    try {
      return run()
    } catch (error) {
      const nowMs = performance.now()
      deadlineMs ??= nowMs + BUSY_DEADLINE_MS
      if (!isBusy(error) || nowMs > deadlineMs) throw error
      await pause(BUSY_PAUSE_MS)
    }
  }
}

/**
 * Removes the write-ahead log before closing, so that one file is all there is to copy. SQLite does so by itself, but the
 * binding closes before it has released its statements.
 */
function removeLog(database: SqliteDatabase): void {
  try {
    database.exec('pragma busy_timeout = 0')
    database.exec('pragma journal_mode = delete')
  } catch {
    // Another process has the file open and removes the log when it closes.
  }
}

type Values = Parameters<StatementSyncInstance['all']>

/**
 * The binding cuts a text at a null character, so the text would equal another, shorter one. As bytes it equals no text;
 * none is ever stored (`storedText` in the schemas).
 */
function toValues(parameters: readonly unknown[]): Values {
  return parameters.map((value) =>
    typeof value === 'string' && value.includes('\0') ? Buffer.from(value) : value,
  ) as Values
}

/** More than the program has fixed statements; the others come from lists of varying length. */
const MAX_PREPARED_STATEMENTS = 200

interface PreparedStatement {
  readonly statement: StatementSyncInstance
  /** Whether it gives rows, as a change may that returns what it has changed. */
  readonly isReader: boolean
  readonly isChange: boolean
}

const CHANGES = /^\s*(?:insert|update|delete)\b/i

export class SqliteConnection implements DatabaseConnection {
  readonly #database: SqliteDatabase
  readonly #beforeWrite: () => void
  readonly #holds: string
  readonly #prepared = new Map<string, PreparedStatement>()

  /**
   * @param beforeWrite called before each transaction that may write; what it throws ends it
   * @param holds the database's contents, for messages
   */
  constructor(database: SqliteDatabase, beforeWrite: () => void, holds = 'records') {
    this.#database = database
    this.#beforeWrite = beforeWrite
    this.#holds = holds
  }

  executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    return untilFree(() => this.run<Row>(sql, parameters))
  }

  /** @throws ServiceError `storage_full`; SQLite's errors for all else */
  run<Row>(sql: string, values: readonly unknown[]): QueryResult<Row> {
    try {
      return this.#execute(sql, values)
    } catch (error) {
      if (((sqliteCode(error) ?? 0) & 0xff) !== SQLITE_FULL) throw error
      throw new ServiceError('storage_full', { holds: this.#holds }, { cause: error })
    }
  }

  #execute<Row>(sql: string, values: readonly unknown[]): QueryResult<Row> {
    const { statement, isReader, isChange } = this.#prepare(sql)
    if (isChange && !this.#database.isTransaction) this.#beforeWrite()
    if (isReader) return { rows: statement.all(...toValues(values)) as Row[] }
    const { changes, lastInsertRowid } = statement.run(...toValues(values))
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  async *streamQuery<Row>(query: CompiledQuery): AsyncIterableIterator<QueryResult<Row>> {
    yield await this.executeQuery<Row>(query)
  }

  #prepare(sql: string): PreparedStatement {
    const known = this.#prepared.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    const isReader = statement.columns().length > 0
    const isChange = isReader ? CHANGES.test(sql) : sql !== BEGIN.read
    const prepared = { statement, isReader, isChange }
    const [oldest] = this.#prepared.keys()
    if (this.#prepared.size >= MAX_PREPARED_STATEMENTS && oldest !== undefined) this.#prepared.delete(oldest)
    this.#prepared.set(sql, prepared)
    return prepared
  }
}
