/** The databases and Redis, as they are: nothing is made or changed. */
import path from 'node:path'
import type { ServerConfig } from '../../config/server-config.ts'
import { isPostgresUrl, shownLocation } from '../../core/text/database-location.ts'
import type { DatabaseKind } from '../../storage/sqlite/open-database.ts'
import { accountsLocation } from '../open-databases.ts'
import { type Finding, ok } from './finding.ts'

/** @throws StartError */
export async function checkAccountsDatabase(
  config: Pick<ServerConfig, 'apiDb' | 'dataDir'>,
): Promise<Finding> {
  const { API_DATABASE } = await import('../../storage/api-database.ts')
  return await checkDatabase('accounts database', accountsLocation(config), API_DATABASE)
}

/** @throws StartError */
export async function checkUsageDatabase({
  usageDb,
  dataDir,
}: Pick<ServerConfig, 'usageDb' | 'dataDir'>): Promise<Finding> {
  const { USAGE_DATABASE } = await import('../../storage/usage-database.ts')
  return await checkDatabase('usage database', usageDb ?? path.join(dataDir, 'usage.db'), USAGE_DATABASE)
}

async function checkDatabase(subject: string, location: string, kind: DatabaseKind): Promise<Finding> {
  if (isPostgresUrl(location)) {
    const { askPostgresVersion } = await import('../../storage/postgres/ask-version.ts')
    return ok(
      subject,
      `PostgreSQL ${await askPostgresVersion(location, kind)} at ${shownLocation(location)}.`,
    )
  }
  const { checkDatabaseFile } = await import('../../storage/sqlite/check-file.ts')
  const exists = await checkDatabaseFile(location, kind)
  return ok(subject, exists ? `SQLite, '${location}'.` : `SQLite, '${location}', which the start makes.`)
}

/** @throws StartError where it refuses, or does not answer */
export async function checkRedis(url: string): Promise<Finding> {
  const { RedisLink } = await import('../../limits/redis/redis-link.ts')
  const link = new RedisLink({ url, log: { error: () => {}, info: () => {} } })
  try {
    await link.connect({ isRequired: true })
    return ok('Redis', `It answers at ${shownLocation(url)}.`)
  } finally {
    await link.close()
  }
}
