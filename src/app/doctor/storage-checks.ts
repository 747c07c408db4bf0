/** The databases and Redis, as they are: nothing is made or changed. */
import path from 'node:path'
import type { ServerConfig } from '../../config/server-config.ts'
import { isPostgresUrl, shownLocation } from '../../core/text/database-location.ts'
import type { DatabaseKind } from '../../storage/sqlite/open-database.ts'
import { accountsLocation } from '../open-databases.ts'
import { type Finding, ok, warning } from './finding.ts'

/** @throws StartError */
export async function checkAccountsDatabase(
  config: Pick<ServerConfig, 'apiDb' | 'dataDir'>,
): Promise<Finding> {
  const { API_DATABASE } = await import('../../storage/api-database.ts')
  return await checkDatabase(
    'accounts database',
    { location: accountsLocation(config), isOurs: config.apiDb === null },
    API_DATABASE,
  )
}

/** @throws StartError */
export async function checkUsageDatabase({
  usageDb,
  dataDir,
}: Pick<ServerConfig, 'usageDb' | 'dataDir'>): Promise<Finding> {
  const { USAGE_DATABASE } = await import('../../storage/usage-database.ts')
  const location = usageDb ?? path.join(dataDir, 'usage.db')
  return await checkDatabase('usage database', { location, isOurs: usageDb === null }, USAGE_DATABASE)
}

const BROUGHT_UP_TO_DATE = ', of an older version of Sluice, which the start brings up to date'

/** @param place whose folder the start makes where it is ours: the data folder */
async function checkDatabase(
  subject: string,
  { location, isOurs }: { readonly location: string; readonly isOurs: boolean },
  kind: DatabaseKind,
): Promise<Finding> {
  if (isPostgresUrl(location)) {
    const { askPostgresVersion } = await import('../../storage/postgres/ask-version.ts')
    const { server, isOlder } = await askPostgresVersion(location, kind)
    return ok(
      subject,
      `PostgreSQL ${server} at ${shownLocation(location)}${isOlder ? BROUGHT_UP_TO_DATE : ''}.`,
    )
  }
  const { checkDatabaseFile } = await import('../../storage/sqlite/check-file.ts')
  const file = await checkDatabaseFile(location, kind, { makesFolder: isOurs })
  switch (file.state) {
    case 'missing':
      return ok(subject, `SQLite, '${location}', which the start makes.`)
    case 'there':
      return ok(subject, `SQLite, '${location}'.`)
    case 'older':
      return ok(subject, `SQLite, '${location}'${BROUGHT_UP_TO_DATE}.`)
    case 'in use':
      return warning(
        subject,
        `SQLite, '${location}', is in use by ${file.holder}: another server needs files of its own (--data-dir).`,
      )
  }
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
