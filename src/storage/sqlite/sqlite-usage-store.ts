/**
 * The usage store over SQLite: SQL compiled once and run past the query builder. Written before every answer by the usage
 * recorder, which batches; read by reports; emptied by the pruner.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import type { ServiceError } from '../../core/errors.ts'
import { USAGE_BUCKET_SECONDS, type UsageSchema, type UsageScope } from '../usage-database.ts'
import {
  compileCountLatencies,
  compileDeleteGroup,
  compileHourSpan,
  compileSumByGroup,
  groupKeys,
} from '../usage-groups.ts'
import {
  bucketStart,
  compileSumByPath,
  compileSumTokens,
  type PathSumRow,
  subjectsOf,
  sumValues,
  type TokensRow,
  UsageInsert,
} from '../usage-queries.ts'
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
import type { SqliteKysely } from './sqlite-driver.ts'
import { isSummedUp, KEEP_SUMMED_IN_USE, sumUpRows } from './usage-sums.ts'

export class SqliteUsageStore implements UsageStore {
  readonly #database: SqliteKysely<UsageSchema>
  readonly #clock: Clock
  readonly #insert: UsageInsert
  readonly #sumSql: Readonly<Record<UsageScope, string>>
  readonly #deleteRowsSql: string
  readonly #deleteTotalSql: string
  readonly #deleteGroupSql: readonly string[]
  /** Until rows that were written are summed up; null where there are none. */
  #summing: NodeJS.Timeout | null = null

  constructor(database: SqliteKysely<UsageSchema>, clock: Clock) {
    this.#database = database
    this.#clock = clock
    this.#insert = new UsageInsert(database)
    this.#sumSql = {
      key: compileSumByPath(database, 'key').sql,
      account: compileSumByPath(database, 'account').sql,
      team: compileSumByPath(database, 'team').sql,
      all: compileSumByPath(database, 'all').sql,
    }
    this.#deleteRowsSql = deleteOldestRows(database)
    this.#deleteTotalSql = deleteTotal(database)
    this.#deleteGroupSql = compileDeleteGroup(database)
  }

  insert(entries: readonly UsageEntry[]): Promise<void> {
    return this.#database.driver.transact('write', (connection) => {
      // The time is read with the lock held, so a reader at a later time waits for these rows or finds them.
      const statements = this.#insert.statements(entries, this.#clock.unixSeconds())
      for (const { sql, values } of statements) connection.run(sql, values)
      // Where it fails, the next reader finds out why.
      this.#summing ??= setTimeout(() => void this.#sumUp().catch(() => {}), SUM_AFTER_MS).unref()
    })
  }

  async sumByPath(
    subject: UsageSubject,
    sinceUnixSeconds: number | null,
  ): Promise<ReadonlyMap<string, UsageSums>> {
    await this.#bringUpToDate()
    const [sql, values] = [this.#sumSql[subject.scope], sumValues(subject, sinceUnixSeconds ?? 0)]
    const { rows } = await this.#database.driver.run((connection) => connection.run<PathSumRow>(sql, values))
    return new Map(rows.map(({ path, ...sums }) => [path, sums]))
  }

  async sumTokens(subjects: UsageSubjects, sinceUnixSeconds: number): Promise<number> {
    await this.#bringUpToDate()
    const { sql, parameters } = compileSumTokens(this.#database, subjects, sinceUnixSeconds)
    const { rows } = await this.#database.driver.run((connection) =>
      connection.run<TokensRow>(sql, parameters),
    )
    return rows[0]?.tokens ?? 0
  }

  async sumByGroup(slice: UsageSlice): Promise<readonly GroupSums[]> {
    await this.#bringUpToDate()
    const { sql, parameters } = compileSumByGroup(this.#database, slice)
    const { rows } = await this.#database.driver.run((connection) =>
      connection.run<GroupSums>(sql, parameters),
    )
    return rows
  }

  async countLatencies(slice: UsageSlice): Promise<readonly GroupLatency[]> {
    await this.#bringUpToDate()
    const { sql, parameters } = compileCountLatencies(this.#database, slice)
    const { rows } = await this.#database.driver.run((connection) =>
      connection.run<GroupLatency>(sql, parameters),
    )
    return rows
  }

  async hourSpan(): Promise<HourSpan> {
    await this.#bringUpToDate()
    const { rows } = await this.#database.executeQuery(compileHourSpan(this.#database))
    return rows[0] ?? { first: null, last: null }
  }

  async deleteBefore(dayStartUnixSeconds: number, maxRows: number): Promise<number> {
    // A row that is gone before it was summed up would be missing from the sums of its bucket, which goes with others.
    this.#requireFile()
    await this.#sumUp()
    return await this.#database.driver.transact('write', (connection) => {
      const { rows } = connection.run<DeletedRow>(this.#deleteRowsSql, [dayStartUnixSeconds, maxRows])
      for (const key of totalKeysOf(rows)) connection.run(this.#deleteTotalSql, key)
      for (const key of groupKeysOf(rows)) {
        for (const sql of this.#deleteGroupSql) connection.run(sql, key)
      }
      connection.run(KEEP_SUMMED_IN_USE, [])
      return rows.length
    })
  }

  whyLost(): ServiceError | null {
    return this.#database.driver.whyLost()
  }

  /** What is not summed up is so when the sums are read next. */
  async close(): Promise<void> {
    if (this.#summing !== null) clearTimeout(this.#summing)
    await this.#database.destroy()
  }

  /** On a full disk reports go on with the sums that there are. */
  async #bringUpToDate(): Promise<void> {
    this.#requireFile()
    await this.#sumUp().catch(() => {})
  }

  /** In transactions of a few milliseconds, between which others have their turn. */
  async #sumUp(): Promise<void> {
    if (this.#summing !== null) clearTimeout(this.#summing)
    this.#summing = null
    const { driver } = this.#database
    // Readers wait for no writer where there is nothing to add.
    while (!(await driver.run(isSummedUp))) {
      await driver.transact('write', sumUpRows)
      await nextTurn()
    }
  }

  /** The open file of a database that was removed still has its rows, but none of them outlives the process. */
  #requireFile(): void {
    const lost = this.whyLost()
    if (lost !== null) throw lost
  }
}

/** Rows wait so long for their sums: at once they would cost each request as much as its row ten times over. */
const SUM_AFTER_MS = 250

/** Values: the time before which rows are deleted, and how many at most. */
function deleteOldestRows(database: SqliteKysely<UsageSchema>): string {
  return database
    .deleteFrom('usage_rows')
    .where('id', 'in', (eb) =>
      eb.selectFrom('usage_rows').select('id').where('created_at', '<', 0).orderBy('created_at').limit(0),
    )
    .returning(['key_id as keyId', 'account_id as accountId', 'team_id as teamId', 'model', 'path'])
    .returning('created_at as createdAt')
    .compile().sql
}

/** Values: those of `USAGE_TOTAL_KEY`. */
function deleteTotal(database: SqliteKysely<UsageSchema>): string {
  return database
    .deleteFrom('usage_totals')
    .where('scope', '=', 'all')
    .where('subject_id', '=', '')
    .where('bucket_seconds', '=', 0)
    .where('bucket_start', '=', 0)
    .where('path', '=', '')
    .compile().sql
}

interface DeletedRow {
  readonly keyId: string
  readonly accountId: string
  /** Empty outside of any team. */
  readonly teamId: string
  readonly model: string
  readonly path: string
  readonly createdAt: number
}

/** The keys of all groups that count one of these rows, each once, as values of `USAGE_GROUP_KEY`. */
function groupKeysOf(rows: readonly DeletedRow[]): Iterable<readonly unknown[]> {
  const keys = new Map<string, readonly unknown[]>()
  for (const row of rows) {
    for (const key of groupKeys(row, (seconds) => bucketStart(row.createdAt, seconds)))
      keys.set(JSON.stringify(key), key)
  }
  return keys.values()
}

/** The keys of all buckets that count one of these rows, each once, as values of `USAGE_TOTAL_KEY`. */
function totalKeysOf(rows: readonly DeletedRow[]): Iterable<readonly unknown[]> {
  const keys = new Map<string, readonly unknown[]>()
  for (const row of rows) {
    for (const { scope, id } of subjectsOf({ ...row, teamId: row.teamId === '' ? null : row.teamId })) {
      for (const bucketSeconds of USAGE_BUCKET_SECONDS) {
        const key = [scope, id, bucketSeconds, bucketStart(row.createdAt, bucketSeconds), row.path]
        keys.set(JSON.stringify(key), key)
      }
    }
  }
  return keys.values()
}
