/**
 * Keys and login sessions of the accounts database. Each request looks its secret's hash up again, so revocation, expiry,
 * disabling and a change of tier hold from the next request on.
 */
import type { Clock } from '../core/clock.ts'
import type { Credential } from '../core/credential.ts'
import type { CredentialStore, ValidKey, ValidSession } from '../storage/credential-store.ts'
import { highestTier } from './account-tier.ts'
import type { Authenticator } from './authenticator.ts'
import { hashSecret, isKeySecret } from './keys/key-secret.ts'

export interface KeyAuthenticatorDeps {
  readonly credentials: CredentialStore
  readonly clock: Clock
}

export function createKeyAuthenticator({ credentials, clock }: KeyAuthenticatorDeps): Authenticator {
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

function toKeyCredential({ id, accountId, userId, tier, customRateLimitRpm }: ValidKey): Credential {
  return { keyId: id, accountId, userId, kind: 'key', tier, customRateLimitRpm, limitId: id }
}

function toSessionCredential({ id, userId, tiers }: ValidSession): Credential {
  return {
    keyId: id,
    accountId: userId,
    userId,
    kind: 'session',
    tier: highestTier(tiers),
    customRateLimitRpm: null,
    limitId: `account:${userId}`,
  }
}
