/** The usage database in PostgreSQL: the tables of SQLite, and the names of the batches that were written. */
import { type Kysely, type Migration, sql } from 'kysely'
import { USAGE_DATABASE, usageMigrations, type UsageSchema } from '../usage-database.ts'
import {
  openPostgres,
  type OpenPostgresOptions,
  type PostgresDatabase,
  type PostgresKind,
} from './open-postgres.ts'

interface UsageBatchRow {
  readonly id: string
  readonly created_at: number
}

/** A batch whose commit was not answered is written again under its name, and then counts once. */
export interface PostgresUsageSchema extends UsageSchema {
  readonly usage_batches: UsageBatchRow
}

const COMMON = usageMigrations({
  rowId: 'bigserial',
  totalsEnd: sql``,
  createdAtSecond: sql<number>`floor(created_at)::bigint`,
})

/** Within the first migration of all databases, as one that only this database had would stand in the order of those to come. */
const rowsTotalsAndBatches: Migration = {
  up: async (db: Kysely<unknown>) => {
    await COMMON['0001-rows-and-totals'].up(db)
    await db.schema
      .createTable('usage_batches')
      .addColumn('id', 'uuid', (column) => column.primaryKey())
      .addColumn('created_at', 'double precision', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('usage_batches_by_created_at')
      .on('usage_batches')
      .column('created_at')
      .execute()
  },
}

const POSTGRES_USAGE_DATABASE: PostgresKind<PostgresUsageSchema> = {
  holds: USAGE_DATABASE.holds,
  option: USAGE_DATABASE.option,
  tables: ['usage_rows', 'usage_totals', 'usage_groups', 'usage_latencies', 'usage_batches'],
  // Each statement of the store is a transaction of its own.
  lockedTables: [],
  migrations: { ...COMMON, '0001-rows-and-totals': rowsTotalsAndBatches },
}

/** @throws StartError */
export function openPostgresUsageDatabase(
  options: OpenPostgresOptions,
): Promise<PostgresDatabase<PostgresUsageSchema>> {
  return openPostgres(POSTGRES_USAGE_DATABASE, options)
}
