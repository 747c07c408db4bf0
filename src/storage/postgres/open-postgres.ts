/**
 * Opens one PostgreSQL database, or explains in one sentence why it cannot be used. Several instances may start at once: one
 * migrates in a transaction, behind a lock of the database, and the others then find it done. What is no server makes the tables
 * of a new database only. Tables of another program, or of a newer version of this one, are left unchanged. The databases of
 * accounts and of usage may be one.
 */
import {
  CompiledQuery,
  Kysely,
  type Migration,
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type DatabaseConnection,
  type TransactionSettings,
} from 'kysely'
import pg from 'pg'
import { shownLocation } from '../../core/text/database-location.ts'
import { StartError } from '../../core/errors.ts'
import type { LogWriter } from '../../core/log-writer.ts'
import { newerSchema, olderSchema } from '../database-errors.ts'
import { postgresTrouble } from './postgres-errors.ts'
import { PostgresPool, unboundedConfig } from './postgres-pool.ts'

export interface PostgresKind<Schema> {
  /** Its contents, for messages: `accounts and keys`. */
  readonly holds: string
  /** The option that names the database, for messages. */
  readonly option: string
  readonly tables: readonly (keyof Schema & string)[]
  /**
   * The tables that a transaction locks against all other writers as it begins, so that what it reads stays so until it has
   * written. In the order in which a single statement that cascades locks them.
   */
  readonly lockedTables: readonly (keyof Schema & string)[]
  /** Connections that no transaction uses. @default none */
  readonly queryConnections?: number
  /** By name; run in the order of their names. */
  readonly migrations: Readonly<Record<string, Migration>>
}

export interface OpenPostgresOptions {
  readonly url: string
  readonly log: Pick<LogWriter, 'error' | 'info'>
  /** Whether a server opens it, which alone migrates what is there. @default false */
  readonly isServer?: boolean
}

/** The query builder, and the connections below it. */
export class PostgresDatabase<Schema> extends Kysely<Schema> {
  readonly pool: PostgresPool

  constructor(pool: PostgresPool, lockedTables: readonly string[]) {
    super({
      dialect: {
        createDriver: () => new LockingDriver(pool, lockedTables),
        createQueryCompiler: () => new PostgresQueryCompiler(),
        createAdapter: () => new PostgresAdapter(),
        createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
      },
    })
    this.pool = pool
  }

  /** The query builder ends the connections only where it has used one. */
  override async destroy(): Promise<void> {
    await super.destroy()
    await this.pool.end()
  }
}

/** Gives transactions what `begin immediate` gives those of SQLite: no other writer between their reads and their writes. */
class LockingDriver extends PostgresDriver {
  readonly #lockSql: string | null = null

  constructor(pool: PostgresPool, lockedTables: readonly string[]) {
    super({ pool })
    if (lockedTables.length > 0)
      this.#lockSql = `lock table ${lockedTables.join(', ')} in share row exclusive mode`
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    await super.beginTransaction(connection, settings)
    if (this.#lockSql !== null) await connection.executeQuery(CompiledQuery.raw(this.#lockSql))
  }
}

/** @throws StartError */
export async function openPostgres<Schema>(
  kind: PostgresKind<Schema>,
  options: OpenPostgresOptions,
): Promise<PostgresDatabase<Schema>> {
  await refuseWhenUnusable(kind, options.url, () => migrate(kind, options))
  return connectPostgres(kind, options)
}

/** One that another process of this instance has opened: it is not asked before it is used, and so may be away. */
export function connectPostgres<Schema>(
  kind: PostgresKind<Schema>,
  { url, log }: OpenPostgresOptions,
): PostgresDatabase<Schema> {
  const { holds, queryConnections = 0 } = kind
  const pool = new PostgresPool({ url, holds, log, queryConnections })
  return new PostgresDatabase<Schema>(pool, kind.lockedTables)
}

/** The database's name in messages. */
function describeDatabase({ holds, option }: PostgresKind<never>, url: string): string {
  return `The database of ${holds} '${shownLocation(url)}' (${option})`
}

async function refuseWhenUnusable(
  kind: PostgresKind<never>,
  url: string,
  open: () => Promise<void>,
): Promise<void> {
  try {
    await open()
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`${describeDatabase(kind, url)} cannot be used: ${postgresTrouble(error)}.`, 1)
  }
}

/** Of all migrations of Sluice; any number that no other program is likely to use. */
const MIGRATION_LOCK = 0x736c7569

/** An instance that has the lock longer than this is stuck. */
const LOCK_TIMEOUT = '60s'

/** @throws StartError, and what the database throws */
async function migrate(kind: PostgresKind<never>, options: OpenPostgresOptions): Promise<void> {
  const { url } = options
  const pool = new pg.Pool({ ...unboundedConfig(url), max: 1 })
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', () => {}))
  const db = new Kysely<MigrationSchema>({ dialect: new PostgresDialect({ pool }) })
  try {
    await db.transaction().execute(async (transaction) => {
      await sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`.execute(transaction)
      await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(transaction)
      await runMigrations(transaction, kind, options)
    })
  } finally {
    await db.destroy()
  }
}

/** One table for all databases of Sluice, as two of them may be one. */
interface MigrationSchema {
  readonly sluice_migrations: { readonly holds: string; readonly name: string }
}

async function runMigrations(
  db: Kysely<MigrationSchema>,
  kind: PostgresKind<never>,
  { url, isServer = false }: OpenPostgresOptions,
): Promise<void> {
  await db.schema
    .createTable('sluice_migrations')
    .ifNotExists()
    .addColumn('holds', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('sluice_migrations_key', ['holds', 'name'])
    .execute()
  const { holds } = kind
  const rows = await db.selectFrom('sluice_migrations').select('name').where('holds', '=', holds).execute()
  const applied = new Set(rows.map(({ name }) => name))
  await refuseForeign(db, { kind, url, applied })
  const problem = isServer ? null : olderSchema({ ...kind, applied })
  if (problem !== null) throw new StartError(`${describeDatabase(kind, url)} ${problem}.`, 1)
  for (const name of Object.keys(kind.migrations).sort()) {
    if (applied.has(name)) continue
    await kind.migrations[name]?.up(db)
    await db.insertInto('sluice_migrations').values({ holds, name }).execute()
  }
}

/** @throws StartError */
async function refuseForeign(
  db: Kysely<MigrationSchema>,
  { kind, url, applied }: { kind: PostgresKind<never>; url: string; applied: ReadonlySet<string> },
): Promise<void> {
  const newer = newerSchema({ ...kind, applied })
  if (newer !== null) throw new StartError(`${describeDatabase(kind, url)} ${newer}.`, 1)
  if (applied.size > 0) return
  for (const table of kind.tables) {
    const { rows } = await sql<{
      exists: boolean
    }>`select to_regclass(${table}) is not null as exists`.execute(db)
    if (rows[0]?.exists !== true) continue
    const problem = `holds something else: it has a table '${table}' already`
    throw new StartError(`${describeDatabase(kind, url)} ${problem}; nothing in it was changed.`, 1)
  }
}
