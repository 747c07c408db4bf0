/**
 * The sums that reports are made of: of each hour and each day, by key, account, team, model and path together, so that any of
 * them can be grouped by. Compiled here for every driver; reports read them in slices, and the rows themselves where a span begins or ends within an hour.
 */
import { type CompiledQuery, sql } from 'kysely'
import {
  GROUP_BUCKET_SECONDS,
  SECONDS_PER_DAY,
  SECONDS_PER_HOUR,
  type UsageDatabase,
} from './usage-database.ts'
import { LATENCY_STEP_SQL } from './usage-latency.ts'
import type { GroupLatency, GroupSums, HourSpan, UsageEntry, UsageGroup, UsageSlice } from './usage-store.ts'

/** A request with such a status, or a higher one, is counted as an error. */
export const FIRST_ERROR_STATUS = 400

const COLUMNS = {
  key: 'key_id',
  user: 'account_id',
  team: 'team_id',
  model: 'model',
  endpoint: 'path',
} as const satisfies Record<UsageGroup, string>

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

/** Of the sums and of the latencies. Values of each: those of `USAGE_GROUP_KEY`. */
export function compileDeleteGroup(database: UsageDatabase): readonly string[] {
  return (['usage_groups', 'usage_latencies'] as const).map(
    (table) =>
      database
        .deleteFrom(table)
        .where('bucket_seconds', '=', 0)
        .where('bucket_start', '=', 0)
        .where('key_id', '=', '')
        .where('account_id', '=', '')
        .where('team_id', '=', '')
        .where('model', '=', '')
        .where('path', '=', '')
        .compile().sql,
  )
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
      eb.fn.sum<number>('errors').as('errors'),
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
      eb.fn.countAll<number>().filterWhere('status', '>=', FIRST_ERROR_STATUS).as('errors'),
    ])
    .where('created_at', '>=', fromUnixSeconds)
    .where('created_at', '<', untilUnixSeconds)
  const grouped =
    groupBy === null ? sums.having((eb) => eb(eb.fn.countAll(), '>', 0)) : sums.groupBy(COLUMNS[groupBy])
  return (accountId === null ? grouped : grouped.where('account_id', '=', accountId)).compile()
}

export function compileCountLatencies(
  database: UsageDatabase,
  slice: UsageSlice,
): CompiledQuery<GroupLatency> {
  const { source, groupBy, accountId, fromUnixSeconds, untilUnixSeconds } = slice
  const group = groupBy === null ? sql<string>`''` : sql<string>`${sql.ref(COLUMNS[groupBy])}`
  const ofAccount = accountId === null ? sql`` : sql`and account_id = ${accountId}`
  if (source === 'rows') {
    return sql<GroupLatency>`
      select ${sql.lit(Math.floor(fromUnixSeconds))} as "bucketStart", ${group} as "group",
        ${LATENCY_STEP_SQL} as latency, count(*) as requests
      from usage_rows where created_at >= ${fromUnixSeconds} and created_at < ${untilUnixSeconds} ${ofAccount}
      group by 2, 3`.compile(database)
  }
  return sql<GroupLatency>`
    select bucket_start as "bucketStart", ${group} as "group", latency, sum(requests) as requests
    from usage_latencies
    where bucket_seconds = ${source === 'hours' ? SECONDS_PER_HOUR : SECONDS_PER_DAY}
      and bucket_start >= ${fromUnixSeconds} and bucket_start < ${untilUnixSeconds} ${ofAccount}
    group by 1, 2, 3`.compile(database)
}
