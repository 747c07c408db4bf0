/**
 * The one query behind every usage summary: what was written since a moment, from the fewest rows that give it exactly.
 *
 *   since            next minute           next day
 *     ├── rows ────────┼── minutes ──────────┼── days ──────▶
 *
 * It is one statement and so reads one state of the database, also while others write.
 */
import type { CompiledQuery } from 'kysely'
import { USAGE_BUCKET_SECONDS, type UsageDatabase, type UsageScope } from './usage-database.ts'
import type { UsageEntry, UsageSubject, UsageSums } from './usage-store.ts'

/** The subjects whose sums count a request. */
export function subjectsOf({
  keyId,
  accountId,
}: Pick<UsageEntry, 'keyId' | 'accountId'>): readonly UsageSubject[] {
  return [
    { scope: 'key', id: keyId },
    { scope: 'account', id: accountId },
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
