/** The accounts database in PostgreSQL: the same tables as in SQLite, and triggers that tell all instances of changes. */
import { type Kysely, type Migration, sql } from 'kysely'
import { API_DATABASE, type ApiSchema } from '../api-database.ts'
import { NOTICE_CHANNEL } from './credential-listener.ts'
import {
  connectPostgres,
  openPostgres,
  type OpenPostgresOptions,
  type PostgresDatabase,
  type PostgresKind,
} from './open-postgres.ts'

type Noticed = readonly (readonly [table: string, events: string])[]

/** What makes a credential invalid, or changes what it may do. */
const NOTICED_FIRST: Noticed = [
  ['api_keys', 'delete or update of revoked_at, expires_at, tier, custom_rate_limit_rpm'],
  ['sessions', 'delete'],
  ['users', 'delete or update of disabled_at, tier'],
]

const BUDGETS = 'daily_token_budget, monthly_token_budget'

/** Since there are teams and budgets. */
const NOTICED: Noticed = [
  [
    'api_keys',
    `delete or update of revoked_at, expires_at, tier, custom_rate_limit_rpm, team_id, ${BUDGETS}`,
  ],
  ['users', `delete or update of disabled_at, tier, team_id, ${BUDGETS}`],
  ['teams', `delete or update of ${BUDGETS}`],
]

/** Since users have roles. */
const NOTICED_ROLES: Noticed = [['users', `delete or update of disabled_at, tier, role, team_id, ${BUDGETS}`]]

/** In the database, so that a change by any program is told. */
async function createNotices(db: Kysely<unknown>, noticed: Noticed): Promise<void> {
  await sql
    .raw(
      `create or replace function sluice_tell_credential() returns trigger language plpgsql as $$
       begin perform pg_notify('${NOTICE_CHANNEL}', tg_table_name || ' ' || old.id); return null; end $$`,
    )
    .execute(db)
  for (const [table, events] of noticed) {
    await sql.raw(`drop trigger if exists ${table}_told on ${table}`).execute(db)
    await sql
      .raw(
        `create trigger ${table}_told after ${events} on ${table}
         for each row execute function sluice_tell_credential()`,
      )
      .execute(db)
  }
}

/** Within the common migrations, because ones that only this database had would stand in the order of those to come. */
function withNotices(migrations: Readonly<Record<string, Migration>>): Readonly<Record<string, Migration>> {
  const noticedAfter: Readonly<Record<string, Noticed>> = {
    '0001-accounts-and-keys': NOTICED_FIRST,
    '0004-teams-and-budgets': NOTICED,
    '0006-console': NOTICED_ROLES,
  }
  return Object.fromEntries(
    Object.entries(migrations).map(([name, migration]) => {
      const noticed = noticedAfter[name]
      if (noticed === undefined) return [name, migration]
      const up = async (db: Kysely<unknown>) => {
        await migration.up(db)
        await createNotices(db, noticed)
      }
      return [name, { up }]
    }),
  )
}

const POSTGRES_API_DATABASE: PostgresKind<ApiSchema> = {
  holds: API_DATABASE.holds,
  option: API_DATABASE.option,
  // Of the credential store: a key is looked up while logins fill the others.
  queryConnections: 2,
  tables: ['users', 'teams', 'api_keys', 'sessions', 'guests', 'invitations', 'settings', 'audit_log'],
  // Teams and users first: deleting one changes or deletes what names it.
  lockedTables: ['teams', 'users', 'sessions', 'api_keys', 'guests', 'invitations'],
  migrations: withNotices(API_DATABASE.migrations),
}

/** @throws StartError */
export function openPostgresApiDatabase(options: OpenPostgresOptions): Promise<PostgresDatabase<ApiSchema>> {
  return openPostgres(POSTGRES_API_DATABASE, options)
}

export function connectPostgresApiDatabase(options: OpenPostgresOptions): PostgresDatabase<ApiSchema> {
  return connectPostgres(POSTGRES_API_DATABASE, options)
}
