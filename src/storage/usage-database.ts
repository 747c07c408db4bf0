/**
 * Schema of the usage database: one row for each request, and sums of those rows in time buckets. PostgreSQL writes both in one
 * statement; in SQLite the sums follow the rows (`sqlite/usage-sums.ts`). Times are Unix seconds; buckets begin at whole seconds.
 */
import { type Generated, type Kysely, type Migration, type RawBuilder, sql } from 'kysely'
import { type DatabaseKind, openDatabase, type OpenDatabaseOptions } from './sqlite/open-database.ts'
import type { SqliteKysely } from './sqlite/sqlite-driver.ts'
import { LATENCY_STEP_SQL } from './usage-latency.ts'

interface UsageRow {
  readonly id: Generated<number>
  /** The key, or the login session. */
  readonly key_id: string
  readonly account_id: string
  /** Empty outside of any team. */
  readonly team_id: string
  /** Empty in rows of before there was this column. */
  readonly model: string
  /** The route's path. */
  readonly path: string
  readonly status: number
  readonly tokens_in: number
  readonly tokens_out: number
  /** Whole microseconds, so that sums are exact in whatever order they are made. */
  readonly response_us: number
  /** When the row was written. */
  readonly created_at: number
}

/** The requests that a sum counts: of one key, one account, one team, or all. */
export type UsageScope = 'key' | 'account' | 'team' | 'all'

interface UsageTotalRow {
  readonly scope: UsageScope
  /** The key's, the account's or the team's id; empty for all. */
  readonly subject_id: string
  /** One of `USAGE_BUCKET_SECONDS`. */
  readonly bucket_seconds: number
  readonly bucket_start: number
  readonly path: string
  readonly requests: number
  readonly tokens_in: number
  readonly tokens_out: number
  readonly response_us: number
}

/** The sum of the requests of one bucket that have all of this in common. */
interface UsageGroupRow {
  /** One of `GROUP_BUCKET_SECONDS`. */
  readonly bucket_seconds: number
  readonly bucket_start: number
  readonly key_id: string
  readonly account_id: string
  readonly team_id: string
  readonly model: string
  readonly path: string
  readonly requests: number
  readonly tokens_in: number
  readonly tokens_out: number
  readonly response_us: number
  /** Those with a status of 400 or more. */
  readonly errors: number
}

/** The requests of a group whose latency lies in one step. */
interface UsageLatencyRow extends Pick<
  UsageGroupRow,
  'bucket_seconds' | 'bucket_start' | 'key_id' | 'account_id' | 'team_id' | 'model' | 'path' | 'requests'
> {
  /** As `latencyStep` numbers them. */
  readonly latency: number
}

/** One row: the last of `usage_rows` that the sums count. In SQLite alone. */
interface UsageSummedRow {
  readonly row_id: number
}

export interface UsageSchema {
  readonly usage_rows: UsageRow
  readonly usage_totals: UsageTotalRow
  readonly usage_groups: UsageGroupRow
  readonly usage_latencies: UsageLatencyRow
  readonly usage_summed: UsageSummedRow
}

export type UsageDatabase = Kysely<UsageSchema>

export const SECONDS_PER_HOUR = 3600
export const SECONDS_PER_DAY = 86_400

/**
 * Minutes and days. Each size more is written with every request, and what a sum reads is little already: rows of less
 * than a minute, minutes of less than a day, and days.
 */
export const USAGE_BUCKET_SECONDS = [60, SECONDS_PER_DAY] as const

/** What makes a total unique. */
export const USAGE_TOTAL_KEY = ['scope', 'subject_id', 'bucket_seconds', 'bucket_start', 'path'] as const

/** Hours and days, which reports are made of. */
export const GROUP_BUCKET_SECONDS = [SECONDS_PER_HOUR, SECONDS_PER_DAY] as const

/** What makes a group unique. By time first, as a report reads all groups of a span. */
export const USAGE_GROUP_KEY = [
  'bucket_seconds',
  'bucket_start',
  'key_id',
  'account_id',
  'team_id',
  'model',
  'path',
] as const

/** What makes a count of latencies unique. */
export const USAGE_LATENCY_KEY = [...USAGE_GROUP_KEY, 'latency'] as const

/** What differs between the databases. */
export interface UsageTables {
  /** The type of a number that each row gets by itself. */
  readonly rowId: 'integer' | 'bigserial'
  /** `created_at` without its fraction, as an integer. */
  readonly createdAtSecond: RawBuilder<number>
  /** What ends the creation of the table of sums. */
  readonly totalsEnd: RawBuilder<unknown>
}

export function usageMigrations({ rowId, totalsEnd, createdAtSecond }: UsageTables) {
  const rowsAndTotals: Migration = {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable('usage_rows')
        .addColumn('id', rowId, (column) => column.primaryKey())
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('path', 'text', (column) => column.notNull())
        .addColumn('status', 'integer', (column) => column.notNull())
        .addColumn('tokens_in', 'integer', (column) => column.notNull())
        .addColumn('tokens_out', 'integer', (column) => column.notNull())
        .addColumn('response_us', 'bigint', (column) => column.notNull())
        .addColumn('created_at', 'double precision', (column) => column.notNull())
        .execute()
      // The one index of the rows: sums read at most a minute of them, and each index more costs every request.
      await db.schema.createIndex('usage_rows_by_created_at').on('usage_rows').column('created_at').execute()
      await db.schema
        .createTable('usage_totals')
        .addColumn('scope', 'text', (column) => column.notNull())
        .addColumn('subject_id', 'text', (column) => column.notNull())
        .addColumn('bucket_seconds', 'integer', (column) => column.notNull())
        .addColumn('bucket_start', 'bigint', (column) => column.notNull())
        .addColumn('path', 'text', (column) => column.notNull())
        .addColumn('requests', 'bigint', (column) => column.notNull())
        .addColumn('tokens_in', 'bigint', (column) => column.notNull())
        .addColumn('tokens_out', 'bigint', (column) => column.notNull())
        .addColumn('response_us', 'bigint', (column) => column.notNull())
        // One subject's buckets lie side by side. The key is most of the row: it is kept once, in the table, and there is
        // no index beside it, as each would cost every request; pruning finds buckets through their rows.
        .addPrimaryKeyConstraint('usage_totals_key', [...USAGE_TOTAL_KEY])
        .modifyEnd(totalsEnd)
        .execute()
    },
  }
  const modelsAndGroups: Migration = {
    up: async (db: Kysely<unknown>) => {
      for (const column of ['team_id', 'model']) {
        const table = db.schema.alterTable('usage_rows')
        await table.addColumn(column, 'text', (text) => text.notNull().defaultTo('')).execute()
      }
      await db.schema
        .createTable('usage_groups')
        .addColumn('bucket_seconds', 'integer', (column) => column.notNull())
        .addColumn('bucket_start', 'bigint', (column) => column.notNull())
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('team_id', 'text', (column) => column.notNull())
        .addColumn('model', 'text', (column) => column.notNull())
        .addColumn('path', 'text', (column) => column.notNull())
        .addColumn('requests', 'bigint', (column) => column.notNull())
        .addColumn('tokens_in', 'bigint', (column) => column.notNull())
        .addColumn('tokens_out', 'bigint', (column) => column.notNull())
        .addColumn('response_us', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('usage_groups_key', [...USAGE_GROUP_KEY])
        .modifyEnd(totalsEnd)
        .execute()
      for (const seconds of GROUP_BUCKET_SECONDS) await fillGroups(db, seconds, createdAtSecond)
    },
  }
  const errorsAndLatencies: Migration = {
    up: async (db: Kysely<unknown>) => {
      const groups = db.schema.alterTable('usage_groups')
      await groups.addColumn('errors', 'bigint', (column) => column.notNull().defaultTo(0)).execute()
      await db.schema
        .createTable('usage_latencies')
        .addColumn('bucket_seconds', 'integer', (column) => column.notNull())
        .addColumn('bucket_start', 'bigint', (column) => column.notNull())
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('team_id', 'text', (column) => column.notNull())
        .addColumn('model', 'text', (column) => column.notNull())
        .addColumn('path', 'text', (column) => column.notNull())
        .addColumn('latency', 'integer', (column) => column.notNull())
        .addColumn('requests', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('usage_latencies_key', [...USAGE_LATENCY_KEY])
        .modifyEnd(totalsEnd)
        .execute()
      for (const seconds of GROUP_BUCKET_SECONDS) await fillLatencies(db, seconds, createdAtSecond)
    },
  }
  return {
    '0001-rows-and-totals': rowsAndTotals,
    '0002-models-and-groups': modelsAndGroups,
    '0003-errors-and-latencies': errorsAndLatencies,
  }
}

/** From the rows that there are. */
async function fillGroups(
  db: Kysely<unknown>,
  seconds: number,
  createdAtSecond: RawBuilder<number>,
): Promise<void> {
  const size = sql.lit(seconds)
  await sql`
    insert into usage_groups
    select ${size}, (${createdAtSecond} / ${size}) * ${size}, key_id, account_id, team_id, model, path,
      count(*), sum(tokens_in), sum(tokens_out), sum(response_us)
    from usage_rows group by 1, 2, 3, 4, 5, 6, 7`.execute(db)
}

/** From the rows that there are. */
async function fillLatencies(
  db: Kysely<unknown>,
  seconds: number,
  createdAtSecond: RawBuilder<number>,
): Promise<void> {
  const size = sql.lit(seconds)
  const key = sql`${size}, (${createdAtSecond} / ${size}) * ${size}, key_id, account_id, team_id, model, path`
  await sql`
    insert into usage_groups (${sql.join(USAGE_GROUP_KEY.map((name) => sql.ref(name)))},
      requests, tokens_in, tokens_out, response_us, errors)
    select ${key}, 0, 0, 0, 0, count(*) from usage_rows where status >= 400 group by 1, 2, 3, 4, 5, 6, 7
    on conflict (${sql.join(USAGE_GROUP_KEY.map((name) => sql.ref(name)))}) do update set errors = excluded.errors
  `.execute(db)
  await sql`
    insert into usage_latencies select ${key}, ${LATENCY_STEP_SQL}, count(*)
    from usage_rows group by 1, 2, 3, 4, 5, 6, 7, 8`.execute(db)
}

/** What was there before was summed up with its rows. */
const summedRows: Migration = {
  up: async (db: Kysely<unknown>) => {
    await db.schema
      .createTable('usage_summed')
      .addColumn('row_id', 'integer', (column) => column.notNull())
      .execute()
    await sql`insert into usage_summed select coalesce(max(id), 0) from usage_rows`.execute(db)
  },
}

export const USAGE_DATABASE: DatabaseKind = {
  holds: 'usage',
  option: '--usage-db',
  applicationId: 0x534c5531,
  migrations: {
    ...usageMigrations({
      rowId: 'integer',
      totalsEnd: sql`without rowid`,
      createdAtSecond: sql<number>`cast(created_at as integer)`,
    }),
    '0004-summed-rows': summedRows,
  },
}

/** @throws StartError */
export function openUsageDatabase(
  location: string,
  options: OpenDatabaseOptions = {},
): Promise<SqliteKysely<UsageSchema>> {
  return openDatabase<UsageSchema>(location, USAGE_DATABASE, options)
}
