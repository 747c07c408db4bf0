/**
 * Reads and writes the usage database. Invariant: for every subject, path and bucket size, the sum of a bucket is that
 * of the rows whose time lies in it; pruning takes rows and buckets of whole days.
 */
import type { CompiledQuery } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { runCompiled, runTransaction } from './sqlite/compiled-query.ts'
import { USAGE_BUCKET_SECONDS, type UsageDatabase, type UsageScope } from './usage-database.ts'
import { type UsageEntry, UsageInsert } from './usage-insert-query.ts'
import {
  bucketStart,
  compileSumByPath,
  type PathSumRow,
  subjectsOf,
  sumValues,
  type UsageSubject,
} from './usage-sum-query.ts'

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
  readonly #deleteTotal: CompiledQuery
  readonly #sumByPath: Readonly<Record<UsageScope, CompiledQuery<PathSumRow>>>

  constructor(database: UsageDatabase, clock: Clock) {
    this.#database = database
    this.#clock = clock
    this.#insert = new UsageInsert(database)
    this.#deleteTotal = compileDeleteTotal(database)
    this.#sumByPath = {
      key: compileSumByPath(database, 'key'),
      account: compileSumByPath(database, 'account'),
      all: compileSumByPath(database, 'all'),
    }
  }

  /** Writes all of them or, when it rejects, none. */
  async insert(entries: readonly UsageEntry[]): Promise<void> {
    // The moment is read when the lock is held: who reads later than it waits for these rows or finds them.
    await runTransaction(this.#database, () => this.#insert.statements(entries, this.#clock.unixSeconds()))
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

  /**
   * Removes up to `maxRows` rows written before a moment, oldest first, and with them the buckets in which they lie;
   * resolves with how many rows. The moment must be the start of a day, so that no bucket also holds rows that stay.
   */
  async deleteBefore(dayStartUnixSeconds: number, maxRows: number): Promise<number> {
    return this.#database.transaction().execute(async (transaction) => {
      const rows = await transaction
        .deleteFrom('usage_rows')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('usage_rows')
            .select('id')
            .where('created_at', '<', dayStartUnixSeconds)
            .orderBy('created_at')
            .limit(maxRows),
        )
        .returning(['key_id as keyId', 'account_id as accountId', 'path', 'created_at as createdAt'])
        .execute()
      for (const key of bucketKeysOf(rows)) await runCompiled(transaction, this.#deleteTotal, key)
      return rows.length
    })
  }
}

function compileDeleteTotal(database: UsageDatabase): CompiledQuery {
  return database
    .deleteFrom('usage_totals')
    .where('scope', '=', 'all')
    .where('subject_id', '=', '')
    .where('bucket_seconds', '=', 0)
    .where('bucket_start', '=', 0)
    .where('path', '=', '')
    .compile()
}

interface DeletedRow {
  readonly keyId: string
  readonly accountId: string
  readonly path: string
  readonly createdAt: number
}

/** The keys of all buckets that count one of these rows, each once, as values of `USAGE_TOTAL_KEY`. */
function bucketKeysOf(rows: readonly DeletedRow[]): readonly (readonly unknown[])[] {
  const keys = new Map<string, readonly unknown[]>()
  for (const row of rows) {
    for (const { scope, id } of subjectsOf(row)) {
      for (const bucketSeconds of USAGE_BUCKET_SECONDS) {
        const key = [scope, id, bucketSeconds, bucketStart(row.createdAt, bucketSeconds), row.path]
        keys.set(JSON.stringify(key), key)
      }
    }
  }
  return [...keys.values()]
}

function toSums(row: PathSumRow): UsageSums {
  return {
    requests: row.requests,
    tokensIn: row.tokens_in,
    tokensOut: row.tokens_out,
    responseUs: row.response_us,
  }
}
