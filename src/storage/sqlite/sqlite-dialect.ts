/**
 * SQLite for the query builder: one connection, statements prepared once, and transactions that take the write lock
 * when they begin, so that one which reads before it writes never fails half-way because another process wrote first.
 * Everything runs on the caller's thread; the promises are only the query builder's form.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseSync, StatementSyncInstance } from '@photostructure/sqlite'
import {
  type CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
} from 'kysely'
import { sqliteCode } from './database-errors.ts'
import type { Turns } from './turns.ts'

export type SqliteDatabase = InstanceType<typeof DatabaseSync>

type Values = Parameters<StatementSyncInstance['all']>

export function createSqliteDialect(driver: SqliteDriver): Dialect {
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TransactionalSqliteAdapter(),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  }
}

/** Tables are made in a transaction as well, so a migration that fails leaves nothing behind. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** A statement as the query builder compiled it, with the values for its places. */
export interface Statement<Row = unknown> {
  readonly query: CompiledQuery<Row>
  readonly values: readonly unknown[]
}

/**
 * Connections of one process to one file must share `turns`: waiting for a lock blocks the thread, and a transaction
 * that is open on that very thread could then never end.
 */
export class SqliteDriver implements Driver {
  readonly #database: SqliteDatabase
  readonly #connection: SqliteConnection
  readonly #begin: StatementSyncInstance
  readonly #beginReading: StatementSyncInstance
  readonly #commit: StatementSyncInstance
  readonly #turns: Turns
  readonly #isReadOnly: boolean
  #endTurn: () => void = () => {}

  constructor(
    database: SqliteDatabase,
    turns: Turns,
    { isReadOnly = false }: { readonly isReadOnly?: boolean } = {},
  ) {
    this.#isReadOnly = isReadOnly
    this.#database = database
    this.#connection = new SqliteConnection(database)
    this.#begin = database.prepare('begin immediate')
    this.#beginReading = database.prepare('begin')
    this.#commit = database.prepare('commit')
    this.#turns = turns
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    this.#endTurn = await this.#turns.take()
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    this.#endTurn()
  }

  beginTransaction(): Promise<void> {
    return untilFree(() => void this.#begin.run())
  }

  async commitTransaction(): Promise<void> {
    this.#commit.run()
  }

  async rollbackTransaction(): Promise<void> {
    this.#rollback()
  }

  /** Runs a statement past the query builder; null when somebody else has the connection or the lock, and nothing was done. */
  runNow<Row>({ query, values }: Statement<Row>): readonly Row[] | null {
    return this.#turns.isFree ? unlessBusy(() => this.#connection.run<Row>(query.sql, values).rows) : null
  }

  /** The same with statements that read, which share what locking the file for it costs. */
  readNow<Row>(statements: readonly Statement<Row>[]): readonly (readonly Row[])[] | null {
    const [only] = statements
    if (only !== undefined && statements.length === 1) {
      const rows = this.runNow(only)
      return rows === null ? null : [rows]
    }
    if (!this.#turns.isFree) return null
    return unlessBusy(() => {
      this.#beginReading.run()
      return this.#transact(() =>
        statements.map(({ query, values }) => this.#connection.run<Row>(query.sql, values).rows),
      )
    })
  }

  /** The same with those of one transaction, which are asked for when it holds the lock. False when nothing was done. */
  transactNow(statements: () => readonly Statement[]): boolean {
    if (!this.#turns.isFree || unlessBusy(() => this.#begin.run()) === null) return false
    this.#transact(() => {
      for (const { query, values } of statements()) this.#connection.run(query.sql, values)
    })
    return true
  }

  #transact<Result>(work: () => Result): Result {
    try {
      const result = work()
      this.#commit.run()
      return result
    } catch (error) {
      this.#rollback()
      throw error
    }
  }

  #rollback(): void {
    // Some errors, a full disk among them, have ended the transaction already.
    if (this.#database.isTransaction) this.#database.exec('rollback')
  }

  async destroy(): Promise<void> {
    const endTurn = await this.#turns.take()
    try {
      if (this.#database.isOpen) {
        if (!this.#isReadOnly) leaveOneFile(this.#database)
        this.#database.close()
      }
    } finally {
      endTurn()
    }
  }
}

/** Another process's lock is waited for this long with the thread standing still, then between two tries without it. */
export const BUSY_PAUSE_MS = 20

/** As long as anybody would hold a lock who means to give it back. */
const BUSY_DEADLINE_MS = 10_000

const SQLITE_BUSY = 5

export function isBusy(error: unknown): boolean {
  return ((sqliteCode(error) ?? 0) & 0xff) === SQLITE_BUSY
}

/** Null when another process holds the lock. */
function unlessBusy<Result>(run: () => Result): Result | null {
  try {
    return run()
  } catch (error) {
    if (isBusy(error)) return null
    throw error
  }
}

/** Runs a statement again while another process holds the lock it needs: one that is refused so has done nothing. */
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
 * The last to leave takes the write-ahead log along, so that one file is all there is to copy. SQLite would do it by
 * itself, but the binding closes before it has given up its statements.
 */
function leaveOneFile(database: SqliteDatabase): void {
  try {
    database.exec('pragma busy_timeout = 0')
    database.exec('pragma journal_mode = delete')
  } catch {
    // Another process has it open, and will do this in its turn.
  }
}

/**
 * The binding ends a text at a null character, so that it would stand for another, shorter one. As bytes it equals no
 * text; none is ever stored (`storedText` in the schemas).
 */
function toValues(parameters: readonly unknown[]): Values {
  return parameters.map((value) =>
    typeof value === 'string' && value.includes('\0') ? Buffer.from(value) : value,
  ) as Values
}

/** More different statements than the program has; what is over comes from lists of varying length. */
const MAX_PREPARED_STATEMENTS = 200

interface PreparedStatement {
  readonly statement: StatementSyncInstance
  readonly isReader: boolean
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: SqliteDatabase
  readonly #prepared = new Map<string, PreparedStatement>()

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    return untilFree(() => this.run(sql, parameters))
  }

  run<Row>(sql: string, values: readonly unknown[]): QueryResult<Row> {
    const { statement, isReader } = this.#prepare(sql)
    if (isReader) return { rows: statement.all(...toValues(values)) as Row[] }
    const { changes, lastInsertRowid } = statement.run(...toValues(values))
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  async *streamQuery<Row>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<Row>> {
    const { statement } = this.#prepare(sql)
    for (const row of statement.iterate(...toValues(parameters))) yield { rows: [row as Row] }
  }

  #prepare(sql: string): PreparedStatement {
    const known = this.#prepared.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    const prepared = { statement, isReader: statement.columns().length > 0 }
    const [oldest] = this.#prepared.keys()
    if (this.#prepared.size >= MAX_PREPARED_STATEMENTS && oldest !== undefined) this.#prepared.delete(oldest)
    this.#prepared.set(sql, prepared)
    return prepared
  }
}
