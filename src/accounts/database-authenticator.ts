/**
 * The keys and sessions of the database. Each request is looked up anew by its secret's hash, so revoking, disabling,
 * expiry and a change of tier hold from the next request on.
 */
import type { Clock } from '../core/clock.ts'
import type { Credential } from '../core/credential.ts'
import type { ApiDatabase } from '../storage/api-database.ts'
import { createCredentialLookup, type ValidKey, type ValidSession } from '../storage/credential-lookup.ts'
import { highestTier } from './account-tier.ts'
import type { Authenticator } from './authenticator.ts'
import { hashSecret, isKeySecret } from './keys/key-secret.ts'

export interface KeyAuthenticatorDeps {
  readonly database: ApiDatabase
  readonly clock: Clock
}

export function createKeyAuthenticator({ database, clock }: KeyAuthenticatorDeps): Authenticator {
  const lookup = createCredentialLookup(database)
  return {
    authenticate: async (secret) => {
      if (secret === null || !isKeySecret(secret)) return null
      const secretHash = hashSecret(secret)
      const key = await lookup.findKey(secretHash, clock.unixSeconds())
      if (key !== null) return toKeyCredential(key)
      const session = await lookup.findSession(secretHash, clock.unixSeconds())
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
