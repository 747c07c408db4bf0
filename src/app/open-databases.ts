/**
 * Opens the configured databases and chooses the implementation of their stores. Separate from the rest of the server,
 * so that the operator commands open the same database in the same way and load nothing else. PostgreSQL's client is loaded
 * only where a URL asks for it.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { ServerConfig } from '../config/server-config.ts'
import type { Clock } from '../core/clock.ts'
import { isPostgresUrl } from '../core/text/database-location.ts'
import { type ServiceError, StartError } from '../core/errors.ts'
import type { LogWriter } from '../core/log-writer.ts'
import { folderTrouble, makeFolder } from '../core/make-folder.ts'
import { type ApiDatabase, openApiDatabase } from '../storage/api-database.ts'
import type { CredentialStore, InstanceCredentials } from '../storage/credential-store.ts'
import { SqliteCredentialStore } from '../storage/sqlite/sqlite-credential-store.ts'
import { SqliteUsageStore } from '../storage/sqlite/sqlite-usage-store.ts'
import { openUsageDatabase } from '../storage/usage-database.ts'
import type { OpenDatabaseOptions } from '../storage/sqlite/open-database.ts'
import type { UsageReader, UsageStore } from '../storage/usage-store.ts'

/** A file, `:memory:` or the URL of a PostgreSQL database. */
export function accountsLocation({ apiDb, dataDir }: Pick<ServerConfig, 'apiDb' | 'dataDir'>): string {
  return apiDb ?? path.join(dataDir, 'api.db')
}

export interface StorageDeps {
  readonly clock: Clock
  readonly log: Pick<LogWriter, 'error' | 'info'>
}

export interface AccountsStorage {
  readonly database: ApiDatabase
  /** Over the same connections, and closed with them. */
  readonly credentials: CredentialStore
  /** For worker processes; null where each of them looks into the database itself. */
  readonly instanceCredentials: InstanceCredentials | null
  /** The error of a database that was removed while it is open; null while it is in its place. */
  readonly whyLost: () => ServiceError | null
  /** Null for a file. */
  readonly isUp: (() => boolean) | null
}

export interface UsageStorage {
  readonly usage: UsageStore
  /** Null for a file. */
  readonly isUp: (() => boolean) | null
}

interface OpenAccountsDeps extends StorageDeps, OpenDatabaseOptions {
  /** Of the supervisor, which has opened the database. @default none: this is no worker process */
  readonly instanceCredentials?: InstanceCredentials | undefined
}

/**
 * The database of accounts and keys, created when it is missing.
 * @throws StartError
 */
export async function openAccounts(
  config: Pick<ServerConfig, 'apiDb' | 'dataDir'>,
  { instanceCredentials, ...deps }: OpenAccountsDeps,
): Promise<AccountsStorage> {
  const location = accountsLocation(config)
  if (isPostgresUrl(location)) {
    const stores = await import('../storage/postgres/open-stores.ts')
    const options = { ...deps, url: location }
    const opened =
      instanceCredentials === undefined
        ? await stores.openPostgresAccounts(options)
        : stores.connectPostgresAccounts(options, instanceCredentials)
    return { ...opened, whyLost: () => null }
  }
  if (config.apiDb === null) createDataFolder(config.dataDir)
  const database = await openApiDatabase(location, deps)
  const whyLost = () => database.driver.whyLost()
  const credentials = new SqliteCredentialStore(database)
  return { database, credentials, instanceCredentials: null, whyLost, isUp: null }
}

/**
 * The server's database of usage, created when it is missing.
 * @throws StartError
 */
export async function openUsage(
  { usageDb, dataDir }: Pick<ServerConfig, 'usageDb' | 'dataDir'>,
  deps: StorageDeps,
): Promise<UsageStorage> {
  const location = usageDb ?? path.join(dataDir, 'usage.db')
  if (usageDb === null || isPostgresUrl(location)) createDataFolder(dataDir)
  if (isPostgresUrl(location)) {
    const { openPostgresUsage } = await import('../storage/postgres/open-stores.ts')
    return await openPostgresUsage({ ...deps, url: location, dataDir })
  }
  const database = await openUsageDatabase(location, { isServer: true })
  return { usage: new SqliteUsageStore(database, deps.clock), isUp: null }
}

/**
 * Usage as another process reads it while the server runs or not.
 * @throws StartError also where there is none
 */
export async function openUsageReader(
  { usageDb, dataDir }: Pick<ServerConfig, 'usageDb' | 'dataDir'>,
  deps: StorageDeps,
): Promise<{ readonly reader: UsageReader; readonly close: () => Promise<void> }> {
  const location = usageDb ?? path.join(dataDir, 'usage.db')
  if (isPostgresUrl(location)) {
    const { openPostgresUsageReader } = await import('../storage/postgres/open-stores.ts')
    return await openPostgresUsageReader({ ...deps, url: location })
  }
  if (!existsSync(location)) {
    const problem = `There is no database of usage at '${location}' (--usage-db, --data-dir)`
    throw new StartError(`${problem}; the server makes it.`, 1)
  }
  const database = await openUsageDatabase(location)
  const reader = new SqliteUsageStore(database, deps.clock)
  return { reader, close: () => reader.close() }
}

function createDataFolder(folder: string): void {
  try {
    makeFolder(folder)
  } catch (error) {
    throw new StartError(
      `The data folder '${folder}' (--data-dir) cannot be made: ${folderTrouble(error)}.`,
      1,
    )
  }
}
