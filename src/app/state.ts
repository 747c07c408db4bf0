/**
 * The services over the databases and the shared state: accounts, keys, usage, limits. Opened before the server
 * listens, so that an unusable database fails the start; closed last.
 */
import { randomBytes } from 'node:crypto'
import { type AdminCheck, AdminKeys } from '../accounts/admin-secret.ts'
import { AccountService } from '../accounts/account-service.ts'
import {
  type Authenticator,
  createCombinedAuthenticator,
  createKeyAuthenticator,
  createOpenAuthenticator,
  createStaticKeyAuthenticator,
} from '../accounts/authenticator.ts'
import { BrowserSessions } from '../accounts/sessions/browser-sessions.ts'
import { GuestService } from '../accounts/sessions/guest-service.ts'
import { AuditLog } from '../accounts/audit-log.ts'
import { createGroupNames, type FindGroupNames } from '../accounts/group-names.ts'
import { InvitationService } from '../accounts/sessions/invitation-service.ts'
import { KeyService } from '../accounts/keys/key-service.ts'
import { KeyUses, recordUses } from '../accounts/keys/key-uses.ts'
import { newKeySecret } from '../accounts/keys/key-secret.ts'
import { TeamService } from '../accounts/team-service.ts'
import { PasswordHasher } from '../accounts/password-hasher.ts'
import { findServedTiers } from '../accounts/account-tier.ts'
import { listSecrets } from '../config/secret-kinds.ts'
import type { ServerConfig } from '../config/server-config.ts'
import type { Clock } from '../core/clock.ts'
import type { SharedState } from '../core/shared-state.ts'
import type { Tier } from '../core/tiers.ts'
import { AttemptThrottle } from '../limits/attempt-throttle.ts'
import { type ReadSpent, TokenBudgets } from '../limits/token-budgets.ts'
import { RequestLimiter } from '../limits/request-limiter.ts'
import type { ApiDatabase } from '../storage/api-database.ts'
import type { InstanceCredentials } from '../storage/credential-store.ts'
import { findBudgetKeyIds } from '../storage/budgets/key-families.ts'
import { ensureSetting } from '../storage/settings-repository.ts'
import type { UsageStore } from '../storage/usage-store.ts'
import type { Log } from '../telemetry/log.ts'
import { UsagePruner } from '../usage/usage-pruner.ts'
import { UsageRecorder } from '../usage/usage-recorder.ts'
import { UsageReports } from '../usage/usage-reports.ts'
import { type AccountsStorage, openAccounts, openUsage, type UsageStorage } from './open-databases.ts'
import { StorageWatch } from './storage-watch.ts'

const OPERATOR_TIER: Tier = 'enterprise'

/** The keys of `--api-keys`, the admin key or an account makes others; with `--auth-mode none` no key is asked for. */
export type NoOperatorKeyReason = 'open' | 'api-keys' | 'admin-key' | 'accounts'

export interface ServerState {
  readonly authenticator: Authenticator
  /** The key made for this run because there was no other; null otherwise. */
  readonly operatorKey: string | null
  /** Why this run has no key of its own; null where it has one. */
  readonly withoutOperatorKey: NoOperatorKeyReason | null
  /** Of the ids of static keys; null where every caller is let in. */
  readonly staticKeySalt: string | null
  /** Null where the admin API is off. */
  readonly adminCheck: AdminCheck | null
  /** Null where nothing opens the metrics. */
  readonly metricsCheck: AdminCheck | null
  /** The keys behind it, which may be replaced while it runs. */
  readonly adminKeys: AdminKeys
  readonly accounts: AccountService
  readonly browserSessions: BrowserSessions
  /** Behind them, for worker processes: one that starts while the database is away cannot read it. */
  readonly browserSecret: string
  readonly guests: GuestService
  readonly invitations: InvitationService
  readonly keys: KeyService
  readonly limiter: RequestLimiter
  readonly tokenBudgets: TokenBudgets
  readonly teams: TeamService
  readonly auditLog: AuditLog
  /** What is behind the next two. */
  readonly usage: UsageStore
  readonly usageRecorder: UsageRecorder
  readonly usageReports: UsageReports
  readonly findGroupNames: FindGroupNames
  readonly storageWatch: StorageWatch
  /** For worker processes; null where each of them looks into the database itself. */
  readonly instanceCredentials: InstanceCredentials | null
  /** Of the databases that are servers. */
  readonly isDatabaseUp: Readonly<Partial<Record<'accounts' | 'usage', () => boolean>>>
  /** Tiers above free that have callers now. */
  readonly findServedTiers: () => Promise<readonly Tier[]>
  /** Call when no request is running. */
  close(): Promise<void>
}

/** Who may call without a key of the database; decided once, when the service starts. */
export type OperatorAccess = Pick<ServerState, 'operatorKey' | 'withoutOperatorKey' | 'staticKeySalt'>

/** What a worker process has of its supervisor. */
export interface SupervisedState extends UsageStorage {
  readonly operator: OperatorAccess
  readonly browserSecret: string
  /** Used where the supervisor has them. */
  readonly instanceCredentials: InstanceCredentials
}

export interface StateDeps {
  readonly log: Log
  readonly clock: Clock
  readonly shared: Pick<SharedState, 'requests' | 'attempts'>
  /** @default a process that has the databases for itself */
  readonly supervised?: SupervisedState
  /** @default hashes with the parameters of production */
  readonly passwords?: PasswordHasher
}

/** @throws StartError */
export async function openState(config: ServerConfig, deps: StateDeps): Promise<ServerState> {
  const open: (() => Promise<void>)[] = []
  const closeAll = async () => void (await Promise.all(open.map((close) => close())))
  try {
    const { supervised } = deps
    const accounts = await openAccounts(config, {
      ...deps,
      isServer: supervised === undefined,
      instanceCredentials: supervised?.instanceCredentials,
    })
    open.push(() => accounts.database.destroy())
    const { usage, isUp: isUsageUp } = supervised ?? (await openUsage(config, deps))
    open.push(() => usage.close())
    const parts = await createParts(config, { ...deps, ...accounts, usage })
    const storageWatch = new StorageWatch({
      storages: [accounts.whyLost, () => usage.whyLost()],
      log: deps.log,
    })
    return {
      ...parts,
      usage,
      instanceCredentials: accounts.instanceCredentials,
      isDatabaseUp: {
        ...(accounts.isUp && { accounts: accounts.isUp }),
        ...(isUsageUp && { usage: isUsageUp }),
      },
      storageWatch,
      close: async () => {
        storageWatch.close()
        await parts.pruner?.close()
        await parts.usageRecorder.close()
        await parts.keyUses.close()
        await closeAll()
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

interface PartsDeps extends StateDeps, AccountsStorage {
  readonly usage: UsageStore
}

async function createParts(config: ServerConfig, deps: PartsDeps) {
  const { database, usage, clock, shared, log, passwords = new PasswordHasher() } = deps
  const throttle = new AttemptThrottle(shared.attempts)
  const accounts = new AccountService({
    database,
    clock,
    passwords,
    throttle,
    isRegistrationOpen: config.registration === 'open',
  })
  const { usageRetentionDays: retentionDays } = config
  const adminKeys = new AdminKeys(listSecrets(config.adminKey), throttle)
  const tokenBudgets = new TokenBudgets({
    limits: shared.requests,
    clock,
    readSpent: createSpentReading(database, usage),
  })
  const keyUses = new KeyUses({ database, clock, log })
  const guests = new GuestService({ database, throttle, clock })
  const browserSecret =
    deps.supervised?.browserSecret ??
    (await ensureSetting(database, 'browser-sessions', randomBytes(32).toString('hex')))
  const authentication = await createAuthenticator(config, { ...deps, accounts })
  return {
    ...authentication,
    authenticator: recordUses(authentication.authenticator, keyUses),
    keyUses,
    adminCheck: adminKeys.check,
    metricsCheck: adminKeys.checkBeside(listSecrets(config.metricsKey)),
    adminKeys,
    accounts,
    guests,
    invitations: new InvitationService({ database, accounts, throttle, clock }),
    browserSecret,
    browserSessions: new BrowserSessions({
      authenticator: authentication.authenticator,
      guests,
      secret: browserSecret,
    }),
    keys: new KeyService({ database, requests: shared.requests, clock, uses: keyUses }),
    limiter: new RequestLimiter(shared.requests, tokenBudgets),
    tokenBudgets,
    teams: new TeamService({ database, clock }),
    auditLog: new AuditLog({ database, clock, log }),
    usageRecorder: new UsageRecorder(usage),
    usageReports: new UsageReports(usage),
    findGroupNames: createGroupNames(database),
    findServedTiers: async () => {
      const tiers = await findServedTiers(database, clock.unixSeconds())
      return hasOperatorCredential(authentication) ? [...new Set([...tiers, OPERATOR_TIER])] : tiers
    },
    pruner:
      retentionDays === null || deps.supervised !== undefined
        ? null
        : new UsagePruner({ store: usage, clock, log, retentionDays }),
  }
}

/** The tokens of a key are those of the keys, too, that count under its budgets. */
function createSpentReading(database: ApiDatabase, usage: UsageStore): ReadSpent {
  return async ({ scope, id }, sinceUnixSeconds) => {
    let tokens = 0
    for await (const ids of scope === 'key' ? findBudgetKeyIds(database, id, sinceUnixSeconds) : [[id]])
      tokens += await usage.sumTokens({ scope, ids }, sinceUnixSeconds)
    return tokens
  }
}

/** Static keys first, then those of the database; where nobody could call or make a key, one key for this run. */
async function createAuthenticator(
  config: ServerConfig,
  { database, credentials, accounts, clock, supervised }: PartsDeps & { readonly accounts: AccountService },
): Promise<OperatorAccess & Pick<ServerState, 'authenticator'>> {
  const access = supervised?.operator ?? (await chooseOperatorAccess(config, { accounts, database }))
  const { operatorKey, staticKeySalt } = access
  if (staticKeySalt === null) return { ...access, authenticator: createOpenAuthenticator() }
  const staticKeys = operatorKey === null ? config.apiKeys : [operatorKey]
  const authenticator = createCombinedAuthenticator(
    createStaticKeyAuthenticator(staticKeys, staticKeySalt),
    createKeyAuthenticator({ credentials, clock }),
  )
  return { ...access, authenticator }
}

/** Whether a static key is valid in this run, or every caller is the operator. */
function hasOperatorCredential({ withoutOperatorKey }: Pick<ServerState, 'withoutOperatorKey'>): boolean {
  return withoutOperatorKey !== 'admin-key' && withoutOperatorKey !== 'accounts'
}

async function chooseOperatorAccess(
  config: ServerConfig,
  { accounts, database }: { readonly accounts: AccountService; readonly database: ApiDatabase },
): Promise<OperatorAccess> {
  const withoutOperatorKey = await whyNoOperatorKey(config, accounts)
  const isOpen = withoutOperatorKey === 'open'
  return {
    operatorKey: withoutOperatorKey === null ? newKeySecret() : null,
    withoutOperatorKey,
    staticKeySalt: isOpen
      ? null
      : await ensureSetting(database, 'static-key-id-salt', randomBytes(16).toString('hex')),
  }
}

async function whyNoOperatorKey(
  { authMode, apiKeys, adminKey }: ServerConfig,
  accounts: AccountService,
): Promise<NoOperatorKeyReason | null> {
  if (authMode === 'none') return 'open'
  if (apiKeys.length > 0) return 'api-keys'
  if (adminKey !== null) return 'admin-key'
  return (await accounts.hasAnyAccount()) ? 'accounts' : null
}
