/** Accounts and keys over a real database, with a clock that is moved by hand and passwords that are cheap to hash. */
import { verify } from '@node-rs/argon2'
import { AccountService, type NewAccount } from '../../../src/accounts/account-service.ts'
import type { Authenticator } from '../../../src/accounts/authenticator.ts'
import { createKeyAuthenticator } from '../../../src/accounts/authenticator.ts'
import { KeyService } from '../../../src/accounts/keys/key-service.ts'
import { PasswordHasher } from '../../../src/accounts/password-hasher.ts'
import { VirtualClock } from '../../../src/core/clock.ts'
import { type Credential, OPERATOR_ACCOUNT_ID } from '../../../src/core/credential.ts'
import { ServiceError } from '../../../src/core/errors.ts'
import type { SharedState } from '../../../src/core/shared-state.ts'
import type { Tier } from '../../../src/core/tiers.ts'
import { AttemptThrottle } from '../../../src/limits/attempt-throttle.ts'
import { MemoryState } from '../../../src/limits/memory/memory-state.ts'
import { RequestLimiter } from '../../../src/limits/request-limiter.ts'
import type { ApiDatabase } from '../../../src/storage/api-database.ts'
import { openAccountsDatabase } from '../databases/injected-database.ts'
import { whenUnused } from '../shared.ts'

export const ADDRESS = '192.0.2.1'
export const PASSWORD = 'correct horse'

/** The same algorithm, and a thousandth of the work. */
export const CHEAP_ARGON2 = { memoryKib: 8, passes: 1, lanes: 1 }

export const DAY_MS = 24 * 60 * 60 * 1000

export interface AccountServices {
  readonly database: ApiDatabase
  readonly clock: VirtualClock
  readonly shared: MemoryState
  readonly limiter: RequestLimiter
  readonly accounts: AccountService
  readonly keys: KeyService
  readonly authenticator: Authenticator
  /** Registers a user, of this tier. */
  readonly registered: (email?: string, tier?: Tier) => Promise<NewAccount>
  /** The credential behind a secret that must be good. */
  readonly credentialOf: (keySecret: string) => Promise<Credential>
}

export interface AccountServicesOptions {
  /** Of a SQLite file. @default a new database of the kind that the suite runs on */
  readonly location?: string
  readonly isRegistrationOpen?: boolean
  /** @default argon2's */
  readonly verifyHash?: typeof verify
  /** What stands between the services and the state. */
  readonly wrapShared?: (shared: SharedState) => SharedState
}

export async function createAccountServices(options: AccountServicesOptions = {}): Promise<AccountServices> {
  const { location = null, isRegistrationOpen = true, verifyHash = verify } = options
  const { wrapShared = (state) => state } = options
  const clock = new VirtualClock(1_700_000_000.25)
  const { database, credentials } = await openAccountsDatabase(clock, location)
  whenUnused(() => database.destroy())
  const shared = new MemoryState(clock)
  const { requests, attempts } = wrapShared(shared)
  const accounts = new AccountService({
    database,
    passwords: new PasswordHasher(CHEAP_ARGON2, verifyHash),
    throttle: new AttemptThrottle(attempts),
    clock,
    isRegistrationOpen,
  })
  const authenticator = createKeyAuthenticator({ credentials, clock })
  return {
    database,
    clock,
    shared,
    limiter: new RequestLimiter(shared.requests),
    accounts,
    keys: new KeyService({ database, requests, clock }),
    authenticator,
    registered: async (email = 'ada@example.org', tier = 'free') =>
      await accounts.createUser({ email, password: PASSWORD, tier }),
    credentialOf: async (keySecret) => {
      const credential = await authenticator.authenticate(keySecret)
      if (credential === null) throw new Error('The secret is not good.')
      return credential
    },
  }
}

export const OPERATOR: Credential = {
  keyId: 'static-1',
  accountId: OPERATOR_ACCOUNT_ID,
  userId: null,
  kind: 'static',
  tier: 'enterprise',
  customRateLimitRpm: null,
  teamId: null,
  budgets: [],
  limitId: 'static-1',
}

/** The code of the ServiceError that this ends in; anything else is thrown on. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return (await errorOf(promise)).code
}

export async function errorOf(promise: Promise<unknown>): Promise<ServiceError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('It was not refused.')
}

/** Texts that would be commands if they were pasted into SQL. */
export const SQL_INJECTIONS = [
  `' OR '1'='1`,
  `'; DROP TABLE users; --`,
  `" OR ""="`,
  `%`,
  `\\'; DELETE FROM api_keys; --`,
  `x' UNION SELECT id, secret_hash FROM api_keys --`,
]
