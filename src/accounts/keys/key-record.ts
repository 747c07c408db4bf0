/** API keys as the rest of the program sees them, and the issuing of a new one. */
import { randomUUID } from 'node:crypto'
import type { Tier } from '../../core/tiers.ts'
import { effectiveRpm } from '../../limits/request-limiter.ts'
import type { StoredKey } from '../../storage/keys-repository.ts'
import { hashSecret, newKeySecret, shownPrefix } from './key-secret.ts'

/** A key as it is shown. */
export interface KeyRecord extends Omit<
  StoredKey,
  'customRateLimitRpm' | 'revokedAtUnixSeconds' | 'makerKeyId' | 'budgetKeyId' | 'budgetedAtUnixSeconds'
> {
  /** Neither revoked nor expired. */
  readonly isActive: boolean
  /** The number that applies: the admin's, else the tier's. */
  readonly rateLimitRpm: number
}

export function toKeyRecord(key: StoredKey, unixSeconds: number): KeyRecord {
  const { customRateLimitRpm: _rpm, revokedAtUnixSeconds: _revokedAt, ...rest } = key
  const { makerKeyId: _maker, budgetKeyId: _family, budgetedAtUnixSeconds: _budgetedAt, ...shown } = rest
  return { ...shown, isActive: keyState(key, unixSeconds) === 'active', rateLimitRpm: effectiveRpm(key) }
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

export interface IssueOptions {
  readonly name: string
  readonly tier: Tier
  readonly customRateLimitRpm: number | null
  readonly expiresInDays: number | null
  /** `own` opens an account with this key. */
  readonly owner: { readonly accountId: string; readonly userId: string | null } | 'own'
  readonly unixSeconds: number
  /** @default no team, no bound */
  readonly spending?: Partial<KeySpending>
}

/** What a key spends from. */
export type KeySpending = Pick<
  StoredKey,
  'teamId' | 'dailyTokenBudget' | 'monthlyTokenBudget' | 'makerKeyId' | 'budgetKeyId'
>

const NO_SPENDING: KeySpending = {
  teamId: null,
  dailyTokenBudget: null,
  monthlyTokenBudget: null,
  makerKeyId: null,
  budgetKeyId: null,
}

/** A new key with its secret, which is shown once: in the answer to the request for the key. */
export function issueKey({ owner, unixSeconds, expiresInDays, spending, ...rest }: IssueOptions) {
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
    lastUsedAtUnixSeconds: null,
    budgetedAtUnixSeconds: null,
    ...NO_SPENDING,
    ...spending,
  }
  return { key, keySecret, secretHash: hashSecret(keySecret) }
}
