/**
 * The credential behind a request's secret: a key or login session of the accounts database, or a key of the configuration.
 * Each request looks its secret's hash up again and nothing caches the answer, so revocation, expiry, disabling and a change
 * of tier hold from the next request on.
 */
import { createHmac } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { type Credential, OPERATOR_ACCOUNT_ID } from '../core/credential.ts'
import type { CredentialStore, ValidKey, ValidSession } from '../storage/credential-store.ts'
import { highestTier } from './account-tier.ts'
import { hashSecret, isKeySecret } from './keys/key-secret.ts'

export interface Authenticator {
  /**
   * Null for a secret that is missing, unknown, revoked or expired: the answer is the same in all cases.
   * @throws when the secret cannot be looked up; that is a 500, never a 401.
   */
  authenticate(secret: string | null): Promise<Credential | null>
}

/** Asks each in turn until one finds a credential. */
export function createCombinedAuthenticator(...authenticators: readonly Authenticator[]): Authenticator {
  return {
    authenticate: async (secret) => {
      for (const authenticator of authenticators) {
        const credential = await authenticator.authenticate(secret)
        if (credential !== null) return credential
      }
      return null
    },
  }
}

/** Keys and login sessions of the accounts database. */
export function createKeyAuthenticator({
  credentials,
  clock,
}: {
  readonly credentials: CredentialStore
  readonly clock: Clock
}): Authenticator {
  return {
    authenticate: async (secret) => {
      if (secret === null || !isKeySecret(secret)) return null
      const secretHash = hashSecret(secret)
      const key = await credentials.findKey(secretHash, clock.unixSeconds())
      if (key !== null) return toKeyCredential(key)
      const session = await credentials.findSession(secretHash, clock.unixSeconds())
      return session === null ? null : toSessionCredential(session)
    },
  }
}

function toKeyCredential({ id, ...found }: ValidKey): Credential {
  return { ...found, keyId: id, kind: 'key', limitId: id }
}

function toSessionCredential({ id, userId, tiers, teamId, budgets, ...facts }: ValidSession): Credential {
  const { email, role, expiresAtUnixSeconds } = facts
  return {
    keyId: id,
    accountId: userId,
    userId,
    kind: 'session',
    tier: highestTier(tiers),
    customRateLimitRpm: null,
    limitId: `account:${userId}`,
    teamId,
    budgets,
    session: { email, role, expiresAtUnixSeconds },
  }
}

/**
 * Keys from the configuration (`--api-keys`): any non-empty strings, all of the built-in account `operator`, tier
 * `enterprise`. Only their hashes are kept, so the time of a look-up reveals nothing of a secret that is nearly right.
 * `idSalt` is secret and stays the same: ids are in the log, and a weak secret could otherwise be guessed from its id.
 * @throws RangeError for an empty secret, which would accept every request with an empty one.
 */
export function createStaticKeyAuthenticator(secrets: readonly string[], idSalt: string): Authenticator {
  const credentials = new Map<string, Credential>()
  for (const secret of secrets) {
    if (secret === '') throw new RangeError('An API key must not be empty.')
    // Derived from the secret, so that a reordered list does not mix up the usage of keys.
    const id = createHmac('sha256', idSalt).update(secret, 'utf8').digest('hex').slice(0, 16)
    credentials.set(hashSecret(secret), operatorCredential(`static-${id}`, 'static'))
  }
  return {
    authenticate: async (secret) => (secret === null ? null : (credentials.get(hashSecret(secret)) ?? null)),
  }
}

/** `--auth-mode none`: every caller is the operator, with or without a key. */
export function createOpenAuthenticator(): Authenticator {
  const credential = operatorCredential('static-open', 'open')
  return { authenticate: async () => credential }
}

function operatorCredential(keyId: string, kind: 'static' | 'open'): Credential {
  return Object.freeze({
    keyId,
    accountId: OPERATOR_ACCOUNT_ID,
    userId: null,
    kind,
    tier: 'enterprise',
    customRateLimitRpm: null,
    limitId: keyId,
    teamId: null,
    budgets: [],
  })
}
