/** Schema of the accounts database. Times are Unix seconds with fractions; secrets are stored as hashes only. */
import { type ColumnDefinitionBuilder, type Generated, type Kysely, type Migration, sql } from 'kysely'
import type { Role } from '../core/credential.ts'
import type { Tier } from '../core/tiers.ts'
import { type DatabaseKind, openDatabase, type OpenDatabaseOptions } from './sqlite/open-database.ts'
import type { SqliteKysely } from './sqlite/sqlite-driver.ts'

/** @public Named in the types of queries. */
export interface UserRow {
  readonly id: string
  /** As registered, trimmed. */
  readonly email: string
  /** Unique: `email` without its case. */
  readonly email_key: string
  /** An argon2id hash in PHC form, parameters included. */
  readonly password_hash: string
  readonly tier: Tier
  readonly created_at: number
  readonly disabled_at: number | null
  readonly team_id: string | null
  readonly daily_token_budget: number | null
  readonly monthly_token_budget: number | null
  readonly role: Generated<Role>
}

/** @public Named in the types of queries. */
export interface TeamRow {
  readonly id: string
  readonly name: string
  readonly daily_token_budget: number | null
  readonly monthly_token_budget: number | null
  readonly created_at: number
}

/** @public Named in the types of queries. */
export interface ApiKeyRow {
  readonly id: string
  /** SHA-256 of the secret in hex. */
  readonly secret_hash: string
  readonly key_prefix: string
  readonly name: string
  readonly tier: Tier
  /** The admin's own number; null takes the tier's. */
  readonly custom_rate_limit_rpm: number | null
  /** The user, the operator, or the key that it descends from. */
  readonly account_id: string
  readonly user_id: string | null
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
  /** Null when it was never used; some seconds late. */
  readonly last_used_at: number | null
  /** In place of the user's. */
  readonly team_id: string | null
  readonly daily_token_budget: number | null
  readonly monthly_token_budget: number | null
  /** The key under whose budgets this one counts too, and under those of that one's: see `budgets/key-families.ts`. */
  readonly budget_key_id: string | null
  /** Null where no key made it, and of one that was made before this was stored. */
  readonly maker_key_id: string | null
  /** When it got its first budget, of a key that a key made; null for never. */
  readonly budgeted_at: number | null
}

/** @public Named in the types of queries. */
export interface SessionRow {
  readonly id: string
  readonly secret_hash: string
  readonly user_id: string
  readonly created_at: number
  readonly expires_at: number
}

/**
 * The link that a start prints, and the guest that opened it: the same row, which opening gives another secret.
 * @public Named in the types of queries.
 */
export interface GuestRow {
  readonly id: string
  readonly secret_hash: string
  readonly created_at: number
  readonly expires_at: number
  /** Null while it is a link. */
  readonly opened_at: number | null
}

/** @public Named in the types of queries. */
export interface InvitationRow {
  readonly id: string
  readonly secret_hash: string
  readonly email: string
  readonly email_key: string
  readonly tier: Tier
  readonly role: Role
  readonly team_id: string | null
  readonly created_at: number
  readonly expires_at: number
  readonly accepted_at: number | null
  readonly revoked_at: number | null
}

/** @public Named in the types of queries. */
export interface AuditRow {
  readonly id: string
  readonly created_at: number
  /** `admin`, or `command-line:` and the name of the system's user. */
  readonly actor: string
  /** Such as `key.revoke`. */
  readonly action: string
  /** The id that it is about; null where there was none. */
  readonly target: string | null
  /** What was asked for, as JSON, without secrets. */
  readonly details: string
  /** The status of its answer; null of one that was cut off. */
  readonly status: number | null
  readonly request_id: string | null
}

/** @public Named in the types of queries. */
export interface SettingRow {
  readonly name: string
  readonly value: string
}

export interface ApiSchema {
  readonly users: UserRow
  readonly teams: TeamRow
  readonly api_keys: ApiKeyRow
  readonly sessions: SessionRow
  readonly guests: GuestRow
  readonly invitations: InvitationRow
  readonly settings: SettingRow
  readonly audit_log: AuditRow
}

export type ApiDatabase = Kysely<ApiSchema>

const accountsAndKeys: Migration = {
  up: async (db: Kysely<unknown>) => {
    await db.schema
      .createTable('users')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('email_key', 'text', (column) => column.notNull().unique())
      .addColumn('password_hash', 'text', (column) => column.notNull())
      .addColumn('tier', 'text', (column) => column.notNull())
      .addColumn('created_at', 'double precision', (column) => column.notNull())
      .addColumn('disabled_at', 'double precision')
      .execute()
    await db.schema
      .createTable('api_keys')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('secret_hash', 'text', (column) => column.notNull().unique())
      .addColumn('key_prefix', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('tier', 'text', (column) => column.notNull())
      .addColumn('custom_rate_limit_rpm', 'integer')
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.references('users.id').onDelete('cascade'))
      .addColumn('created_at', 'double precision', (column) => column.notNull())
      .addColumn('expires_at', 'double precision')
      .addColumn('revoked_at', 'double precision')
      .execute()
    await db.schema
      .createTable('sessions')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('secret_hash', 'text', (column) => column.notNull().unique())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('created_at', 'double precision', (column) => column.notNull())
      .addColumn('expires_at', 'double precision', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('settings')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute()
    // Listings go by age, and a page begins where the one before it ended.
    await createIndex(db, 'users', ['created_at', 'id'])
    await createIndex(db, 'api_keys', ['created_at', 'id'])
    await createIndex(db, 'api_keys', ['account_id', 'created_at', 'id'])
    await createIndex(db, 'api_keys', ['user_id'])
    // The few active keys are found without reading the revoked ones.
    await db.schema
      .createIndex('api_keys_unrevoked_by_account_id')
      .on('api_keys')
      .column('account_id')
      .where(sql.ref('revoked_at'), 'is', null)
      .execute()
    await createIndex(db, 'sessions', ['user_id'])
    await createIndex(db, 'sessions', ['expires_at'])
  },
}

/** Which tiers have callers is asked again and again, and where none has, the answer must not read every row. */
const tiersInUse: Migration = {
  up: async (db: Kysely<unknown>) => {
    for (const [table, end] of [
      ['api_keys', 'revoked_at'],
      ['users', 'disabled_at'],
    ] as const) {
      const index = db.schema.createIndex(`${table}_active_by_tier`).on(table).column('tier')
      await index.where(sql.ref(end), 'is', null).execute()
    }
  },
}

const lastUses: Migration = {
  up: async (db: Kysely<unknown>) => {
    await db.schema.alterTable('api_keys').addColumn('last_used_at', 'double precision').execute()
  },
}

const teamsAndBudgets: Migration = {
  up: async (db: Kysely<unknown>) => {
    await db.schema
      .createTable('teams')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('daily_token_budget', 'bigint')
      .addColumn('monthly_token_budget', 'bigint')
      .addColumn('created_at', 'double precision', (column) => column.notNull())
      .execute()
    await createIndex(db, 'teams', ['created_at', 'id'])
    for (const table of ['users', 'api_keys']) {
      const alter = () => db.schema.alterTable(table)
      await alter()
        .addColumn('team_id', 'text', (column) => column.references('teams.id').onDelete('set null'))
        .execute()
      await alter().addColumn('daily_token_budget', 'bigint').execute()
      await alter().addColumn('monthly_token_budget', 'bigint').execute()
      await createIndex(db, table, ['team_id'])
    }
    await db.schema.alterTable('api_keys').addColumn('budget_key_id', 'text').execute()
    await createIndex(db, 'api_keys', ['budget_key_id'])
  },
}

const auditLog: Migration = {
  up: async (db: Kysely<unknown>) => {
    await db.schema
      .createTable('audit_log')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('created_at', 'double precision', (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('target', 'text')
      .addColumn('details', 'text', (column) => column.notNull())
      .addColumn('status', 'integer')
      .addColumn('request_id', 'text')
      .execute()
    await createIndex(db, 'audit_log', ['created_at', 'id'])
  },
}

const consoleAccounts: Migration = {
  up: async (db: Kysely<unknown>) => {
    const role = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo('user')
    await db.schema.alterTable('users').addColumn('role', 'text', role).execute()
    await db.schema
      .createTable('guests')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('secret_hash', 'text', (column) => column.notNull().unique())
      .addColumn('created_at', 'double precision', (column) => column.notNull())
      .addColumn('expires_at', 'double precision', (column) => column.notNull())
      .addColumn('opened_at', 'double precision')
      .execute()
    await db.schema
      .createTable('invitations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('secret_hash', 'text', (column) => column.notNull().unique())
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('email_key', 'text', (column) => column.notNull())
      .addColumn('tier', 'text', (column) => column.notNull())
      .addColumn('role', 'text', role)
      .addColumn('team_id', 'text', (column) => column.references('teams.id').onDelete('set null'))
      .addColumn('created_at', 'double precision', (column) => column.notNull())
      .addColumn('expires_at', 'double precision', (column) => column.notNull())
      .addColumn('accepted_at', 'double precision')
      .addColumn('revoked_at', 'double precision')
      .execute()
    await createIndex(db, 'invitations', ['created_at', 'id'])
    await createIndex(db, 'invitations', ['email_key'])
    const admins = db.schema.createIndex('users_admins').on('users').column('role')
    await admins.where(sql.ref('role'), '=', sql.lit('admin')).execute()
  },
}

/** When a key ended, or is to end, in Unix seconds; null for never. */
export const KEY_END = sql<number | null>`(coalesce(revoked_at, expires_at))`

/** A key's family is read in the order of ids, in pieces. */
const budgetFamilies: Migration = {
  up: async (db: Kysely<unknown>) => {
    await createIndex(db, 'api_keys', ['budget_key_id', 'id'])
    await db.schema.dropIndex('api_keys_by_budget_key_id').execute()
  },
}

/** Of a key's family those alone are read that were active lately: the ended ones stay, and become many. */
const activeFamilies: Migration = {
  up: async (db: Kysely<unknown>) => {
    const index = db.schema.createIndex('api_keys_by_budget_key_id_end_id').on('api_keys')
    await index.column('budget_key_id').expression(KEY_END).column('id').execute()
    await db.schema.dropIndex('api_keys_by_budget_key_id_id').execute()
  },
}

/**
 * Who made a key, so that a budget that is set later holds for what was made before. Of the keys that are there it is not known; that
 * those with budgets that a key made have made none since they have them is.
 */
const makers: Migration = {
  up: async (db: Kysely<unknown>) => {
    await db.schema.alterTable('api_keys').addColumn('maker_key_id', 'text').execute()
    await db.schema.alterTable('api_keys').addColumn('budgeted_at', 'double precision').execute()
    await sql`
      update api_keys set budgeted_at = created_at
      where budget_key_id is not null and (daily_token_budget is not null or monthly_token_budget is not null)`.execute(
      db,
    )
    const made = db.schema.createIndex('api_keys_by_maker_key_id_id').on('api_keys')
    await made.columns(['maker_key_id', 'id']).where(sql.ref('maker_key_id'), 'is not', null).execute()
    const budgeted = db.schema.createIndex('api_keys_budgeted_by_budget_key_id').on('api_keys')
    await budgeted.column('budget_key_id').where(sql.ref('budgeted_at'), 'is not', null).execute()
  },
}

async function createIndex(db: Kysely<unknown>, table: string, columns: string[]): Promise<void> {
  const index = db.schema.createIndex(`${table}_by_${columns.join('_')}`)
  await index.on(table).columns(columns).execute()
}

export const API_DATABASE: DatabaseKind = {
  holds: 'accounts and keys',
  option: '--api-db',
  applicationId: 0x534c4331,
  migrations: {
    '0001-accounts-and-keys': accountsAndKeys,
    '0002-tiers-in-use': tiersInUse,
    '0003-last-uses': lastUses,
    '0004-teams-and-budgets': teamsAndBudgets,
    '0005-audit-log': auditLog,
    '0006-console': consoleAccounts,
    '0007-budget-families': budgetFamilies,
    '0008-active-families': activeFamilies,
    '0009-makers': makers,
  },
}

/** @throws StartError */
export function openApiDatabase(
  location: string,
  options: OpenDatabaseOptions = {},
): Promise<SqliteKysely<ApiSchema>> {
  return openDatabase<ApiSchema>(location, API_DATABASE, options)
}
