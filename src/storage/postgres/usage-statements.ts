/**
 * The writing statements of the usage store, each a transaction of its own and one round trip. Rows and sums come from one
 * source within the statement, so they always agree. Sums are locked in the order of their key, so that instances that write at
 * once wait for each other and never in a circle; both tables of sums follow each other in the one order of the statement.
 */
import {
  GROUP_BUCKET_SECONDS,
  USAGE_BUCKET_SECONDS,
  USAGE_GROUP_KEY,
  USAGE_LATENCY_KEY,
  USAGE_TOTAL_KEY,
} from '../usage-database.ts'
import { FIRST_ERROR_STATUS } from '../usage-groups.ts'
import { LATENCY_STEPS_US } from '../usage-latency.ts'
import { toMicroseconds } from '../usage-queries.ts'
import type { UsageEntry } from '../usage-store.ts'
import type { UsageBatch } from './usage-file.ts'

const KEY = USAGE_TOTAL_KEY.join(', ')
const GROUP_KEY = USAGE_GROUP_KEY.join(', ')
const LATENCY_KEY = USAGE_LATENCY_KEY.join(', ')
const toValues = (sizes: readonly number[]) => `(values ${sizes.map((seconds) => `(${seconds})`).join(', ')})`
const BUCKETS = toValues(USAGE_BUCKET_SECONDS)

/** The groups that count a row `r`, as `b`. */
const GROUPS_OF_ROW = `cross join ${toValues(GROUP_BUCKET_SECONDS)} as b(bucket_seconds)`

/** The sums that count a row `r`, as `s` and `b`. */
const SUBJECTS_OF_ROW = `
  join lateral (values ('key', r.key_id), ('account', r.account_id), ('team', r.team_id), ('all', ''))
    as s(scope, subject_id) on s.scope <> 'team' or s.subject_id <> ''
  cross join ${BUCKETS} as b(bucket_seconds)`

const BUCKET_START = '(floor(r.created_at)::bigint / b.bucket_seconds) * b.bucket_seconds'

/** Values: those of `batchValues`. Batches that are there already are left out with all their rows. */
export const INSERT_BATCHES_SQL = `
with fresh as (
  insert into usage_batches (id, created_at)
  select id, created_at from unnest($1::uuid[], $2::double precision[]) as batch(id, created_at) order by id
  on conflict (id) do nothing
  returning id, created_at
), written as (
  insert into usage_rows
    (key_id, account_id, team_id, model, path, status, tokens_in, tokens_out, response_us, created_at)
  select e.key_id, e.account_id, e.team_id, e.model, e.path, e.status, e.tokens_in, e.tokens_out, e.response_us,
    fresh.created_at
  from unnest(
      $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
      $9::integer[], $10::integer[], $11::integer[], $12::bigint[]
    ) with ordinality as e(
      batch_id, key_id, account_id, team_id, model, path, status, tokens_in, tokens_out, response_us, position
    )
  join fresh on fresh.id = e.batch_id
  order by e.position
  returning *
), grouped as (
  insert into usage_groups (${GROUP_KEY}, requests, tokens_in, tokens_out, response_us, errors)
  select b.bucket_seconds, ${BUCKET_START}, r.key_id, r.account_id, r.team_id, r.model, r.path,
    count(*), sum(r.tokens_in), sum(r.tokens_out), sum(r.response_us),
    count(*) filter (where r.status >= ${FIRST_ERROR_STATUS})
  from written as r ${GROUPS_OF_ROW}
  group by 1, 2, 3, 4, 5, 6, 7
  order by 1, 2, 3, 4, 5, 6, 7
  on conflict (${GROUP_KEY}) do update set
    requests = usage_groups.requests + excluded.requests,
    tokens_in = usage_groups.tokens_in + excluded.tokens_in,
    tokens_out = usage_groups.tokens_out + excluded.tokens_out,
    response_us = usage_groups.response_us + excluded.response_us,
    errors = usage_groups.errors + excluded.errors
), timed as (
  insert into usage_latencies (${LATENCY_KEY}, requests)
  select b.bucket_seconds, ${BUCKET_START}, r.key_id, r.account_id, r.team_id, r.model, r.path,
    width_bucket(r.response_us, array[${LATENCY_STEPS_US.join(', ')}]::bigint[]), count(*)
  from written as r ${GROUPS_OF_ROW}
  group by 1, 2, 3, 4, 5, 6, 7, 8
  order by 1, 2, 3, 4, 5, 6, 7, 8
  on conflict (${LATENCY_KEY}) do update set requests = usage_latencies.requests + excluded.requests
)
insert into usage_totals (${KEY}, requests, tokens_in, tokens_out, response_us)
select s.scope, s.subject_id, b.bucket_seconds, ${BUCKET_START}, r.path,
  count(*), sum(r.tokens_in), sum(r.tokens_out), sum(r.response_us)
from written as r ${SUBJECTS_OF_ROW}
group by 1, 2, 3, 4, 5
order by 1, 2, 3, 4, 5
on conflict (${KEY}) do update set
  requests = usage_totals.requests + excluded.requests,
  tokens_in = usage_totals.tokens_in + excluded.tokens_in,
  tokens_out = usage_totals.tokens_out + excluded.tokens_out,
  response_us = usage_totals.response_us + excluded.response_us`

export function batchValues(batches: readonly UsageBatch[]): readonly unknown[] {
  const rows = batches.flatMap(({ id, entries }) => entries.map((entry) => ({ ...entry, id })))
  const column = (value: (row: UsageEntry & { readonly id: string }) => unknown) => rows.map(value)
  return [
    batches.map(({ id }) => id),
    batches.map(({ createdAtUnixSeconds }) => createdAtUnixSeconds),
    column(({ id }) => id),
    column(({ keyId }) => keyId),
    column(({ accountId }) => accountId),
    // A batch may wait since before these were recorded.
    column(({ teamId }: Partial<UsageEntry>) => teamId ?? ''),
    column(({ model }: Partial<UsageEntry>) => model ?? ''),
    column(({ path }) => path),
    column(({ status }) => status),
    column(({ tokensIn }) => tokensIn),
    column(({ tokensOut }) => tokensOut),
    column(({ responseMs }) => toMicroseconds(responseMs)),
  ]
}

/** Of all instances that prune; any number that no other program is likely to use. */
const PRUNING_LOCK = 0x736c7570

/**
 * Values: the time before which rows are deleted, and how many at most. Gives `count`. Deletes nothing while another instance
 * does the same. A batch has one row at least, so none is left when the rows have gone, as up to so many batches go at a time. One
 * may go before its rows: its name is of use only to a writing that is tried again, which is not as old as that. An array of their
 * ids and a bound that is known beforehand let PostgreSQL find batches by their indexes.
 */
export const DELETE_BEFORE_SQL = `
with oldest as materialized (
  select id from usage_rows
  where created_at < $1 and (select pg_try_advisory_xact_lock(${PRUNING_LOCK}))
  order by created_at limit $2
), r as (
  delete from usage_rows where id in (select id from oldest)
  returning key_id, account_id, team_id, model, path, created_at
), totals as (
  delete from usage_totals where (${KEY}) in (
    select s.scope, s.subject_id, b.bucket_seconds, ${BUCKET_START}, r.path from r ${SUBJECTS_OF_ROW}
  )
), groups as (
  delete from usage_groups where (${GROUP_KEY}) in (
    select b.bucket_seconds, ${BUCKET_START}, r.key_id, r.account_id, r.team_id, r.model, r.path from r ${GROUPS_OF_ROW}
  )
), latencies as (
  delete from usage_latencies where (${GROUP_KEY}) in (
    select b.bucket_seconds, ${BUCKET_START}, r.key_id, r.account_id, r.team_id, r.model, r.path from r ${GROUPS_OF_ROW}
  )
), batches as (
  delete from usage_batches where id = any(array(
    select id from usage_batches where created_at < $1 and exists (select from r)
    order by created_at limit $2
  ))
)
select count(*) as count from r`
