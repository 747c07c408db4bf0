/**
 * The connections to one PostgreSQL database, and whether it can be reached. An outage begins with the first statement that
 * fails for a reason of the connection or the server, and ends when a probe succeeds:
 *
 *   reachable ──a statement fails──▶ away: every use fails at once ──probe, every `PROBE_EVERY_MS`──▶ reachable
 *
 * A server that is there and refuses a statement, as it may only be read, its disk is full or it took too long, is not away:
 * others may be done. The log says so once for each reason, until one that was refused is done again.
 *
 * Used by the query builder through its dialect and by the stores of this folder. Invariant: during an outage no caller waits
 * for a time-out but the one that noticed it, and those that come before the first probe has ended.
 *
 * A burst waits here for its turn at a connection, for as long as the database answers: the time-out of a connection is that of
 * the server, and does not count a wait behind other callers.
 */
import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { PostgresPool as KyselyPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { ServiceError } from '../../core/errors.ts'
import { Semaphore } from '../../core/concurrency/semaphore.ts'
import type { LogWriter } from '../../core/log-writer.ts'
import { errorCode } from '../../core/system-error.ts'
import { isOutage, isRefusal, isTimeout, postgresTrouble } from './postgres-errors.ts'

export interface PostgresPoolOptions {
  readonly url: string
  /** Its contents, for messages: `accounts and keys`. */
  readonly holds: string
  readonly log: Pick<LogWriter, 'error' | 'info'>
  /** Connections for `query` alone, which then waits for no transaction. @default 0: `query` has none of its own */
  readonly queryConnections?: number
}

type WriteListener = (changed: readonly unknown[]) => Promise<void> | void

const MAX_CONNECTIONS = 8

const CONNECT_TIMEOUT_MS = 2000

/** The server gives up first, so that a statement is not carried out after its caller has been refused. */
const STATEMENT_TIMEOUT_MS = 4000
const ANSWER_TIMEOUT_MS = 5000

/** A transaction holds locks that all instances wait for; one whose process is cut off must end. */
const IDLE_TRANSACTION_TIMEOUT_MS = 5000

const PROBE_EVERY_MS = 250

export class PostgresPool implements KyselyPool {
  readonly #options: PostgresPoolOptions
  readonly #pool: Connections
  /** Of `query`. */
  readonly #queries: Connections
  readonly #onReturn: (() => void)[] = []
  readonly #onWrite: WriteListener[] = []
  readonly #onEnd: (() => Promise<void>)[] = []
  /** The first probe of the outage; null while the database is reachable. */
  #firstProbe: Promise<void> | null = null
  /** Statements that a server which is there has refused, since one of them was done, and the codes of why. */
  readonly #refused = new Map<string, string | null>()
  /** Aborts when an outage begins: who waits for a turn then is refused. */
  #reach = createReach()
  readonly #ending = new AbortController()

  constructor(options: PostgresPoolOptions) {
    this.#options = options
    const { url, queryConnections = 0 } = options
    this.#pool = connectionsTo(url, MAX_CONNECTIONS)
    this.#queries = queryConnections === 0 ? this.#pool : connectionsTo(url, queryConnections)
  }

  get isAway(): boolean {
    return this.#firstProbe !== null
  }

  /** Called when an outage has ended. */
  onReturn(listener: () => void): void {
    this.#onReturn.push(listener)
  }

  /**
   * Called after each statement of this process that may have changed something, before its caller goes on; with the values of
   * those that changed credentials, up to then on the same connection.
   */
  onWrite(listener: WriteListener): void {
    this.#onWrite.push(listener)
  }

  /** Called before the connections are closed. */
  onEnd(listener: () => Promise<void>): void {
    this.#onEnd.push(listener)
  }

  /** @throws ServiceError `database_unavailable` */
  connect(): Promise<PostgresPoolClient> {
    return this.#connect(this.#pool)
  }

  async #connect({ pool, turns }: Connections): Promise<PostgresPoolClient> {
    await this.#firstProbe
    if (this.isAway) throw this.unavailable()
    const turn = await turns.acquire(this.#reach.signal)
    try {
      return new PooledClient(await pool.connect(), {
        onDone: (sql, changed) => this.#noteStatement(sql, changed),
        toError: (error, sql) => this.#noteRefusal(error, sql) ?? this.#noteFailure(error),
        onRelease: () => turn[Symbol.dispose](),
      })
    } catch (error) {
      turn[Symbol.dispose]()
      throw this.#noteFailure(error)
    }
  }

  /** One statement, in a transaction of its own. @throws ServiceError `database_unavailable` */
  async query<Row>(sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const client = await this.#connect(this.#queries)
    try {
      return (await client.query<Row>(sql, values)).rows
    } finally {
      client.release()
    }
  }

  /**
   * As `query`, once more where a connection was cut and the database is there: for what may be done twice. What took too long
   * would again.
   */
  async queryTwice<Row>(sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    try {
      return await this.query<Row>(sql, values)
    } catch (error) {
      if (!isUnavailable(error) || isTimeout(error.cause)) throw error
      return await this.query<Row>(sql, values)
    }
  }

  unavailable(cause?: unknown): ServiceError {
    const options = { retryAfterSeconds: 1, ...(cause === undefined ? {} : { cause }) }
    const params = { holds: this.#options.holds, trouble: troubleOf(cause), seconds: 1 }
    return new ServiceError('database_unavailable', params, options)
  }

  async end(): Promise<void> {
    if (this.#ending.signal.aborted) return
    for (const end of this.#onEnd) await end()
    this.#ending.abort()
    await Promise.all([...new Set([this.#pool, this.#queries])].map(({ pool }) => pool.end()))
  }

  async #noteStatement(sql: string, changed: readonly unknown[]): Promise<void> {
    if (this.#refused.has(sql)) {
      this.#refused.clear()
      this.#options.log.info(`the database of ${this.#options.holds} does again what it is asked`)
    }
    if (!/^(?:insert|update|delete|commit)/i.test(sql)) return
    await Promise.all(this.#onWrite.map(async (listener) => await listener(changed)))
  }

  /** Null for what is no refusal. */
  #noteRefusal(error: unknown, sql: string): ServiceError | null {
    if (!isRefusal(error)) return null
    const { holds, log } = this.#options
    const code = errorCode(error)
    if (![...this.#refused.values()].includes(code)) {
      log.error(
        { code: 'database_unavailable' },
        `The database of ${holds} refuses what it is asked: ${postgresTrouble(error)}.`,
      )
    }
    this.#refused.set(sql, code)
    return this.unavailable(error)
  }

  #noteFailure(error: unknown): unknown {
    if (!isOutage(error)) return error
    if (!this.isAway && !this.#ending.signal.aborted) this.#firstProbe = this.#beginOutage()
    return this.unavailable(error)
  }

  /** Resolves after the first probe. One connection that was cut is no outage, and not in the log. */
  async #beginOutage(): Promise<void> {
    const trouble = await this.#probe()
    if (trouble === null) return this.#beReachable()
    this.#reach.abort(this.unavailable(trouble))
    const { holds, log } = this.#options
    log.error(
      { code: 'database_unavailable' },
      `The database of ${holds} cannot be reached: ${postgresTrouble(trouble)}.`,
    )
    void this.#probeUntilBack()
  }

  async #probeUntilBack(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      await pause(PROBE_EVERY_MS, undefined, { ref: false, signal }).catch(() => {})
      if (signal.aborted) return
      if ((await this.#probe()) !== null) continue
      this.#beReachable()
      this.#options.log.info(`the database of ${this.#options.holds} is back`)
      for (const listener of this.#onReturn) listener()
      return
    }
  }

  #beReachable(): void {
    this.#firstProbe = null
    this.#reach = createReach()
  }

  /** Over a connection of its own: those of the pool may be cut without notice. Gives the trouble, or null. */
  async #probe(): Promise<unknown> {
    const client = new pg.Client({
      ...connectionConfig(this.#options.url),
      query_timeout: CONNECT_TIMEOUT_MS,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('select 1')
      return null
    } catch (error) {
      return error
    } finally {
      await client.end().catch(() => {})
    }
  }
}

interface Connections {
  readonly pool: pg.Pool
  /** As many as the pool has connections, so that nobody waits inside it. */
  readonly turns: Semaphore
}

function connectionsTo(url: string, max: number): Connections {
  const pool = new pg.Pool({ ...connectionConfig(url), max })
  // A connection was cut: what waits for its answer is rejected, and the pool opens another when one is needed.
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', () => {}))
  return { pool, turns: new Semaphore({ permits: max }) }
}

function createReach(): AbortController {
  const controller = new AbortController()
  // All of a burst listen to it.
  setMaxListeners(0, controller.signal)
  return controller
}

function troubleOf(cause: unknown): string {
  if (isTimeout(cause)) return 'takes too long to answer'
  return isRefusal(cause) ? 'refuses what it is asked' : 'cannot be reached'
}

export function isUnavailable(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'database_unavailable'
}

/** For a connection whose statements are bounded in time. */
export function connectionConfig(url: string): pg.ClientConfig {
  return {
    ...unboundedConfig(url),
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
  }
}

/** For a connection whose statements may take their time: migrations. */
export function unboundedConfig(url: string): pg.ClientConfig {
  return {
    connectionString: withKnownMode(url),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'sluice',
    types: { getTypeParser },
  }
}

/** The client takes these modes for `verify-full`, and warns that it will not for ever; here they stay that. */
function withKnownMode(url: string): string {
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full')
}

/** Counts and sums: `bigint`, and `numeric` for the sum of those, all below 2^53. */
const NUMBER_TYPES: readonly number[] = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC]

const getTypeParser: typeof pg.types.getTypeParser = (type: number, format?: 'text' | 'binary') =>
  NUMBER_TYPES.includes(type) ? Number : pg.types.getTypeParser(type, format)

/** What makes a credential invalid, or changes what it may do; that it was used does not. */
const CREDENTIAL_CHANGE = /^(?:delete from|update) "?(?:api_keys|sessions|users)\b(?!.*\blast_used_at)/is

interface ClientEvents {
  readonly onDone: (sql: string, changed: readonly unknown[]) => Promise<void>
  readonly toError: (error: unknown, sql: string) => unknown
  readonly onRelease: () => void
}

/** One connection while it is taken from the pool; one that failed is not given back. */
class PooledClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  readonly #events: ClientEvents
  /** Until the connection is given back: a change is one when its transaction has ended. */
  readonly #changed: unknown[] = []
  #isBroken = false

  constructor(client: pg.PoolClient, events: ClientEvents) {
    this.#client = client
    this.#events = events
  }

  query(sql: string, parameters: readonly unknown[]): Promise<never>
  query(cursor: object): never
  async query(sql: unknown, parameters: readonly unknown[] = []): Promise<unknown> {
    if (typeof sql !== 'string') throw new TypeError('Cursors are not used.')
    try {
      const result = await this.#client.query(sql, parameters.map(toValue))
      if (CREDENTIAL_CHANGE.test(sql)) this.#changed.push(...parameters)
      await this.#events.onDone(sql, this.#changed)
      return result
    } catch (error) {
      this.#isBroken ||= isOutage(error)
      throw this.#events.toError(error, sql)
    }
  }

  release(): void {
    this.#client.release(this.#isBroken)
    this.#events.onRelease()
  }
}

/**
 * PostgreSQL has no text with a null character and refuses a statement that names one. A character that stands for none in
 * Unicode makes a text that equals no stored one (`storedText` in the schemas).
 */
function toValue(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFF') : value
}
