/** Whether a PostgreSQL database can be reached with its URL; changes nothing. */
import pg from 'pg'
import { StartError } from '../../core/errors.ts'
import { shownLocation } from '../../core/text/database-location.ts'
import type { DatabaseKind } from '../sqlite/open-database.ts'
import { postgresTrouble } from './postgres-errors.ts'
import { connectionConfig } from './postgres-pool.ts'

/** Resolves with `16.4`. @throws StartError */
export async function askPostgresVersion(
  url: string,
  { holds, option }: Pick<DatabaseKind, 'holds' | 'option'>,
): Promise<string> {
  const client = new pg.Client(connectionConfig(url))
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    return rows[0]?.server_version.split(' ')[0] ?? 'of an unknown version'
  } catch (error) {
    throw new StartError(
      `The database of ${holds} '${shownLocation(url)}' (${option}) cannot be used: ${postgresTrouble(error)}.`,
      1,
    )
  } finally {
    await client.end().catch(() => {})
  }
}
