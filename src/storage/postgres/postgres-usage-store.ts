/**
 * The usage store over PostgreSQL. A batch that cannot be written because the database is away or refuses it waits in a file and
 * is written when that is over, at the next start if need be; requests go on being answered meanwhile, until the file is full. Written by
 * the usage recorder, which batches; read by reports and budgets; emptied by the pruner.
 * Invariant: a batch whose `insert` resolved is counted once, however its writing went.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import type { ServiceError } from '../../core/errors.ts'
import type { LogWriter } from '../../core/log-writer.ts'
import type {
  GroupLatency,
  GroupSums,
  HourSpan,
  UsageEntry,
  UsageSlice,
  UsageStore,
  UsageSubject,
  UsageSubjects,
  UsageSums,
} from '../usage-store.ts'
import type { PostgresDatabase } from './open-postgres.ts'
import type { PostgresUsageSchema } from './postgres-usage-database.ts'
import { isOfData } from './postgres-errors.ts'
import { isUnavailable, type PostgresPool } from './postgres-pool.ts'
import { PostgresUsageReader } from './postgres-usage-reader.ts'
import type { UsageBatch, UsageFile } from './usage-file.ts'
import { batchValues, DELETE_BEFORE_SQL, INSERT_BATCHES_SQL } from './usage-statements.ts'

export interface PostgresUsageStoreDeps {
  readonly database: PostgresDatabase<PostgresUsageSchema>
  /** Of this instance alone. */
  readonly waiting: UsageFile
  readonly clock: Clock
  readonly log: Pick<LogWriter, 'error'>
}

/** A database that is there and refuses what waits is asked again so much later. */
const RETRY_AFTER_MS = 5000

export class PostgresUsageStore implements UsageStore {
  readonly #deps: PostgresUsageStoreDeps
  readonly #pool: PostgresPool
  readonly #reader: PostgresUsageReader
  /** Until what waits is written; null where nothing is known to wait, and while it is being written. */
  #retry: NodeJS.Timeout | null = null
  /** Whether the last try to write what waits failed; also while the next one runs. */
  #hasFailed = false

  /** Writes what waits since an earlier run. */
  constructor(deps: PostgresUsageStoreDeps) {
    this.#deps = deps
    this.#pool = deps.database.pool
    this.#reader = new PostgresUsageReader(deps.database)
    this.#pool.onReturn(() => void this.#writeWaiting())
    void this.#writeWaiting()
  }

  async insert(entries: readonly UsageEntry[]): Promise<void> {
    const createdAtUnixSeconds = this.#deps.clock.unixSeconds()
    const batch = { id: randomUUID(), createdAtUnixSeconds, entries }
    try {
      await this.#write([batch])
    } catch (error) {
      if (!isUnavailable(error)) throw error
      if (!(await this.#deps.waiting.append(batch))) throw error
      // The outage may have ended before the batch was in the file.
      if (this.#retry === null) void this.#writeWaiting()
    }
  }

  async sumByPath(
    subject: UsageSubject,
    sinceUnixSeconds: number | null,
  ): Promise<ReadonlyMap<string, UsageSums>> {
    await this.#writeAllWaiting()
    return await this.#reader.sumByPath(subject, sinceUnixSeconds)
  }

  async sumTokens(subjects: UsageSubjects, sinceUnixSeconds: number): Promise<number> {
    // Asked for budgets of many requests, which go on from what was known last.
    if (this.#isHeldUp && !this.#deps.waiting.isEmpty) throw this.#pool.unavailable()
    await this.#writeAllWaiting()
    return await this.#reader.sumTokens(subjects, sinceUnixSeconds)
  }

  async sumByGroup(slice: UsageSlice): Promise<readonly GroupSums[]> {
    await this.#writeAllWaiting()
    return await this.#reader.sumByGroup(slice)
  }

  async countLatencies(slice: UsageSlice): Promise<readonly GroupLatency[]> {
    await this.#writeAllWaiting()
    return await this.#reader.countLatencies(slice)
  }

  async hourSpan(): Promise<HourSpan> {
    await this.#writeAllWaiting()
    return await this.#reader.hourSpan()
  }

  async deleteBefore(dayStartUnixSeconds: number, maxRows: number): Promise<number> {
    const [row] = await this.#pool.query<{ count: number }>(DELETE_BEFORE_SQL, [dayStartUnixSeconds, maxRows])
    return row?.count ?? 0
  }

  /** Nothing more can be recorded only when the file is full as well. */
  whyLost(): ServiceError | null {
    return this.#isHeldUp && this.#deps.waiting.isFull ? this.#pool.unavailable() : null
  }

  async close(): Promise<void> {
    await this.#writeWaiting()
    this.#cancelRetry()
    await this.#deps.database.destroy()
    await this.#deps.waiting.close()
  }

  /** Whether what waits is likely to wait on. */
  get #isHeldUp(): boolean {
    return this.#pool.isAway || this.#hasFailed
  }

  async #write(batches: readonly UsageBatch[]): Promise<void> {
    await this.#pool.queryTwice(INSERT_BATCHES_SQL, batchValues(batches))
  }

  async #writeAllWaiting(): Promise<void> {
    await this.#deps.waiting.empty((batches) => this.#writeOfFile(batches))
  }

  async #writeOfFile(batches: readonly UsageBatch[]): Promise<void> {
    try {
      await this.#write(batches)
    } catch (error) {
      if (!isOfData(error)) throw error
      for (const batch of batches) await this.#writeOrLeaveOut(batch)
    }
  }

  /** A batch that can never be written would hold up all others. */
  async #writeOrLeaveOut(batch: UsageBatch): Promise<void> {
    try {
      await this.#write([batch])
    } catch (error) {
      if (!isOfData(error)) throw error
      this.#deps.log.error({ err: error, batch }, 'usage that the database cannot hold is left out')
    }
  }

  /** What could not be written waits for a while, or for the return of the database. */
  async #writeWaiting(): Promise<void> {
    const { waiting, log } = this.#deps
    this.#cancelRetry()
    if (waiting.isEmpty) return this.#succeed()
    // Not read for nothing.
    if (this.#pool.isAway) return this.#writeLater()
    try {
      await this.#writeAllWaiting()
      this.#succeed()
    } catch (error) {
      if (isUnavailable(error)) return this.#writeLater()
      log.error({ err: error }, 'usage that waits in its file could not be written')
    }
  }

  #succeed(): void {
    this.#hasFailed = false
  }

  #writeLater(): void {
    this.#hasFailed = true
    this.#retry ??= setTimeout(() => void this.#writeWaiting(), RETRY_AFTER_MS).unref()
  }

  #cancelRetry(): void {
    if (this.#retry !== null) clearTimeout(this.#retry)
    this.#retry = null
  }
}
