import { describe, expect, it } from 'vitest'
import type { RequestLimits } from '../../core/shared-state.ts'
import { findBudgetKeyIds } from '../../storage/budgets/key-families.ts'
import { findKey, insertKey } from '../../storage/keys-repository.ts'
import {
  ADDRESS,
  codeOf,
  createAccountServices,
  DAY_MS,
  errorOf,
  OPERATOR,
  PASSWORD,
  SQL_INJECTIONS,
} from '../../../test/support/servers/account-services.ts'
import type { AccountServices } from '../../../test/support/servers/account-services.ts'

const PLAIN = { name: '', expiresInDays: null }
const ALL = { limit: null, cursor: null }

async function createUser(services: AccountServices, email = 'ada@example.org') {
  const account = await services.registered(email)
  return { ...account, credential: await services.credentialOf(account.keySecret) }
}

async function createUserless({ keys, credentialOf }: AccountServices, tier: 'free' | 'pro' = 'free') {
  const { record, keySecret } = await keys.createFor({ ...PLAIN, tier, userId: null })
  return { record, keySecret, credential: await credentialOf(keySecret) }
}

describe('KeyService.create', () => {
  it('gives a key that works, and shows its secret once', async () => {
    const services = await createAccountServices()
    const { userId, credential } = await createUser(services)

    const { keySecret, record } = await services.keys.create(credential, {
      name: 'läptop',
      expiresInDays: 365,
    })

    expect(record).toEqual({
      id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
      keyPrefix: keySecret.slice(0, 15),
      name: 'läptop',
      tier: 'free',
      isActive: true,
      createdAtUnixSeconds: 1_700_000_000.25,
      expiresAtUnixSeconds: 1_700_000_000.25 + 365 * 86_400,
      lastUsedAtUnixSeconds: null,
      userId,
      accountId: userId,
      rateLimitRpm: 60,
      teamId: null,
      dailyTokenBudget: null,
      monthlyTokenBudget: null,
    })
    expect(await services.credentialOf(keySecret)).toMatchObject({ keyId: record.id })
    expect(await services.keys.get(record.id)).toEqual(record)
    expect(JSON.stringify(await services.keys.listAll(ALL))).not.toContain(keySecret)
  })

  it("gives the new key the tier and the custom limit of its maker's credential", async () => {
    const services = await createAccountServices()
    const { userId } = await createUser(services)
    const maker = await services.keys.createFor({ ...PLAIN, tier: 'pro', userId })
    await services.keys.change(maker.record.id, { rateLimitRpm: 123 })

    const { record } = await services.keys.create(await services.credentialOf(maker.keySecret), PLAIN)

    expect(record).toMatchObject({ tier: 'pro', rateLimitRpm: 123 })
  })

  it("gives a key made with a session the account's tier", async () => {
    const services = await createAccountServices()
    const { userId, email } = await createUser(services)
    await services.keys.createFor({ ...PLAIN, tier: 'pro', userId })
    const { keySecret } = await services.accounts.login({ email, password: PASSWORD }, ADDRESS)

    const { record } = await services.keys.create(await services.credentialOf(keySecret), PLAIN)

    expect(record).toMatchObject({ tier: 'pro', rateLimitRpm: 1000 })
  })

  it("starts the new key with its maker's rate window", async () => {
    const services = await createAccountServices()
    const { credential } = await createUser(services)
    for (let request = 0; request < 59; request++) {
      await services.limiter.admit(credential, { countsAsConcurrent: false })
    }

    const { keySecret } = await services.keys.create(credential, PLAIN)

    const made = await services.credentialOf(keySecret)
    expect(await services.limiter.admit(made, { countsAsConcurrent: false })).toMatchObject({
      outcome: 'admitted',
    })
    expect(await services.limiter.admit(made, { countsAsConcurrent: false })).toMatchObject({
      outcome: 'refused',
    })
    expect(await services.limiter.admit(credential, { countsAsConcurrent: false })).toMatchObject({
      outcome: 'admitted',
    })
  })

  it('remembers no window of a key that was not made', async () => {
    const services = await createAccountServices()
    const { credential } = await createUser(services)
    await services.limiter.admit(credential, { countsAsConcurrent: false })
    await services.keys.create(credential, PLAIN)
    const before = services.shared.requests.idCount

    expect(await codeOf(services.keys.create(credential, PLAIN))).toBe('key_limit_reached')

    expect(services.shared.requests.idCount).toBe(before)
  })

  it('leaves no key without a window', async () => {
    const services = await createAccountServices({
      wrapShared: (shared) => ({
        ...shared,
        requests: Object.assign(Object.create(shared.requests) as RequestLimits, {
          openWindow: () => Promise.reject(new Error('not reached')),
        }),
      }),
    })
    const { credential } = await createUser(services)

    await expect(services.keys.create(credential, PLAIN)).rejects.toThrow('not reached')

    const { items } = await services.keys.list(credential, { limit: null, cursor: null })
    expect(items.map(({ isActive }) => String(isActive)).toSorted()).toEqual(['false', 'true'])
  })

  it('makes exactly what is left when 20 at once ask for it', async () => {
    const services = await createAccountServices()
    const { credential } = await createUser(services)

    const made = await Promise.allSettled(
      Array.from({ length: 20 }, () => services.keys.create(credential, PLAIN)),
    )

    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const reasons = made.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(reasons).toHaveLength(19)
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'key_limit_reached', status: 409 })
    expect((await services.keys.list(credential, ALL)).count).toBe(2)
  })

  it('counts neither revoked nor expired keys', async () => {
    const services = await createAccountServices()
    const { credential } = await createUser(services)
    const revoked = await services.keys.create(credential, PLAIN)
    await services.keys.revoke(credential, revoked.record.id)
    await services.keys.create(credential, { name: '', expiresInDays: 1 })
    expect((await errorOf(services.keys.create(credential, PLAIN))).message).toBe(
      "An account of tier 'free' may have at most 2 active keys, and this one has 2; revoke one first.",
    )

    services.clock.advance(DAY_MS)

    expect((await services.keys.create(credential, PLAIN)).record.isActive).toBe(true)
    expect((await services.keys.list(credential, ALL)).count).toBe(4)
  })

  it('makes nothing for a credential that has ended while its request came in', async () => {
    const services = await createAccountServices()
    const { userId, email, credential } = await createUser(services)
    const { keySecret } = await services.accounts.login({ email, password: PASSWORD }, ADDRESS)
    const session = await services.credentialOf(keySecret)
    services.clock.advance(DAY_MS)
    expect(await codeOf(services.keys.create(session, PLAIN))).toBe('unauthorized')

    const second = await services.accounts.login({ email, password: PASSWORD }, ADDRESS)
    const ended = await services.credentialOf(second.keySecret)
    await services.accounts.logout(ended)
    expect(await codeOf(services.keys.create(ended, PLAIN))).toBe('unauthorized')

    await services.accounts.changeUser(userId, { disabled: true })
    expect(await codeOf(services.keys.create(credential, PLAIN))).toBe('unauthorized')

    await services.accounts.changeUser(userId, { disabled: false })
    await services.keys.revokeAny(credential.keyId)
    expect(await codeOf(services.keys.create(credential, PLAIN))).toBe('unauthorized')

    await services.accounts.deleteUser(userId)
    expect(await codeOf(services.keys.create(credential, PLAIN))).toBe('unauthorized')
    expect((await services.keys.listAll(ALL)).count).toBe(0)
  })

  it('keeps the account of a key without a user together', async () => {
    const services = await createAccountServices()
    const { record, credential } = await createUserless(services)

    const child = await services.keys.create(credential, PLAIN)

    expect(child.record).toMatchObject({ accountId: record.id, userId: null })
    const { items } = await services.keys.list(await services.credentialOf(child.keySecret), ALL)
    expect(items.map(({ id }) => id).sort()).toEqual([record.id, child.record.id].sort())
  })

  it('makes keys for the operator, which the operator lists and revokes', async () => {
    const { keys, authenticator } = await createAccountServices()

    const { record, keySecret } = await keys.create(OPERATOR, PLAIN)

    expect(record).toMatchObject({ accountId: 'operator', userId: null, tier: 'enterprise' })
    expect((await keys.list(OPERATOR, ALL)).items).toEqual([record])
    await keys.revoke(OPERATOR, record.id)
    expect(await authenticator.authenticate(keySecret)).toBeNull()
  })
})

describe('KeyService.list', () => {
  it("shows the account's keys, revoked and expired ones too, and nobody else's", async () => {
    const services = await createAccountServices()
    const { credential, keySecret } = await createUser(services)
    await createUser(services, 'eve@example.org')
    await createUserless(services)
    services.clock.advance(1000)
    const expiring = await services.keys.create(credential, { name: 'b', expiresInDays: 1 })
    services.clock.advance(DAY_MS)
    const revoked = await services.keys.create(credential, { name: 'c', expiresInDays: null })
    await services.keys.revoke(credential, revoked.record.id)

    const { items, count, nextCursor } = await services.keys.list(credential, ALL)

    expect(items).toMatchObject([
      { id: credential.keyId, keyPrefix: keySecret.slice(0, 15), isActive: true },
      { ...expiring.record, isActive: false },
      { ...revoked.record, isActive: false },
    ])
    expect(count).toBe(3)
    expect(nextCursor).toBeNull()
  })

  it('comes in pages of which none repeats or misses a key, also while keys come', async () => {
    const services = await createAccountServices()
    for (let made = 0; made < 7; made++) {
      await services.keys.create(OPERATOR, PLAIN)
      // Some of the same moment, whose order their ids decide.
      if (made % 3 === 0) services.clock.advance(1)
    }
    const whole = (await services.keys.list(OPERATOR, ALL)).items.map(({ id }) => id)

    const pages: string[][] = []
    let cursor: string | null = null
    do {
      const page = await services.keys.list(OPERATOR, { limit: 3, cursor })
      pages.push(page.items.map(({ id }) => id))
      expect(page.count).toBe(whole.length)
      cursor = page.nextCursor
    } while (cursor !== null)

    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1])
    expect(pages.flat()).toEqual(whole)
  })

  it.each(SQL_INJECTIONS)('refuses the cursor %j', async (cursor) => {
    const { keys } = await createAccountServices()

    expect(await codeOf(keys.list(OPERATOR, { limit: 1, cursor }))).toBe('invalid_request')
    expect(await codeOf(keys.listAll({ limit: 1, cursor }))).toBe('invalid_request')
  })

  it.each(SQL_INJECTIONS)('takes %j in a cursor for a value', async (id) => {
    const services = await createAccountServices()
    await createUser(services)
    const cursor = Buffer.from(JSON.stringify([0, id])).toString('base64url')

    expect((await services.keys.listAll({ limit: 1, cursor })).count).toBe(1)
  })
})

describe('the keys under a budget', () => {
  it('come in pieces of which none repeats or misses one, without those that had ended and those of another', async () => {
    const { database, keys } = await createAccountServices()
    const own = { ...PLAIN, tier: 'free', userId: null } as const
    const [{ record }, other] = [await keys.createFor(own), await keys.createFor(own)]
    const maker = await findKey(database, record.id)
    if (maker === null) throw new Error('There is no such key.')
    const day = 24 * 60 * 60
    const since = 100 * day
    // Of each second key in turn: it lasts, it was revoked in the period, it was revoked or has ended before.
    const ends = [
      { revokedAtUnixSeconds: null, expiresAtUnixSeconds: null },
      { revokedAtUnixSeconds: since + 1, expiresAtUnixSeconds: null },
      { revokedAtUnixSeconds: since - day, expiresAtUnixSeconds: since - 3 * day },
      { revokedAtUnixSeconds: null, expiresAtUnixSeconds: since + 2 },
      { revokedAtUnixSeconds: since - day - 1, expiresAtUnixSeconds: since + day },
      { revokedAtUnixSeconds: null, expiresAtUnixSeconds: since - day - 1 },
    ]
    const made = Array.from({ length: 1800 }, (_, index) => ({
      id: `made-${index}`,
      ...ends[index % ends.length],
    }))
    await database.transaction().execute(async (transaction) => {
      for (const key of made)
        await insertKey(transaction, { ...maker, ...key, budgetKeyId: maker.id }, key.id)
    })

    const pieces: (readonly string[])[] = []
    for await (const ids of findBudgetKeyIds(database, maker.id, since)) pieces.push(ids)
    expect(pieces.map(({ length }) => length)).toEqual([1, 300, 500, 400])
    const spending = made.filter((_, index) => index % ends.length < 4).map(({ id }) => id)
    expect(pieces.flat().sort()).toEqual([maker.id, ...spending].sort())
    for await (const ids of findBudgetKeyIds(database, other.record.id, since))
      expect(ids).toEqual([other.record.id])
  })
})

describe('KeyService.revoke', () => {
  it('ends the key at once, once', async () => {
    const services = await createAccountServices()
    const { credential, keySecret } = await createUser(services)

    await services.keys.revoke(credential, credential.keyId)

    expect(await services.authenticator.authenticate(keySecret)).toBeNull()
    expect(await codeOf(services.keys.revoke(credential, credential.keyId))).toBe('key_not_found')
    expect(await codeOf(services.keys.revokeAny(credential.keyId))).toBe('key_not_found')
  })

  it("does not find somebody else's key, an unknown one or one of any other form", async () => {
    const services = await createAccountServices()
    const ada = await createUser(services)
    const eve = await createUser(services, 'eve@example.org')
    const ids = [
      ada.credential.keyId,
      ada.credential.keyId.toUpperCase(),
      '00000000-0000-4000-8000-000000000000',
      '',
      OPERATOR.keyId,
      ...SQL_INJECTIONS,
    ]

    for (const id of ids) {
      expect(await codeOf(services.keys.revoke(eve.credential, id))).toBe('key_not_found')
    }
    expect(await codeOf(services.keys.revoke(OPERATOR, OPERATOR.keyId))).toBe('key_not_found')
    expect(await services.authenticator.authenticate(ada.keySecret)).not.toBeNull()
    expect(await services.authenticator.authenticate(eve.keySecret)).not.toBeNull()
  })

  it('revokes an expired key, which is not revoked yet', async () => {
    const services = await createAccountServices()
    const { credential } = await createUser(services)
    const { record } = await services.keys.create(credential, { name: '', expiresInDays: 1 })
    services.clock.advance(DAY_MS)

    await services.keys.revoke(credential, record.id)

    expect(await codeOf(services.keys.revoke(credential, record.id))).toBe('key_not_found')
  })
})

describe('KeyService for the admin', () => {
  it('makes a key for a user, within the maximum of the account', async () => {
    const services = await createAccountServices()
    const { userId } = await createUser(services)
    const request = { ...PLAIN, tier: 'free', userId } as const

    const made = await Promise.allSettled(Array.from({ length: 20 }, () => services.keys.createFor(request)))

    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await codeOf(services.keys.createFor(request))).toBe('key_limit_reached')
  })

  it.each(['00000000-0000-4000-8000-000000000000', 'operator', ...SQL_INJECTIONS])(
    'finds no user %j',
    async (userId) => {
      const { keys } = await createAccountServices()

      expect(await codeOf(keys.createFor({ ...PLAIN, tier: 'free', userId }))).toBe('user_not_found')
      expect((await keys.listAll(ALL)).count).toBe(0)
    },
  )

  it('makes any number of keys that are accounts of their own', async () => {
    const services = await createAccountServices()

    const made = [
      await createUserless(services),
      await createUserless(services),
      await createUserless(services),
    ]

    expect(new Set(made.map(({ record }) => record.accountId)).size).toBe(3)
    expect(made.every(({ record }) => record.accountId === record.id && record.userId === null)).toBe(true)
  })

  it('changes name, tier, limit and expiry, and gives the key as it is then', async () => {
    const services = await createAccountServices()
    const { record } = await createUserless(services)
    services.clock.advance(DAY_MS)

    const changed = await services.keys.change(record.id, {
      name: 'new',
      tier: 'pro',
      rateLimitRpm: 5,
      expiresInDays: 3650,
    })

    expect(changed).toEqual({
      ...record,
      name: 'new',
      tier: 'pro',
      rateLimitRpm: 5,
      expiresAtUnixSeconds: 1_700_000_000.25 + 3651 * 86_400,
    })
    expect(await services.keys.get(record.id)).toEqual(changed)
  })

  it('keeps what a change does not name, and the custom limit when the tier changes', async () => {
    const services = await createAccountServices()
    const { record } = await createUserless(services)
    await services.keys.change(record.id, { name: 'kept', rateLimitRpm: 5, expiresInDays: 10 })

    const changed = await services.keys.change(record.id, { tier: 'enterprise' })

    expect(changed).toMatchObject({ name: 'kept', rateLimitRpm: 5, tier: 'enterprise' })
    expect(changed.expiresAtUnixSeconds).not.toBeNull()
    expect(await services.keys.change(record.id, {})).toEqual(changed)
  })

  it.each(['revoked', 'expired'] as const)('never revives a key that is %s', async (state) => {
    const services = await createAccountServices()
    const { record } = await createUserless(services)
    await services.keys.change(record.id, { expiresInDays: 1 })
    if (state === 'revoked') await services.keys.revokeAny(record.id)
    else services.clock.advance(DAY_MS)

    const error = await errorOf(services.keys.change(record.id, { name: 'no', expiresInDays: 9 }))

    expect(error).toMatchObject({ code: 'key_not_active', status: 400, param: 'expires_in_days' })
    expect(error.message).toContain(`is ${state}`)
    expect(await services.keys.get(record.id)).toMatchObject({ name: '', isActive: false })
    expect(
      await services.keys.change(record.id, { name: 'yes', tier: 'pro', rateLimitRpm: 9 }),
    ).toMatchObject({
      name: 'yes',
      tier: 'pro',
      rateLimitRpm: 9,
      isActive: false,
    })
  })

  it.each(['unknown', 'nul\0byte', ...SQL_INJECTIONS])('finds no key %j', async (id) => {
    const services = await createAccountServices()
    const { credential } = await createUser(services)

    expect(await codeOf(services.keys.get(id))).toBe('key_not_found')
    expect(await codeOf(services.keys.revokeAny(id))).toBe('key_not_found')
    expect(await codeOf(services.keys.change(id, { name: 'x' }))).toBe('key_not_found')
    expect((await services.keys.list(credential, ALL)).items).toMatchObject([{ isActive: true, name: '' }])
  })

  it.each(SQL_INJECTIONS)('keeps %j as a name', async (name) => {
    const services = await createAccountServices()
    const { credential } = await createUser(services)

    const { record } = await services.keys.create(credential, { name, expiresInDays: null })
    expect((await services.keys.get(record.id)).name).toBe(name)

    expect((await services.keys.change(credential.keyId, { name })).name).toBe(name)
    expect((await services.keys.list(credential, ALL)).count).toBe(2)
  })
})
