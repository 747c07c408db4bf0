/**
 * Writing usage: the rows, and the sums of the buckets in which they lie. What is written together is summed up first
 * and goes in few statements with many values each, because it is the number of statements that costs.
 */
import type { CompiledQuery } from 'kysely'
import type { Statement } from './sqlite/compiled-query.ts'
import { USAGE_BUCKET_SECONDS, USAGE_TOTAL_KEY, type UsageDatabase } from './usage-database.ts'
import { bucketStart, subjectsOf, type UsageSubject } from './usage-sum-query.ts'

/** One generation request that reached an engine. */
export interface UsageEntry {
  readonly keyId: string
  readonly accountId: string
  /** The route's path. */
  readonly path: string
  readonly status: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly responseMs: number
}

/** Each number of items up to this has a statement of its own, prepared once. */
const MAX_ITEMS_PER_STATEMENT = 12

/** By number of items less one. */
type QueriesByCount = readonly CompiledQuery[]

export class UsageInsert {
  readonly #insertRows: QueriesByCount
  readonly #addTotals: QueriesByCount

  constructor(database: UsageDatabase) {
    const counts = Array.from({ length: MAX_ITEMS_PER_STATEMENT }, (_, index) => index + 1)
    this.#insertRows = counts.map((count) => compileInsertRows(database, count))
    this.#addTotals = counts.map((count) => compileAddTotals(database, count))
  }

  /** To be run in one transaction. */
  statements(entries: readonly UsageEntry[], nowUnixSeconds: number): readonly Statement[] {
    const rows = entries.map((entry) => rowValues(entry, nowUnixSeconds))
    const starts = USAGE_BUCKET_SECONDS.map((bucketSeconds) => bucketStart(nowUnixSeconds, bucketSeconds))
    const totals = sumUp(entries).map((total) => totalValues(total, starts))
    return [...inChunks(this.#insertRows, rows), ...inChunks(this.#addTotals, totals)]
  }
}

function inChunks(queries: QueriesByCount, items: readonly (readonly unknown[])[]): readonly Statement[] {
  const statements: Statement[] = []
  for (let start = 0; start < items.length; start += queries.length) {
    const chunk = items.slice(start, start + queries.length)
    const query = queries[chunk.length - 1]
    // By hand, as `flat` takes longer than the statement.
    const values: unknown[] = []
    for (const item of chunk) values.push(...item)
    if (query !== undefined) statements.push({ query, values })
  }
  return statements
}

function compileInsertRows(database: UsageDatabase, count: number): CompiledQuery {
  const row = {
    key_id: '',
    account_id: '',
    path: '',
    status: 0,
    tokens_in: 0,
    tokens_out: 0,
    response_us: 0,
    created_at: 0,
  }
  return database
    .insertInto('usage_rows')
    .values(Array.from({ length: count }, () => row))
    .compile()
}

function rowValues(entry: UsageEntry, createdAtUnixSeconds: number): readonly unknown[] {
  return [
    entry.keyId,
    entry.accountId,
    entry.path,
    entry.status,
    entry.tokensIn,
    entry.tokensOut,
    toMicroseconds(entry.responseMs),
    createdAtUnixSeconds,
  ]
}

function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000)
}

/** Each item is added to a bucket of each size. */
function compileAddTotals(database: UsageDatabase, count: number): CompiledQuery {
  const row = {
    scope: 'all' as const,
    subject_id: '',
    bucket_seconds: 0,
    bucket_start: 0,
    path: '',
    requests: 0,
    tokens_in: 0,
    tokens_out: 0,
    response_us: 0,
  }
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
    .compile()
}

interface UsageSum {
  readonly path: string
  requests: number
  tokensIn: number
  tokensOut: number
  responseUs: number
}

interface CallerSum extends UsageSum {
  readonly keyId: string
  readonly accountId: string
}

interface SubjectTotal extends UsageSum {
  readonly subject: UsageSubject
}

/** One sum for each subject and path. */
function sumUp(entries: readonly UsageEntry[]): readonly SubjectTotal[] {
  const totals = new Map<string, SubjectTotal>()
  for (const caller of sumUpCallers(entries)) {
    for (const subject of subjectsOf(caller)) {
      const name = nameOf(subject.scope, subject.id, caller.path)
      const known = totals.get(name)
      if (known === undefined) totals.set(name, { ...caller, subject })
      else add(known, caller)
    }
  }
  return [...totals.values()]
}

/** Most of what is written together comes from few callers. */
function sumUpCallers(entries: readonly UsageEntry[]): readonly CallerSum[] {
  const callers = new Map<string, CallerSum>()
  for (const { keyId, accountId, path, tokensIn, tokensOut, responseMs } of entries) {
    const sum = {
      keyId,
      accountId,
      path,
      requests: 1,
      tokensIn,
      tokensOut,
      responseUs: toMicroseconds(responseMs),
    }
    const name = nameOf(keyId, accountId, path)
    const known = callers.get(name)
    if (known === undefined) callers.set(name, sum)
    else add(known, sum)
  }
  return [...callers.values()]
}

/** Ids and paths may hold anything, so nothing stands between them that could be in one of them. */
function nameOf(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}

function add(total: UsageSum, more: Readonly<UsageSum>): void {
  total.requests += more.requests
  total.tokensIn += more.tokensIn
  total.tokensOut += more.tokensOut
  total.responseUs += more.responseUs
}

function totalValues(total: SubjectTotal, starts: readonly number[]): readonly unknown[] {
  const { subject, path, requests, tokensIn, tokensOut, responseUs } = total
  const values: unknown[] = []
  for (const [index, bucketSeconds] of USAGE_BUCKET_SECONDS.entries()) {
    values.push(subject.scope, subject.id, bucketSeconds, starts[index], path)
    values.push(requests, tokensIn, tokensOut, responseUs)
  }
  return values
}
