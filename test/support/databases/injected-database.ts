/** The database that the suites of what is stored run on: SQLite, or PostgreSQL in the project of that name. */
import { inject } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import { type ApiDatabase, openApiDatabase } from '../../../src/storage/api-database.ts'
import type { CredentialStore } from '../../../src/storage/credential-store.ts'
import { openPostgresAccounts } from '../../../src/storage/postgres/open-stores.ts'
import { SqliteCredentialStore } from '../../../src/storage/sqlite/sqlite-credential-store.ts'
import { createPostgresDatabase } from './throw-away-postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    readonly database: 'SQLite' | 'PostgreSQL'
  }
}

export const isPostgres = (): boolean => inject('database') === 'PostgreSQL'

/** The value of `--api-db` or `--usage-db` for a new database that ends with the tests. */
export async function newDatabaseLocation(): Promise<string> {
  return isPostgres() ? await createPostgresDatabase() : ':memory:'
}

export const QUIET_LOG = { error: () => {}, info: () => {} }

export interface Accounts {
  readonly database: ApiDatabase
  readonly credentials: CredentialStore
}

/** @param location of a SQLite file; null takes a new database of the kind that the suite runs on */
export async function openAccountsDatabase(clock: Clock, location: string | null): Promise<Accounts> {
  if (location === null && isPostgres()) {
    const url = await createPostgresDatabase()
    return await openPostgresAccounts({ url, clock, log: QUIET_LOG, isServer: true })
  }
  const database = await openApiDatabase(location ?? ':memory:')
  return { database, credentials: new SqliteCredentialStore(database) }
}
