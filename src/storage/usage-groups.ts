/**
 * The sums that reports are made of: of each hour and each day, by key, account, team, model and path together, so that any of
 * them can be grouped by. Compiled here for every driver; `usage-queries.ts` writes them beside the rows, reports read them in
 * slices, and the rows themselves where a span begins or ends within an hour.
 */
import { type CompiledQuery, sql } from 'kysely'
import {
  GROUP_BUCKET_SECONDS,
  SECONDS_PER_DAY,
  SECONDS_PER_HOUR,
  USAGE_GROUP_KEY,
  type UsageDatabase,
} from './usage-database.ts'
import type { GroupSums, HourSpan, UsageEntry, UsageGroup, UsageSlice } from './usage-store.ts'

const COLUMNS = {
  key: 'key_id',
  user: 'account_id',
  team: 'team_id',
  model: 'model',
  endpoint: 'path',
} as const satisfies Record<UsageGroup, string>

/** Each item is added to a bucket of each size. */
export function compileAddGroups(database: UsageDatabase, count: number): string {
  const key = { key_id: '', account_id: '', team_id: '', model: '', path: '' }
  const sums = { requests: 0, tokens_in: 0, tokens_out: 0, response_us: 0 }
  const row = { bucket_seconds: 0, bucket_start: 0, ...key, ...sums }
  return database
    .insertInto('usage_groups')
    .values(Array.from({ length: count * GROUP_BUCKET_SECONDS.length }, () => row))
    .onConflict((conflict) =>
      conflict.columns(USAGE_GROUP_KEY).doUpdateSet((eb) => ({
        requests: eb('usage_groups.requests', '+', eb.ref('excluded.requests')),
        tokens_in: eb('usage_groups.tokens_in', '+', eb.ref('excluded.tokens_in')),
        tokens_out: eb('usage_groups.tokens_out', '+', eb.ref('excluded.tokens_out')),
        response_us: eb('usage_groups.response_us', '+', eb.ref('excluded.response_us')),
      })),
    )
    .compile().sql
}

type RowGroup = Pick<UsageEntry, 'keyId' | 'accountId' | 'teamId' | 'model' | 'path'>

/** The values of a row's buckets up to its sums, in the order of `USAGE_GROUP_KEY`. */
export function groupKeys(
  { keyId, accountId, teamId, model, path }: RowGroup,
  bucketStartOf: (bucketSeconds: number) => number,
): readonly (readonly unknown[])[] {
  return GROUP_BUCKET_SECONDS.map((seconds) => [
    ...[seconds, bucketStartOf(seconds)],
    ...[keyId, accountId, teamId ?? '', model, path],
  ])
}

/** Values: those of `USAGE_GROUP_KEY`. */
export function compileDeleteGroup(database: UsageDatabase): string {
  return database
    .deleteFrom('usage_groups')
    .where('bucket_seconds', '=', 0)
    .where('bucket_start', '=', 0)
    .where('key_id', '=', '')
    .where('account_id', '=', '')
    .where('team_id', '=', '')
    .where('model', '=', '')
    .where('path', '=', '')
    .compile().sql
}

export function compileHourSpan(database: UsageDatabase): CompiledQuery<HourSpan> {
  const hours = database
    .selectFrom('usage_groups')
    .select('bucket_start')
    .where('bucket_seconds', '=', SECONDS_PER_HOUR)
    .limit(1)
  return database
    .selectNoFrom([
      hours.orderBy('bucket_start').as('first'),
      hours.orderBy('bucket_start', 'desc').as('last'),
    ])
    .compile()
}

export function compileSumByGroup(database: UsageDatabase, slice: UsageSlice): CompiledQuery<GroupSums> {
  return slice.source === 'rows' ? compileRows(database, slice) : compileBuckets(database, slice)
}

function compileBuckets(database: UsageDatabase, slice: UsageSlice): CompiledQuery<GroupSums> {
  const { source, groupBy, accountId, fromUnixSeconds, untilUnixSeconds } = slice
  const sums = database
    .selectFrom('usage_groups')
    .select((eb) => [
      'bucket_start as bucketStart',
      groupBy === null ? sql<string>`''`.as('group') : eb.ref(COLUMNS[groupBy]).as('group'),
      eb.fn.sum<number>('requests').as('requests'),
      eb.fn.sum<number>('tokens_in').as('tokensIn'),
      eb.fn.sum<number>('tokens_out').as('tokensOut'),
      eb.fn.sum<number>('response_us').as('responseUs'),
    ])
    .where('bucket_seconds', '=', source === 'hours' ? SECONDS_PER_HOUR : SECONDS_PER_DAY)
    .where('bucket_start', '>=', fromUnixSeconds)
    .where('bucket_start', '<', untilUnixSeconds)
    .groupBy('bucket_start')
  const grouped = groupBy === null ? sums : sums.groupBy(COLUMNS[groupBy])
  return (accountId === null ? grouped : grouped.where('account_id', '=', accountId)).compile()
}

function compileRows(database: UsageDatabase, slice: UsageSlice): CompiledQuery<GroupSums> {
  const { groupBy, accountId, fromUnixSeconds, untilUnixSeconds } = slice
  const sums = database
    .selectFrom('usage_rows')
    .select((eb) => [
      eb.lit(Math.floor(fromUnixSeconds)).as('bucketStart'),
      groupBy === null ? sql<string>`''`.as('group') : eb.ref(COLUMNS[groupBy]).as('group'),
      eb.fn.countAll<number>().as('requests'),
      eb.fn.sum<number>('tokens_in').as('tokensIn'),
      eb.fn.sum<number>('tokens_out').as('tokensOut'),
      eb.fn.sum<number>('response_us').as('responseUs'),
    ])
    .where('created_at', '>=', fromUnixSeconds)
    .where('created_at', '<', untilUnixSeconds)
  const grouped =
    groupBy === null ? sums.having((eb) => eb(eb.fn.countAll(), '>', 0)) : sums.groupBy(COLUMNS[groupBy])
  return (accountId === null ? grouped : grouped.where('account_id', '=', accountId)).compile()
}
