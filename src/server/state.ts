/**
 * What a server remembers: accounts, keys and usage in their databases, limits in memory. Opened before the server
 * listens, so that a database that cannot be used ends the start; closed last.
 */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { AccountService } from '../accounts/account-service.ts'
import { type Authenticator, createCombinedAuthenticator } from '../accounts/authenticator.ts'
import { createKeyAuthenticator } from '../accounts/database-authenticator.ts'
import { KeyService } from '../accounts/key-service.ts'
import { newKeySecret } from '../accounts/key-secret.ts'
import { PasswordHasher } from '../accounts/password-hasher.ts'
import { createOpenAuthenticator, createStaticKeyAuthenticator } from '../accounts/static-keys.ts'
import type { ServerConfig } from '../config/server-config.ts'
import type { Clock } from '../core/clock.ts'
import { StartError } from '../core/errors.ts'
import { FailedLoginThrottle } from '../limits/failed-login-throttle.ts'
import { MemoryLimiter } from '../limits/memory-limiter.ts'
import { type ApiDatabase, openApiDatabase } from '../storage/api-database.ts'
import { openUsageDatabase } from '../storage/usage-database.ts'
import { UsageRepository } from '../storage/usage-repository.ts'
import type { Log } from '../telemetry/log.ts'
import { UsagePruner } from '../usage/usage-pruner.ts'
import { UsageRecorder } from '../usage/usage-recorder.ts'
import { UsageReports } from '../usage/usage-reports.ts'

export interface ServerState {
  readonly authenticator: Authenticator
  /** The key made for this run because there was none and no account; null otherwise. */
  readonly operatorKey: string | null
  readonly accounts: AccountService
  readonly keys: KeyService
  readonly limiter: MemoryLimiter
  readonly usageRecorder: UsageRecorder
  readonly usageReports: UsageReports
  /** When no request is left. */
  close(): Promise<void>
}

export interface StateDeps {
  readonly log: Log
  readonly clock: Clock
  /** @default hashes with the parameters of production */
  readonly passwords?: PasswordHasher
}

/** @throws StartError */
export async function openState(config: ServerConfig, deps: StateDeps): Promise<ServerState> {
  const { log, clock, passwords = new PasswordHasher() } = deps
  const database = await openAccounts(config)
  const usageDatabase = await openUsageDatabase(
    databaseLocation(config.usageDb, { folder: config.dataDir, name: 'usage.db' }),
  ).catch(async (error: unknown) => {
    await database.destroy()
    throw error
  })
  const limiter = new MemoryLimiter(clock)
  const repository = new UsageRepository(usageDatabase, clock)
  const usageRecorder = new UsageRecorder(repository)
  const { usageRetentionDays: retentionDays } = config
  const pruner = retentionDays === null ? null : new UsagePruner({ repository, clock, log, retentionDays })
  const accounts = new AccountService({
    database,
    clock,
    passwords,
    throttle: new FailedLoginThrottle(clock),
    isRegistrationOpen: config.registration === 'open',
  })
  return {
    ...(await createAuthenticator(config, { database, accounts, clock })),
    accounts,
    keys: new KeyService({ database, limiter, clock }),
    limiter,
    usageRecorder,
    usageReports: new UsageReports(repository),
    close: async () => {
      await pruner?.close()
      await usageRecorder.close()
      await Promise.all([database.destroy(), usageDatabase.destroy()])
    },
  }
}

/** The database of accounts and keys alone, as the commands for operators need it. @throws StartError */
export function openAccounts({
  apiDb,
  dataDir,
}: Pick<ServerConfig, 'apiDb' | 'dataDir'>): Promise<ApiDatabase> {
  return openApiDatabase(databaseLocation(apiDb, { folder: dataDir, name: 'api.db' }))
}

/** What was given, or a file in the data folder, which is made when it is missing. */
function databaseLocation(given: string | null, { folder, name }: { folder: string; name: string }): string {
  if (given !== null) return given
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new StartError(`The data folder '${folder}' (--data-dir) cannot be made${reason}.`, 1)
  }
  return path.join(folder, name)
}

/** Keys as configured, then those of the database; one for this run when there is nobody else. */
async function createAuthenticator(
  { authMode, apiKeys }: ServerConfig,
  { database, accounts, clock }: { database: ApiDatabase; accounts: AccountService; clock: Clock },
): Promise<Pick<ServerState, 'authenticator' | 'operatorKey'>> {
  if (authMode === 'none') return { authenticator: createOpenAuthenticator(), operatorKey: null }
  const operatorKey = apiKeys.length === 0 && !(await accounts.hasAnyAccount()) ? newKeySecret() : null
  const staticKeys = operatorKey === null ? apiKeys : [operatorKey]
  const authenticator = createCombinedAuthenticator(
    createStaticKeyAuthenticator(staticKeys),
    createKeyAuthenticator({ database, clock }),
  )
  return { authenticator, operatorKey }
}
