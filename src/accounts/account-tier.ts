/**
 * The tier of an account is the highest of its own and its active keys', and limits how many active keys it may have. The
 * operator's own tier is enterprise; an account that is a key without a user has that key's tier.
 */
import { type Credential, OPERATOR_ACCOUNT_ID } from '../core/credential.ts'
import { ServiceError } from '../core/errors.ts'
import { TIER_LIMITS, type Tier } from '../core/tiers.ts'
import type { ApiDatabase } from '../storage/api-database.ts'
import { findActiveKeys, hasActiveKeyOfTier, type StoredKey } from '../storage/keys-repository.ts'
import { isSessionLive } from '../storage/sessions-repository.ts'
import { findUser, hasActiveUserOfTier, type StoredUser } from '../storage/users-repository.ts'

const TIERS_ABOVE_FREE = ['pro', 'enterprise'] as const satisfies readonly Tier[]

/** The highest of the tiers; `free` for an empty list. */
export function highestTier(tiers: readonly Tier[]): Tier {
  const isHigher = (one: Tier, other: Tier) =>
    TIER_LIMITS[one].priorityClass > TIER_LIMITS[other].priorityClass
  return tiers.reduce((highest, tier) => (isHigher(tier, highest) ? tier : highest), 'free')
}

export interface AccountState {
  readonly tier: Tier
  readonly activeKeyCount: number
}

/**
 * The account behind a credential, read in the transaction that acts on it: since the look-up of its secret, while a slow
 * body came in, the credential may have ended.
 * @throws ServiceError `unauthorized`
 */
export async function readLiveAccount(
  db: ApiDatabase,
  credential: Credential,
  unixSeconds: number,
): Promise<AccountState> {
  const activeKeys = await findActiveKeys(db, credential.accountId, unixSeconds)
  if (!(await isLive(db, credential, { activeKeys, unixSeconds }))) throw new ServiceError('unauthorized')
  return toState(await readOwnTier(db, credential), activeKeys)
}

export async function readUserAccount(
  db: ApiDatabase,
  user: Pick<StoredUser, 'id' | 'tier'>,
  unixSeconds: number,
): Promise<AccountState> {
  return toState(user.tier, await findActiveKeys(db, user.id, unixSeconds))
}

/** @throws ServiceError `key_limit_reached` */
export function requireBelowKeyLimit({ tier, activeKeyCount }: AccountState): void {
  const max = TIER_LIMITS[tier].maxKeys
  if (activeKeyCount >= max) throw new ServiceError('key_limit_reached', { tier, max, given: activeKeyCount })
}

/** The tiers above free that have active keys, or accounts that may log in. */
export async function findServedTiers(db: ApiDatabase, unixSeconds: number): Promise<readonly Tier[]> {
  const served = await Promise.all(
    TIERS_ABOVE_FREE.map(
      async (tier) =>
        (await hasActiveKeyOfTier(db, tier, unixSeconds)) || (await hasActiveUserOfTier(db, tier)),
    ),
  )
  return TIERS_ABOVE_FREE.filter((_, index) => served[index])
}

function toState(ownTier: Tier, activeKeys: readonly Pick<StoredKey, 'tier'>[]): AccountState {
  return {
    tier: highestTier([ownTier, ...activeKeys.map(({ tier }) => tier)]),
    activeKeyCount: activeKeys.length,
  }
}

async function isLive(
  db: ApiDatabase,
  { kind, keyId }: Credential,
  { activeKeys, unixSeconds }: { activeKeys: readonly Pick<StoredKey, 'id'>[]; unixSeconds: number },
): Promise<boolean> {
  switch (kind) {
    case 'key':
      return activeKeys.some(({ id }) => id === keyId)
    case 'session':
      return isSessionLive(db, keyId, unixSeconds)
    case 'guest':
    case 'static':
    case 'open':
      return true
  }
}

async function readOwnTier(db: ApiDatabase, { accountId, userId }: Credential): Promise<Tier> {
  if (accountId === OPERATOR_ACCOUNT_ID) return 'enterprise'
  if (userId === null) return 'free'
  const user = await findUser(db, userId)
  if (user === null || user.disabledAtUnixSeconds !== null) throw new ServiceError('unauthorized')
  return user.tier
}
