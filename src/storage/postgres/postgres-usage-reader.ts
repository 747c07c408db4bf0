/**
 * Reads usage in PostgreSQL: all that is in the database, and nothing of what waits on an instance. Used by the usage store, and
 * by the command line, which has no file of waiting usage.
 */
import type { UsageScope } from '../usage-database.ts'
import { compileCountLatencies, compileHourSpan, compileSumByGroup } from '../usage-groups.ts'
import {
  compileSumByPath,
  compileSumTokens,
  type PathSumRow,
  sumValues,
  type TokensRow,
} from '../usage-queries.ts'
import type {
  GroupLatency,
  GroupSums,
  HourSpan,
  UsageReader,
  UsageSlice,
  UsageSubject,
  UsageSubjects,
  UsageSums,
} from '../usage-store.ts'
import type { PostgresDatabase } from './open-postgres.ts'
import type { PostgresUsageSchema } from './postgres-usage-database.ts'

export class PostgresUsageReader implements UsageReader {
  readonly #database: PostgresDatabase<PostgresUsageSchema>
  readonly #sumSql: Readonly<Record<UsageScope, string>>

  constructor(database: PostgresDatabase<PostgresUsageSchema>) {
    this.#database = database
    this.#sumSql = {
      key: compileSumByPath(database, 'key').sql,
      account: compileSumByPath(database, 'account').sql,
      team: compileSumByPath(database, 'team').sql,
      all: compileSumByPath(database, 'all').sql,
    }
  }

  async sumByPath(
    subject: UsageSubject,
    sinceUnixSeconds: number | null,
  ): Promise<ReadonlyMap<string, UsageSums>> {
    // Later than any bucket, and still a `bigint`.
    const since = Math.min(sinceUnixSeconds ?? 0, Number.MAX_SAFE_INTEGER)
    const values = sumValues(subject, since)
    const rows = await this.#database.pool.queryTwice<PathSumRow>(this.#sumSql[subject.scope], values)
    return new Map(rows.map(({ path, ...sums }) => [path, sums]))
  }

  async sumTokens(subjects: UsageSubjects, sinceUnixSeconds: number): Promise<number> {
    const { sql, parameters } = compileSumTokens(this.#database, subjects, sinceUnixSeconds)
    const [row] = await this.#database.pool.queryTwice<TokensRow>(sql, parameters)
    return row?.tokens ?? 0
  }

  async sumByGroup(slice: UsageSlice): Promise<readonly GroupSums[]> {
    const { sql, parameters } = compileSumByGroup(this.#database, slice)
    return await this.#database.pool.queryTwice<GroupSums>(sql, parameters)
  }

  async countLatencies(slice: UsageSlice): Promise<readonly GroupLatency[]> {
    const { sql, parameters } = compileCountLatencies(this.#database, slice)
    return await this.#database.pool.queryTwice<GroupLatency>(sql, parameters)
  }

  async hourSpan(): Promise<HourSpan> {
    const { sql, parameters } = compileHourSpan(this.#database)
    const [span] = await this.#database.pool.queryTwice<HourSpan>(sql, parameters)
    return span ?? { first: null, last: null }
  }
}
