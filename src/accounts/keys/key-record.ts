/** API keys as the rest of the program sees them, and how a new one is made. */
import { randomUUID } from 'node:crypto'
import type { Tier } from '../../core/tiers.ts'
import { effectiveRpm } from '../../limits/request-limiter.ts'
import type { StoredKey } from '../../storage/keys-repository.ts'
import { hashSecret, newKeySecret, shownPrefix } from './key-secret.ts'

export interface KeyRecord {
  readonly id: string
  readonly keyPrefix: string
  readonly name: string
  readonly tier: Tier
  /** Neither revoked nor expired. */
  readonly isActive: boolean
  readonly createdAtUnixSeconds: number
  /** Null never expires. */
  readonly expiresAtUnixSeconds: number | null
  /** Null for a key that no user owns. */
  readonly userId: string | null
  readonly accountId: string
  /** The number that applies: the admin's, else the tier's. */
  readonly rateLimitRpm: number
}

export function toKeyRecord(key: StoredKey, unixSeconds: number): KeyRecord {
  const { id, keyPrefix, name, tier, createdAtUnixSeconds, expiresAtUnixSeconds, userId, accountId } = key
  return {
    id,
    keyPrefix,
    name,
    tier,
    isActive: keyState(key, unixSeconds) === 'active',
    createdAtUnixSeconds,
    expiresAtUnixSeconds,
    userId,
    accountId,
    rateLimitRpm: effectiveRpm(key),
  }
}

export function keyState(
  { revokedAtUnixSeconds, expiresAtUnixSeconds }: StoredKey,
  unixSeconds: number,
): 'active' | 'revoked' | 'expired' {
  if (revokedAtUnixSeconds !== null) return 'revoked'
  return expiresAtUnixSeconds === null || expiresAtUnixSeconds > unixSeconds ? 'active' : 'expired'
}

const SECONDS_PER_DAY = 86_400

/** Null never expires. */
export function expiryAfter(days: number | null, unixSeconds: number): number | null {
  return days === null ? null : unixSeconds + days * SECONDS_PER_DAY
}

export interface NewKeyOptions {
  readonly name: string
  readonly tier: Tier
  readonly customRateLimitRpm: number | null
  readonly expiresInDays: number | null
  /** Whose it is; `own` is an account that begins with this key. */
  readonly owner: { readonly accountId: string; readonly userId: string | null } | 'own'
  readonly unixSeconds: number
}

export interface NewKey {
  readonly key: StoredKey
  /** Shown once, to the one who asked for the key. */
  readonly keySecret: string
  readonly secretHash: string
}

export function makeKey({ owner, unixSeconds, expiresInDays, ...rest }: NewKeyOptions): NewKey {
  const id = randomUUID()
  const keySecret = newKeySecret()
  const key: StoredKey = {
    id,
    keyPrefix: shownPrefix(keySecret),
    ...rest,
    ...(owner === 'own' ? { accountId: id, userId: null } : owner),
    createdAtUnixSeconds: unixSeconds,
    expiresAtUnixSeconds: expiryAfter(expiresInDays, unixSeconds),
    revokedAtUnixSeconds: null,
  }
  return { key, keySecret, secretHash: hashSecret(keySecret) }
}
