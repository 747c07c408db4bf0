/**
 * The sums of usage in SQLite, made from rows that are there already: a request waits for its row alone, and the sums of many
 * rows cost little more than those of one. How far they go is in the database beside them, so that whoever reads them brings them
 * up to date first, in whatever process.
 */
import { InvariantError } from '../../core/errors.ts'
import {
  GROUP_BUCKET_SECONDS,
  USAGE_BUCKET_SECONDS,
  USAGE_GROUP_KEY,
  USAGE_LATENCY_KEY,
  USAGE_TOTAL_KEY,
} from '../usage-database.ts'
import { FIRST_ERROR_STATUS } from '../usage-groups.ts'
import { LATENCY_STEP_TEXT } from '../usage-latency.ts'
import type { SqliteConnection } from './sqlite-driver.ts'

/** So that a transaction takes a few milliseconds. */
const MAX_ROWS = 2000

const toRows = (sizes: readonly number[]) =>
  sizes.map((seconds) => `select ${seconds} as seconds`).join(' union all ')
const NEW_ROWS = 'from usage_rows where id > ? and id <= ?'
const SUMS = ['requests', 'tokens_in', 'tokens_out', 'response_us']
const START = '(cast(created_at as integer) / seconds) * seconds'

const addTo = (table: string, sums: readonly string[]) =>
  sums.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')

const SUM_TOTALS = `
  insert into usage_totals (${[...USAGE_TOTAL_KEY, ...SUMS].join(', ')})
  select scope, subject_id, seconds, ${START}, path, count(*), sum(tokens_in), sum(tokens_out), sum(response_us)
  from (
    select 'key' as scope, key_id as subject_id, path, tokens_in, tokens_out, response_us, created_at ${NEW_ROWS}
    union all
    select 'account', account_id, path, tokens_in, tokens_out, response_us, created_at ${NEW_ROWS}
    union all
    select 'team', team_id, path, tokens_in, tokens_out, response_us, created_at ${NEW_ROWS} and team_id <> ''
    union all
    select 'all', '', path, tokens_in, tokens_out, response_us, created_at ${NEW_ROWS}
  ) cross join (${toRows(USAGE_BUCKET_SECONDS)})
  where true group by 1, 2, 3, 4, 5
  on conflict do update set ${addTo('usage_totals', SUMS)}`

const SUM_GROUPS = `
  insert into usage_groups (${[...USAGE_GROUP_KEY, ...SUMS, 'errors'].join(', ')})
  select seconds, ${START}, key_id, account_id, team_id, model, path,
    count(*), sum(tokens_in), sum(tokens_out), sum(response_us), count(*) filter (where status >= ${FIRST_ERROR_STATUS})
  from (select * ${NEW_ROWS}) cross join (${toRows(GROUP_BUCKET_SECONDS)})
  where true group by 1, 2, 3, 4, 5, 6, 7
  on conflict do update set ${addTo('usage_groups', [...SUMS, 'errors'])}`

const COUNT_LATENCIES = `
  insert into usage_latencies (${[...USAGE_LATENCY_KEY, 'requests'].join(', ')})
  select seconds, ${START}, key_id, account_id, team_id, model, path, ${LATENCY_STEP_TEXT}, count(*)
  from (select * ${NEW_ROWS}) cross join (${toRows(GROUP_BUCKET_SECONDS)})
  where true group by 1, 2, 3, 4, 5, 6, 7, 8
  on conflict do update set ${addTo('usage_latencies', ['requests'])}`

const READ_SUMMED = `
  select row_id as summed, (select coalesce(max(id), 0) from usage_rows) as last from usage_summed`

/** After rows were deleted: SQLite gives the numbers of the last ones to new rows. */
export const KEEP_SUMMED_IN_USE = `
  update usage_summed set row_id = min(row_id, (select coalesce(max(id), 0) from usage_rows))`

/** Whether the sums count all rows. */
export function isSummedUp(connection: SqliteConnection): boolean {
  const { summed, last } = readPlace(connection)
  return last <= summed
}

/** The next rows, within a transaction. */
export function sumUpRows(connection: SqliteConnection): void {
  const { summed, last } = readPlace(connection)
  const until = Math.min(last, summed + MAX_ROWS)
  if (until <= summed) return
  const span = [summed, until]
  connection.run(SUM_TOTALS, [...span, ...span, ...span, ...span])
  connection.run(SUM_GROUPS, span)
  connection.run(COUNT_LATENCIES, span)
  connection.run('update usage_summed set row_id = ?', [until])
}

function readPlace(connection: SqliteConnection): { readonly summed: number; readonly last: number } {
  const { rows } = connection.run<{ summed: number; last: number }>(READ_SUMMED, [])
  const [place] = rows
  if (place === undefined) throw new InvariantError('the sums have a place')
  return place
}
