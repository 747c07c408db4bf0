/**
 * The queries of the usage store, compiled once and independent of the driver.
 * Writing: the rows alone, many to a statement, because each statement is expensive.
 * Reading: one query serves every summary and sums what was written since a moment, exactly and from as few rows as
 * possible. It is one statement, so it reads one state of the database even during writes.
 *
 *   since            next minute           next day
 *     ├── rows ────────┼── minutes ──────────┼── days ──────▶
 */
import { type CompiledQuery, sql } from 'kysely'
import { USAGE_BUCKET_SECONDS, type UsageDatabase, type UsageScope } from './usage-database.ts'
import type { UsageEntry, UsageSubject, UsageSubjects, UsageSums } from './usage-store.ts'

interface Statement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** Each number of rows up to this has its own statement, prepared once. */
const MAX_ROWS_PER_STATEMENT = 12

export class UsageInsert {
  /** SQL by number of rows less one. */
  readonly #sqlByCount: readonly string[]

  constructor(database: UsageDatabase) {
    this.#sqlByCount = Array.from({ length: MAX_ROWS_PER_STATEMENT }, (_, index) =>
      compileInsertRows(database, index + 1),
    )
  }

  /** To be run in one transaction. */
  statements(entries: readonly UsageEntry[], nowUnixSeconds: number): readonly Statement[] {
    const statements: Statement[] = []
    for (let start = 0; start < entries.length; start += MAX_ROWS_PER_STATEMENT) {
      const chunk = entries.slice(start, start + MAX_ROWS_PER_STATEMENT)
      const sql = this.#sqlByCount[chunk.length - 1]
      // A loop, as `flat` takes longer than the statement.
      const values: unknown[] = []
      for (const entry of chunk) values.push(...rowValues(entry, nowUnixSeconds))
      if (sql !== undefined) statements.push({ sql, values })
    }
    return statements
  }
}

function compileInsertRows(database: UsageDatabase, count: number): string {
  const counts = { tokens_in: 0, tokens_out: 0, response_us: 0 }
  const subject = { key_id: '', account_id: '', team_id: '', model: '', path: '' }
  const row = { ...subject, status: 0, ...counts, created_at: 0 }
  return database
    .insertInto('usage_rows')
    .values(Array.from({ length: count }, () => row))
    .compile().sql
}

function rowValues(entry: UsageEntry, createdAtUnixSeconds: number): readonly unknown[] {
  const { keyId, accountId, teamId, model, path, status, tokensIn, tokensOut, responseMs } = entry
  const subject = [keyId, accountId, teamId ?? '', model, path]
  return [...subject, status, tokensIn, tokensOut, toMicroseconds(responseMs), createdAtUnixSeconds]
}

export function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000)
}

/** The subjects whose sums count a request. */
export function subjectsOf({
  keyId,
  accountId,
  teamId,
}: Pick<UsageEntry, 'keyId' | 'accountId' | 'teamId'>): readonly UsageSubject[] {
  return [
    { scope: 'key', id: keyId },
    { scope: 'account', id: accountId },
    ...(teamId === null ? [] : [{ scope: 'team', id: teamId } as const]),
    { scope: 'all', id: '' },
  ]
}

export interface PathSumRow extends UsageSums {
  readonly path: string
}

/** To be run with what `sumValues` gives for the same scope. */
export function compileSumByPath(database: UsageDatabase, scope: UsageScope): CompiledQuery<PathSumRow> {
  return database
    .selectFrom(() =>
      selectRows(database, scope)
        .unionAll(selectBuckets(database, scope))
        .unionAll(selectBuckets(database, scope))
        .as('part'),
    )
    .select(({ fn }) => [
      'path',
      fn.sum<number>('requests').as('requests'),
      fn.sum<number>('tokens_in').as('tokensIn'),
      fn.sum<number>('tokens_out').as('tokensOut'),
      fn.sum<number>('response_us').as('responseUs'),
    ])
    .groupBy('path')
    .compile()
}

function selectRows(database: UsageDatabase, scope: UsageScope) {
  const rows = database
    .selectFrom('usage_rows')
    .select((eb) => ['path', eb.lit<number>(1).as('requests'), 'tokens_in', 'tokens_out', 'response_us'])
    .where('created_at', '>=', 0)
    .where('created_at', '<', 0)
  switch (scope) {
    case 'key':
      return rows.where('key_id', '=', '')
    case 'account':
      return rows.where('account_id', '=', '')
    case 'team':
      return rows.where('team_id', '=', '')
    case 'all':
      return rows
  }
}

function selectBuckets(database: UsageDatabase, scope: UsageScope) {
  return database
    .selectFrom('usage_totals')
    .select(['path', 'requests', 'tokens_in', 'tokens_out', 'response_us'])
    .where('scope', '=', scope)
    .where('subject_id', '=', '')
    .where('bucket_seconds', '=', 0)
    .where('bucket_start', '>=', 0)
    .where('bucket_start', '<', 0)
}

export interface TokensRow {
  /** Null where there are no requests. */
  readonly tokens: number | null
}

const SUBJECT_COLUMNS = { key: 'key_id', account: 'account_id', team: 'team_id' } as const

export function compileSumTokens(
  database: UsageDatabase,
  { scope, ids: list }: UsageSubjects,
  sinceUnixSeconds: number,
): CompiledQuery<TokensRow> {
  const { minute, day, minutesFrom, daysFrom } = partsSince(sinceUnixSeconds)
  const ids = sql.join(list)
  const buckets = sql`select tokens_in, tokens_out from usage_totals where scope = ${scope} and subject_id in (${ids})`
  return sql<TokensRow>`
    select sum(tokens_in + tokens_out) as tokens from (
      select tokens_in, tokens_out from usage_rows where created_at >= ${sinceUnixSeconds}
        and created_at < ${minutesFrom} and ${sql.ref(SUBJECT_COLUMNS[scope])} in (${ids})
      union all ${buckets} and bucket_seconds = ${minute} and bucket_start >= ${minutesFrom} and bucket_start < ${daysFrom}
      union all ${buckets} and bucket_seconds = ${day} and bucket_start >= ${daysFrom}
    ) as part`.compile(database)
}

/** The values of the query, in the order of its parts. */
export function sumValues({ scope, id }: UsageSubject, sinceUnixSeconds: number): readonly unknown[] {
  const { minute, day, minutesFrom, daysFrom } = partsSince(sinceUnixSeconds)
  return [
    ...[sinceUnixSeconds, minutesFrom, ...(scope === 'all' ? [] : [id])],
    ...[scope, id, minute, minutesFrom, daysFrom],
    ...[scope, id, day, daysFrom, Number.MAX_SAFE_INTEGER],
  ]
}

/** Where the rows end, and then the minutes. */
function partsSince(sinceUnixSeconds: number) {
  const [minute, day] = USAGE_BUCKET_SECONDS
  const minutesFrom = nextStart(sinceUnixSeconds, minute)
  return { minute, day, minutesFrom, daysFrom: nextStart(minutesFrom, day) }
}

/** Start of the bucket in which a moment lies. */
export function bucketStart(unixSeconds: number, bucketSeconds: number): number {
  // Cut to a whole second first: a quotient of a moment just before a border may be rounded up to it.
  return Math.floor(Math.floor(unixSeconds) / bucketSeconds) * bucketSeconds
}

/** Start of the first bucket that begins at this moment or later. */
function nextStart(unixSeconds: number, bucketSeconds: number): number {
  return Math.ceil(Math.ceil(unixSeconds) / bucketSeconds) * bucketSeconds
}
