/**
 * Reads and writes the usage database. Invariant: for every subject, path and bucket size, the sum of a bucket is that
 * of the rows whose time lies in it; pruning takes rows and buckets of whole days.
 */
import type { CompiledQuery } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { runCompiled } from './compiled-query.ts'
import { USAGE_BUCKET_SECONDS, type UsageDatabase, type UsageScope } from './usage-database.ts'
import { type UsageEntry, UsageInsert } from './usage-insert-query.ts'
import { compileSumByPath, type PathSumRow, sumValues, type UsageSubject } from './usage-sum-query.ts'

export interface UsageSums {
  readonly requests: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** Whole microseconds of all requests together. */
  readonly responseUs: number
}

export class UsageRepository {
  readonly #database: UsageDatabase
  readonly #clock: Clock
  readonly #insert: UsageInsert
  readonly #sumByPath: Readonly<Record<UsageScope, CompiledQuery<PathSumRow>>>

  constructor(database: UsageDatabase, clock: Clock) {
    this.#database = database
    this.#clock = clock
    this.#insert = new UsageInsert(database)
    this.#sumByPath = {
      key: compileSumByPath(database, 'key'),
      account: compileSumByPath(database, 'account'),
      all: compileSumByPath(database, 'all'),
    }
  }

  /** Writes all of them or, when it rejects, none. */
  async insert(entries: readonly UsageEntry[]): Promise<void> {
    await this.#database.transaction().execute((transaction) =>
      // The lock is held by now: who reads later than this moment waits for these rows or finds them.
      this.#insert.run(transaction, entries, this.#clock.unixSeconds()),
    )
  }

  /** Sums of the rows written at `sinceUnixSeconds` or later, by path; null takes all. */
  async sumByPath(
    subject: UsageSubject,
    sinceUnixSeconds: number | null,
  ): Promise<ReadonlyMap<string, UsageSums>> {
    const query = this.#sumByPath[subject.scope]
    const rows = await runCompiled(this.#database, query, sumValues(subject, sinceUnixSeconds ?? 0))
    return new Map(rows.map((row) => [row.path, toSums(row)]))
  }

  /** Removes up to `maxCount` rows written before a moment; resolves with how many. */
  async deleteRowsBefore(unixSeconds: number, maxCount: number): Promise<number> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('usage_rows')
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom('usage_rows')
          .select('id')
          .where('created_at', '<', unixSeconds)
          .orderBy('created_at')
          .limit(maxCount),
      )
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  }

  /** Removes up to `maxCount` sums of buckets that begin before a moment; resolves with how many. */
  async deleteTotalsBefore(unixSeconds: number, maxCount: number): Promise<number> {
    const key = ['bucket_seconds', 'bucket_start', 'scope', 'subject_id', 'path'] as const
    const { numDeletedRows } = await this.#database
      .deleteFrom('usage_totals')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple(...key),
          'in',
          selectFrom('usage_totals')
            .select(key)
            .where('bucket_seconds', 'in', USAGE_BUCKET_SECONDS)
            .where('bucket_start', '<', unixSeconds)
            .limit(maxCount)
            .$asTuple(...key),
        ),
      )
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  }
}

function toSums(row: PathSumRow): UsageSums {
  return {
    requests: row.requests,
    tokensIn: row.tokens_in,
    tokensOut: row.tokens_out,
    responseUs: row.response_us,
  }
}
