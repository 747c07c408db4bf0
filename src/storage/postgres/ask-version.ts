/** Whether a PostgreSQL database can be used with its URL, and of which version are its server and its tables; changes nothing. */
import pg from 'pg'
import { StartError } from '../../core/errors.ts'
import { shownLocation } from '../../core/text/database-location.ts'
import { newerSchema, olderSchema } from '../database-errors.ts'
import type { DatabaseKind } from '../sqlite/open-database.ts'
import { postgresTrouble } from './postgres-errors.ts'
import { connectionConfig } from './postgres-pool.ts'

interface PostgresVersion {
  /** `16.4` */
  readonly server: string
  /** Whether the tables are of an earlier version, which the start brings up to date. */
  readonly isOlder: boolean
}

/** @throws StartError, also for tables of a later version */
export async function askPostgresVersion(
  url: string,
  { holds, option, migrations }: DatabaseKind,
): Promise<PostgresVersion> {
  const described = `The database of ${holds} '${shownLocation(url)}' (${option})`
  const client = new pg.Client(connectionConfig(url))
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    const applied = await readMigrations(client, holds)
    const problem = newerSchema({ applied, migrations })
    if (problem !== null) throw new StartError(`${described} ${problem}.`, 1)
    return {
      server: rows[0]?.server_version.split(' ')[0] ?? 'of an unknown version',
      isOlder: olderSchema({ applied, migrations }) !== null,
    }
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`${described} cannot be used: ${postgresTrouble(error)}.`, 1)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Names of those that it has; none in a new database. */
async function readMigrations(client: pg.Client, holds: string): Promise<ReadonlySet<string>> {
  const table = await client.query<{ exists: boolean }>(
    "select to_regclass('sluice_migrations') is not null as exists",
  )
  if (table.rows[0]?.exists !== true) return new Set()
  const { rows } = await client.query<{ name: string }>(
    'select name from sluice_migrations where holds = $1',
    [holds],
  )
  return new Set(rows.map(({ name }) => name))
}
