/**
 * Opens the configured databases and chooses the implementation of their stores. Separate from the rest of the server,
 * so that the operator commands open the same file in the same way and load nothing else.
 */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { ServerConfig } from '../config/server-config.ts'
import type { Clock } from '../core/clock.ts'
import { type ServiceError, StartError } from '../core/errors.ts'
import { type ApiDatabase, openApiDatabase } from '../storage/api-database.ts'
import type { CredentialStore } from '../storage/credential-store.ts'
import { SqliteCredentialStore } from '../storage/sqlite/sqlite-credential-store.ts'
import { SqliteUsageStore } from '../storage/sqlite/sqlite-usage-store.ts'
import { openUsageDatabase } from '../storage/usage-database.ts'
import type { OpenDatabaseOptions } from '../storage/sqlite/open-database.ts'
import type { UsageStore } from '../storage/usage-store.ts'

/** A file or `:memory:`. @throws StartError */
export function accountsLocation({ apiDb, dataDir }: Pick<ServerConfig, 'apiDb' | 'dataDir'>): string {
  return sqliteLocation(apiDb ?? path.join(dataDir, 'api.db'), '--api-db')
}

/** @throws StartError for a PostgreSQL URL */
function sqliteLocation(location: string, option: string): string {
  if (!/^postgres(?:ql)?:\/\//.test(location)) return location
  const problem = 'with a PostgreSQL URL is not available yet: give a file or :memory:.'
  throw new StartError(`${option} ${problem}`, 2)
}

export interface AccountsStorage {
  readonly database: ApiDatabase
  /** Over the same connection, and closed with it. */
  readonly credentials: CredentialStore
  /** The error of a database that was removed while it is open; null while it is in its place. */
  readonly whyLost: () => ServiceError | null
}

/**
 * The database of accounts and keys, created when it is missing.
 * @throws StartError
 */
export async function openAccounts(
  config: Pick<ServerConfig, 'apiDb' | 'dataDir'>,
  options: OpenDatabaseOptions = {},
): Promise<AccountsStorage> {
  if (config.apiDb === null) createDataFolder(config.dataDir)
  const database = await openApiDatabase(accountsLocation(config), options)
  const whyLost = () => database.driver.whyLost()
  return { database, credentials: new SqliteCredentialStore(database), whyLost }
}

/**
 * The server's database of usage, created when it is missing.
 * @throws StartError
 */
export async function openUsage(
  { usageDb, dataDir }: Pick<ServerConfig, 'usageDb' | 'dataDir'>,
  clock: Clock,
): Promise<UsageStore> {
  if (usageDb === null) createDataFolder(dataDir)
  const location = sqliteLocation(usageDb ?? path.join(dataDir, 'usage.db'), '--usage-db')
  const database = await openUsageDatabase(location, { isServer: true })
  return new SqliteUsageStore(database, clock)
}

function createDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new StartError(`The data folder '${folder}' (--data-dir) cannot be made${reason}.`, 1)
  }
}
