import { describe, expect, it } from 'vitest'
import {
  ADDRESS,
  createAccountServices,
  DAY_MS,
  PASSWORD,
  SQL_INJECTIONS,
} from '../../test/support/servers/account-services.ts'
import {
  createCombinedAuthenticator,
  createOpenAuthenticator,
  createStaticKeyAuthenticator,
} from './authenticator.ts'
import { newKeySecret } from './keys/key-secret.ts'

describe('createKeyAuthenticator', () => {
  it('knows a key and whose it is', async () => {
    const { authenticator, keys, registered } = await createAccountServices()
    const { userId } = await registered()
    const { keySecret, record } = await keys.createFor({ name: '', tier: 'pro', expiresInDays: 1, userId })
    await keys.change(record.id, { rateLimitRpm: 7 })

    expect(await authenticator.authenticate(keySecret)).toEqual({
      keyId: record.id,
      accountId: userId,
      userId,
      kind: 'key',
      tier: 'pro',
      customRateLimitRpm: 7,
      limitId: record.id,
      teamId: null,
      budgets: [],
    })
  })

  it('knows a key that is an account of its own', async () => {
    const { authenticator, keys } = await createAccountServices()
    const { keySecret, record } = await keys.createFor({
      name: '',
      tier: 'free',
      expiresInDays: null,
      userId: null,
    })

    expect(await authenticator.authenticate(keySecret)).toEqual({
      keyId: record.id,
      accountId: record.id,
      userId: null,
      kind: 'key',
      tier: 'free',
      customRateLimitRpm: null,
      limitId: record.id,
      teamId: null,
      budgets: [],
    })
  })

  it('tells keys that are asked for together apart', async () => {
    const { authenticator, keys } = await createAccountServices()
    const create = () => keys.createFor({ name: '', tier: 'pro', expiresInDays: null, userId: null })
    const [one, two, revoked] = [await create(), await create(), await create()]
    await keys.revokeAny(revoked.record.id)

    const secrets = [one.keySecret, revoked.keySecret, two.keySecret, newKeySecret(), one.keySecret]
    const credentials = await Promise.all(secrets.map((secret) => authenticator.authenticate(secret)))

    expect(credentials.map((credential) => credential?.keyId ?? null)).toEqual([
      one.record.id,
      null,
      two.record.id,
      null,
      one.record.id,
    ])
  })

  it('counts the sessions of one account together', async () => {
    const { accounts, clock, credentialOf, registered } = await createAccountServices()
    const { userId, email } = await registered()
    const one = await credentialOf((await accounts.login({ email, password: PASSWORD }, ADDRESS)).keySecret)
    const two = await credentialOf((await accounts.login({ email, password: PASSWORD }, ADDRESS)).keySecret)

    expect(one).toEqual({
      keyId: one.keyId,
      accountId: userId,
      userId,
      kind: 'session',
      tier: 'free',
      customRateLimitRpm: null,
      limitId: `account:${userId}`,
      teamId: null,
      budgets: [],
      session: { email, role: 'user', expiresAtUnixSeconds: clock.unixSeconds() + 86_400 },
    })
    expect(two).toEqual({ ...one, keyId: two.keyId })
    expect(two.keyId).not.toBe(one.keyId)
  })

  it('takes a key until the moment it expires', async () => {
    const { authenticator, clock, keys } = await createAccountServices()
    const { keySecret } = await keys.createFor({ name: '', tier: 'free', expiresInDays: 1, userId: null })

    clock.advance(DAY_MS - 1)
    expect(await authenticator.authenticate(keySecret)).not.toBeNull()

    clock.advance(1)
    expect(await authenticator.authenticate(keySecret)).toBeNull()
    clock.advance(DAY_MS)
    expect(await authenticator.authenticate(keySecret)).toBeNull()
  })

  it('takes a session for 24 hours', async () => {
    const { accounts, authenticator, clock, registered } = await createAccountServices()
    const { email } = await registered()
    const login = await accounts.login({ email, password: PASSWORD }, ADDRESS)
    expect(login.expiresAtUnixSeconds).toBe(1_700_000_000.25 + 86_400)

    clock.advance(DAY_MS - 1)
    expect(await authenticator.authenticate(login.keySecret)).not.toBeNull()

    clock.advance(1)
    expect(await authenticator.authenticate(login.keySecret)).toBeNull()
    clock.advance(DAY_MS)
    expect(await authenticator.authenticate(login.keySecret)).toBeNull()
  })

  it('notices a revocation and a change of tier at once', async () => {
    const { authenticator, keys } = await createAccountServices()
    const { keySecret, record } = await keys.createFor({
      name: '',
      tier: 'free',
      expiresInDays: null,
      userId: null,
    })
    expect(await authenticator.authenticate(keySecret)).toMatchObject({ tier: 'free' })

    await keys.change(record.id, { tier: 'enterprise' })
    expect(await authenticator.authenticate(keySecret)).toMatchObject({ tier: 'enterprise' })

    await keys.revokeAny(record.id)
    expect(await authenticator.authenticate(keySecret)).toBeNull()
  })

  it.each([null, '', newKeySecret(), 'sk-svc-', ...SQL_INJECTIONS])('knows nothing of %j', async (secret) => {
    const { authenticator, registered } = await createAccountServices()
    await registered()

    expect(await authenticator.authenticate(secret)).toBeNull()
  })

  it('does not take a hash or an id for a secret', async () => {
    const { authenticator, database, registered } = await createAccountServices()
    await registered()
    const rows = await database.selectFrom('api_keys').select(['id', 'secret_hash']).execute()

    for (const row of rows) {
      expect(await authenticator.authenticate(row.id)).toBeNull()
      expect(await authenticator.authenticate(`sk-svc-${row.secret_hash}`)).toBeNull()
    }
    expect(rows).toHaveLength(1)
  })

  it('does not look up what cannot be a secret', async () => {
    const { authenticator, database } = await createAccountServices()
    await database.destroy()

    expect(await authenticator.authenticate('static')).toBeNull()
  })

  it('throws when the database fails, and does not call the secret wrong', async () => {
    const { authenticator, database, registered } = await createAccountServices()
    const { keySecret } = await registered()

    await database.destroy()

    await expect(authenticator.authenticate(keySecret)).rejects.toThrow()
  })
})

describe('createCombinedAuthenticator', () => {
  it('asks each in turn', async () => {
    const { authenticator, registered } = await createAccountServices()
    const { keySecret, userId } = await registered()
    const combined = createCombinedAuthenticator(
      createStaticKeyAuthenticator(['static'], 'salt'),
      authenticator,
    )

    expect(await combined.authenticate('static')).toMatchObject({ kind: 'static', accountId: 'operator' })
    expect(await combined.authenticate(keySecret)).toMatchObject({ kind: 'key', accountId: userId })
    expect(await combined.authenticate(newKeySecret())).toBeNull()
    expect(await combined.authenticate(null)).toBeNull()
  })

  it('asks no further when one knows the secret', async () => {
    const { authenticator, database } = await createAccountServices()
    await database.destroy()

    const combined = createCombinedAuthenticator(createOpenAuthenticator(), authenticator)

    expect(await combined.authenticate(newKeySecret())).toMatchObject({ kind: 'open' })
  })
})
