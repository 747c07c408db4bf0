/**
 * The databases where the configuration says they are. Apart from the rest of the server, so that the commands for
 * operators open the same file in the same way and load nothing else.
 */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { ServerConfig } from '../config/server-config.ts'
import { StartError } from '../core/errors.ts'
import { type ApiDatabase, openApiDatabase } from '../storage/api-database.ts'
import { openUsageDatabase, type UsageDatabase } from '../storage/usage-database.ts'

/** A file, `:memory:` or a PostgreSQL URL. */
export function accountsLocation({ apiDb, dataDir }: Pick<ServerConfig, 'apiDb' | 'dataDir'>): string {
  return apiDb ?? path.join(dataDir, 'api.db')
}

/**
 * The database of accounts and keys, made when it is missing.
 * @throws StartError
 */
export async function openAccounts(config: Pick<ServerConfig, 'apiDb' | 'dataDir'>): Promise<ApiDatabase> {
  if (config.apiDb === null) makeDataFolder(config.dataDir)
  return await openApiDatabase(accountsLocation(config))
}

/**
 * The database of usage, made when it is missing.
 * @throws StartError
 */
export async function openUsage({
  usageDb,
  dataDir,
}: Pick<ServerConfig, 'usageDb' | 'dataDir'>): Promise<UsageDatabase> {
  if (usageDb === null) makeDataFolder(dataDir)
  return await openUsageDatabase(usageDb ?? path.join(dataDir, 'usage.db'))
}

function makeDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new StartError(`The data folder '${folder}' (--data-dir) cannot be made${reason}.`, 1)
  }
}
