/**
 * The queries of the usage store, compiled once and independent of the driver.
 * Writing: the rows and the sums of their buckets. Entries that are written together are summed first and go into few
 * statements with many values each, because each statement is expensive.
 * Reading: one query serves every summary and sums what was written since a moment, exactly and from as few rows as
 * possible. It is one statement, so it reads one state of the database even during writes.
 *
 *   since            next minute           next day
 *     ├── rows ────────┼── minutes ──────────┼── days ──────▶
 */
import type { CompiledQuery } from 'kysely'
import {
  USAGE_BUCKET_SECONDS,
  USAGE_TOTAL_KEY,
  type UsageDatabase,
  type UsageScope,
} from './usage-database.ts'
import { compileAddGroups, compileAddLatencies, FIRST_ERROR_STATUS, groupKeys } from './usage-groups.ts'
import { latencyStep } from './usage-latency.ts'
import type { UsageEntry, UsageSubject, UsageSums } from './usage-store.ts'

interface Statement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** Each number of items up to this has its own statement, prepared once. */
const MAX_ITEMS_PER_STATEMENT = 12

/** SQL by number of items less one. */
type SqlByCount = readonly string[]

export class UsageInsert {
  readonly #insertRows: SqlByCount
  readonly #addTotals: SqlByCount
  readonly #addGroups: SqlByCount
  readonly #addLatencies: SqlByCount

  constructor(database: UsageDatabase) {
    const counts = Array.from({ length: MAX_ITEMS_PER_STATEMENT }, (_, index) => index + 1)
    this.#insertRows = counts.map((count) => compileInsertRows(database, count))
    this.#addTotals = counts.map((count) => compileAddTotals(database, count))
    this.#addGroups = counts.map((count) => compileAddGroups(database, count))
    this.#addLatencies = counts.map((count) => compileAddLatencies(database, count))
  }

  /** To be run in one transaction. */
  statements(entries: readonly UsageEntry[], nowUnixSeconds: number): readonly Statement[] {
    const rows = entries.map((entry) => rowValues(entry, nowUnixSeconds))
    const starts = USAGE_BUCKET_SECONDS.map((bucketSeconds) => bucketStart(nowUnixSeconds, bucketSeconds))
    const totals = sumUp(entries).map((total) => totalValues(total, starts))
    const groups = sumUpGroups(entries).map((group) => groupValues(group, nowUnixSeconds))
    const latencies = countLatencies(entries).map((counted) => latencyValues(counted, nowUnixSeconds))
    return [
      ...inChunks(this.#insertRows, rows),
      ...inChunks(this.#addTotals, totals),
      ...inChunks(this.#addGroups, groups),
      ...inChunks(this.#addLatencies, latencies),
    ]
  }
}

function inChunks(sqlByCount: SqlByCount, items: readonly (readonly unknown[])[]): readonly Statement[] {
  const statements: Statement[] = []
  for (let start = 0; start < items.length; start += sqlByCount.length) {
    const chunk = items.slice(start, start + sqlByCount.length)
    const sql = sqlByCount[chunk.length - 1]
    // A loop, as `flat` takes longer than the statement.
    const values: unknown[] = []
    for (const item of chunk) values.push(...item)
    if (sql !== undefined) statements.push({ sql, values })
  }
  return statements
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

/** Each item is added to a bucket of each size. */
function compileAddTotals(database: UsageDatabase, count: number): string {
  const key = { scope: 'all' as const, subject_id: '', bucket_seconds: 0, bucket_start: 0, path: '' }
  const row = { ...key, requests: 0, tokens_in: 0, tokens_out: 0, response_us: 0 }
  return database
    .insertInto('usage_totals')
    .values(Array.from({ length: count * USAGE_BUCKET_SECONDS.length }, () => row))
    .onConflict((conflict) =>
      conflict.columns(USAGE_TOTAL_KEY).doUpdateSet((eb) => ({
        requests: eb('usage_totals.requests', '+', eb.ref('excluded.requests')),
        tokens_in: eb('usage_totals.tokens_in', '+', eb.ref('excluded.tokens_in')),
        tokens_out: eb('usage_totals.tokens_out', '+', eb.ref('excluded.tokens_out')),
        response_us: eb('usage_totals.response_us', '+', eb.ref('excluded.response_us')),
      })),
    )
    .compile().sql
}

type MutableSums = { -readonly [Field in keyof UsageSums]: UsageSums[Field] }

interface UsageTotal extends MutableSums {
  readonly subject: UsageSubject
  readonly path: string
}

interface GroupTotal extends MutableSums {
  readonly entry: UsageEntry
  errors: number
}

interface LatencyCount {
  readonly entry: UsageEntry
  readonly latency: number
  requests: number
}

const NO_SUMS: UsageSums = { requests: 0, tokensIn: 0, tokensOut: 0, responseUs: 0 }

function addEntry(sums: MutableSums, { tokensIn, tokensOut, responseMs }: UsageEntry): void {
  sums.requests++
  sums.tokensIn += tokensIn
  sums.tokensOut += tokensOut
  sums.responseUs += toMicroseconds(responseMs)
}

/** One total for each group. */
function sumUpGroups(entries: readonly UsageEntry[]): readonly GroupTotal[] {
  const totals = new Map<string, GroupTotal>()
  for (const entry of entries) {
    const name = groupName(entry)
    const total = totals.get(name) ?? { entry, ...NO_SUMS, errors: 0 }
    totals.set(name, total)
    addEntry(total, entry)
    if (entry.status >= FIRST_ERROR_STATUS) total.errors++
  }
  return [...totals.values()]
}

/** One count for each group and step of latency. */
function countLatencies(entries: readonly UsageEntry[]): readonly LatencyCount[] {
  const counts = new Map<string, LatencyCount>()
  for (const entry of entries) {
    const latency = latencyStep(toMicroseconds(entry.responseMs))
    const name = `${latency} ${groupName(entry)}`
    const count = counts.get(name) ?? { entry, latency, requests: 0 }
    counts.set(name, count)
    count.requests++
  }
  return [...counts.values()]
}

function groupName({ keyId, accountId, teamId, model, path }: UsageEntry): string {
  return JSON.stringify([keyId, accountId, teamId, model, path])
}

function groupValues(total: GroupTotal, nowUnixSeconds: number): readonly unknown[] {
  const { entry, requests, tokensIn, tokensOut, responseUs, errors } = total
  const keys = groupKeys(entry, (seconds) => bucketStart(nowUnixSeconds, seconds))
  return keys.flatMap((key) => [...key, requests, tokensIn, tokensOut, responseUs, errors])
}

function latencyValues(
  { entry, latency, requests }: LatencyCount,
  nowUnixSeconds: number,
): readonly unknown[] {
  const keys = groupKeys(entry, (seconds) => bucketStart(nowUnixSeconds, seconds))
  return keys.flatMap((key) => [...key, latency, requests])
}

/** One total for each subject and path. */
function sumUp(entries: readonly UsageEntry[]): readonly UsageTotal[] {
  const totals = new Map<string, UsageTotal>()
  for (const entry of entries) {
    for (const subject of subjectsOf(entry)) {
      // Ids and paths may hold any character, so no separator is safe.
      const name = JSON.stringify([subject.scope, subject.id, entry.path])
      const total = totals.get(name) ?? { subject, path: entry.path, ...NO_SUMS }
      totals.set(name, total)
      addEntry(total, entry)
    }
  }
  return [...totals.values()]
}

function totalValues(total: UsageTotal, starts: readonly number[]): readonly unknown[] {
  const { subject, path, requests, tokensIn, tokensOut, responseUs } = total
  return USAGE_BUCKET_SECONDS.flatMap((bucketSeconds, index) => [
    ...[subject.scope, subject.id, bucketSeconds, starts[index], path],
    ...[requests, tokensIn, tokensOut, responseUs],
  ])
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

/** The values of the query, in the order of its parts. */
export function sumValues({ scope, id }: UsageSubject, sinceUnixSeconds: number): readonly unknown[] {
  const [minute, day] = USAGE_BUCKET_SECONDS
  const minutesFrom = nextStart(sinceUnixSeconds, minute)
  const daysFrom = nextStart(minutesFrom, day)
  return [
    ...[sinceUnixSeconds, minutesFrom, ...(scope === 'all' ? [] : [id])],
    ...[scope, id, minute, minutesFrom, daysFrom],
    ...[scope, id, day, daysFrom, Number.MAX_SAFE_INTEGER],
  ]
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
