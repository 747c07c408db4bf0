/** The accounts database in PostgreSQL: the same tables as in SQLite, and triggers that tell all instances of changes. */
import { type Kysely, type Migration, sql } from 'kysely'
import { API_DATABASE, type ApiSchema } from '../api-database.ts'
import { NOTICE_CHANNEL } from './credential-listener.ts'
import {
  openPostgres,
  type OpenPostgresOptions,
  type PostgresDatabase,
  type PostgresKind,
} from './open-postgres.ts'

/** What makes a credential invalid, or changes what it may do. */
const NOTICED = [
  ['api_keys', 'delete or update of revoked_at, expires_at, tier, custom_rate_limit_rpm'],
  ['sessions', 'delete'],
  ['users', 'delete or update of disabled_at, tier'],
] as const

/** In the database, so that a change by any program is told. */
async function createNotices(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create function sluice_tell_credential() returns trigger language plpgsql as $$
       begin perform pg_notify('${NOTICE_CHANNEL}', tg_table_name || ' ' || old.id); return null; end $$`,
    )
    .execute(db)
  for (const [table, events] of NOTICED) {
    await sql
      .raw(
        `create trigger ${table}_told after ${events} on ${table}
         for each row execute function sluice_tell_credential()`,
      )
      .execute(db)
  }
}

/** A first migration of its own, because one that only this database had would stand in the order of those to come. */
function withNotices(migrations: Readonly<Record<string, Migration>>): Readonly<Record<string, Migration>> {
  const [first] = Object.keys(migrations).sort()
  return Object.fromEntries(
    Object.entries(migrations).map(([name, migration]) => {
      if (name !== first) return [name, migration]
      const up = async (db: Kysely<unknown>) => {
        await migration.up(db)
        await createNotices(db)
      }
      return [name, { up }]
    }),
  )
}

const POSTGRES_API_DATABASE: PostgresKind<ApiSchema> = {
  holds: API_DATABASE.holds,
  option: API_DATABASE.option,
  tables: ['users', 'api_keys', 'sessions', 'settings'],
  // Users first: deleting one deletes its sessions and keys.
  lockedTables: ['users', 'sessions', 'api_keys'],
  // Of the credential store: a key is looked up while logins fill the others.
  queryConnections: 2,
  migrations: withNotices(API_DATABASE.migrations),
}

/** @throws StartError */
export function openPostgresApiDatabase(options: OpenPostgresOptions): Promise<PostgresDatabase<ApiSchema>> {
  return openPostgres(POSTGRES_API_DATABASE, options)
}
