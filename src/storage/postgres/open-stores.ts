/** Opens the stores of PostgreSQL: what a server with a URL in `--api-db` or `--usage-db` loads of this folder. */
import path from 'node:path'
import type { Clock } from '../../core/clock.ts'
import { StartError } from '../../core/errors.ts'
import type { LogWriter } from '../../core/log-writer.ts'
import { errorCode } from '../../core/system-error.ts'
import type { ApiDatabase } from '../api-database.ts'
import type { CredentialStore, InstanceCredentials } from '../credential-store.ts'
import { acquireServerLock, describeHolder } from '../sqlite/server-lock.ts'
import type { UsageReader, UsageStore } from '../usage-store.ts'
import { CredentialNotices } from './credential-listener.ts'
import { connectPostgresApiDatabase, openPostgresApiDatabase } from './postgres-api-database.ts'
import { PostgresCredentialStore } from './postgres-credential-store.ts'
import { openPostgresUsageDatabase } from './postgres-usage-database.ts'
import { PostgresUsageReader } from './postgres-usage-reader.ts'
import { PostgresUsageStore } from './postgres-usage-store.ts'
import { UsageFile } from './usage-file.ts'

interface OpenOptions {
  readonly url: string
  readonly clock: Clock
  readonly log: Pick<LogWriter, 'error' | 'info'>
}

export interface PostgresAccounts {
  readonly database: ApiDatabase
  readonly credentials: CredentialStore
  /** For the other processes of this instance. */
  readonly instanceCredentials: InstanceCredentials
  readonly isUp: () => boolean
}

/** @throws StartError */
export async function openPostgresAccounts({
  url,
  clock,
  log,
  isServer = false,
}: OpenOptions & { readonly isServer?: boolean }): Promise<PostgresAccounts> {
  const database = await openPostgresApiDatabase({ url, log, isServer })
  const credentials = new PostgresCredentialStore(database, clock)
  if (isServer) {
    const notices = new CredentialNotices(url, credentials)
    database.pool.onEnd(() => notices.close())
  }
  return { database, credentials, instanceCredentials: credentials, isUp: () => !database.pool.isAway }
}

/**
 * In a worker process: with connections of its own for what it changes, and the credentials that the whole instance knows.
 */
export function connectPostgresAccounts(
  { url, log }: Omit<OpenOptions, 'clock'>,
  instanceCredentials: InstanceCredentials,
): PostgresAccounts {
  const database = connectPostgresApiDatabase({ url, log })
  database.pool.onWrite((changed) => instanceCredentials.forgetAny(changed))
  const isUp = () => !database.pool.isAway
  return { database, credentials: instanceCredentials, instanceCredentials, isUp }
}

/** @throws StartError, also where another server uses the data folder: the file of waiting usage is of one. */
export async function openPostgresUsage({
  url,
  clock,
  log,
  dataDir,
}: OpenOptions & { readonly dataDir: string }): Promise<{
  readonly usage: UsageStore
  readonly isUp: () => boolean
}> {
  const { file, release } = await openWaitingUsage(dataDir)
  try {
    const database = await openPostgresUsageDatabase({ url, log, isServer: true })
    database.pool.onEnd(async () => release())
    const usage = new PostgresUsageStore({ database, waiting: file, clock, log })
    return { usage, isUp: () => !database.pool.isAway }
  } catch (error) {
    await file.close()
    release()
    throw error
  }
}

/** For a command beside the server, and without a file of waiting usage. @throws StartError */
export async function openPostgresUsageReader({ url, log }: Omit<OpenOptions, 'clock'>): Promise<{
  readonly reader: UsageReader
  readonly close: () => Promise<void>
}> {
  const database = await openPostgresUsageDatabase({ url, log })
  return { reader: new PostgresUsageReader(database), close: () => database.destroy() }
}

async function openWaitingUsage(dataDir: string): Promise<{ file: UsageFile; release: () => void }> {
  const location = path.join(path.resolve(dataDir), 'waiting-usage.jsonl')
  const refuse = (trouble: string) =>
    new StartError(`The file of waiting usage '${location}' (--data-dir) cannot be used: ${trouble}.`, 1)
  let release = () => {}
  try {
    const lock = acquireServerLock(location)
    if (lock.outcome === 'refused') throw refuse(`it is in use by ${describeHolder(lock.holder)}`)
    release = lock.release
    return { file: await UsageFile.open(location), release }
  } catch (error) {
    release()
    throw error instanceof StartError ? error : refuse(errorCode(error) ?? String(error))
  }
}
