import { describe, expect, it } from 'vitest'
import {
  codeOf,
  createAccountServices,
  OPERATOR,
  PASSWORD,
  type AccountServices,
} from '../../test/support/servers/account-services.ts'
import { TIER_LIMITS, TIERS, type Tier } from '../core/tiers.ts'
import { highestTier } from './account-tier.ts'

describe('highestTier', () => {
  it.each<[readonly Tier[], Tier]>([
    [[], 'free'],
    [['free'], 'free'],
    [['free', 'pro'], 'pro'],
    [['enterprise', 'pro', 'free'], 'enterprise'],
    [['pro', 'pro'], 'pro'],
  ])('of %j is %s', (tiers, highest) => {
    expect(highestTier(tiers)).toBe(highest)
  })
})

/** A user of one tier with one key of another, and what is done to that key. */
const ACCOUNTS: readonly { own: Tier; key: Tier; later?: 'revoked' | 'expired'; account: Tier }[] = [
  { own: 'free', key: 'free', account: 'free' },
  { own: 'free', key: 'pro', account: 'pro' },
  { own: 'free', key: 'enterprise', account: 'enterprise' },
  { own: 'pro', key: 'free', account: 'pro' },
  { own: 'enterprise', key: 'pro', account: 'enterprise' },
  { own: 'free', key: 'pro', later: 'revoked', account: 'free' },
  { own: 'pro', key: 'enterprise', later: 'expired', account: 'pro' },
]

async function createAccount(
  { accounts, keys, clock, registered }: AccountServices,
  { own, key, later }: (typeof ACCOUNTS)[number],
) {
  const { userId, email } = await registered('ada@example.org', own)
  const { record } = await keys.createFor({
    name: '',
    tier: key,
    expiresInDays: later === 'expired' ? 1 : null,
    userId,
  })
  if (later === 'revoked') await keys.revokeAny(record.id)
  if (later === 'expired') clock.advance(24 * 60 * 60 * 1000)
  return { userId, login: await accounts.login({ email, password: PASSWORD }, 'a') }
}

describe("an account's tier", () => {
  it.each(ACCOUNTS)('is $account for own $own and a key $key $later', async (row) => {
    const services = await createAccountServices()

    const { login } = await createAccount(services, row)

    expect(login.tier).toBe(row.account)
    expect(await services.authenticator.authenticate(login.keySecret)).toMatchObject({ tier: row.account })
  })

  it.each(ACCOUNTS)('allows as many keys as $account for own $own and a key $key $later', async (row) => {
    const services = await createAccountServices()
    const { userId, login } = await createAccount(services, row)
    const credential = await services.credentialOf(login.keySecret)

    const active = row.later === undefined ? 2 : 1
    for (let made = active; made < TIER_LIMITS[row.account].maxKeys; made++) {
      await services.keys.create(credential, { name: '', expiresInDays: null })
    }

    expect(await codeOf(services.keys.create(credential, { name: '', expiresInDays: null }))).toBe(
      'key_limit_reached',
    )
    const { items } = await services.keys.list(credential, { limit: null, cursor: null })
    expect(items.filter(({ isActive }) => isActive)).toHaveLength(TIER_LIMITS[row.account].maxKeys)
    expect(items.every((key) => key.accountId === userId)).toBe(true)
  })

  it.each(TIERS)('is that of its keys for an account without a user: %s', async (tier) => {
    const { keys, credentialOf } = await createAccountServices()
    const own = await keys.createFor({ name: '', tier, expiresInDays: null, userId: null })
    const credential = await credentialOf(own.keySecret)

    for (let made = 1; made < TIER_LIMITS[tier].maxKeys; made++) {
      await keys.create(credential, { name: '', expiresInDays: null })
    }

    expect(await codeOf(keys.create(credential, { name: '', expiresInDays: null }))).toBe('key_limit_reached')
  })

  it('is enterprise for the operator', async () => {
    const { keys } = await createAccountServices()

    for (let made = 0; made < 100; made++) await keys.create(OPERATOR, { name: '', expiresInDays: null })

    expect(await codeOf(keys.create(OPERATOR, { name: '', expiresInDays: null }))).toBe('key_limit_reached')
  })

  it('counts the tier of a key that the admin is about to make', async () => {
    const { keys, registered } = await createAccountServices()
    const { userId } = await registered()
    const make = (tier: Tier) => keys.createFor({ name: '', tier, expiresInDays: null, userId })
    await make('free')
    expect(await codeOf(make('free'))).toBe('key_limit_reached')

    await make('pro')

    expect((await make('free')).record.tier).toBe('free')
  })
})
