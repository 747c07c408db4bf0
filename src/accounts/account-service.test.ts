import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { verify } from '@node-rs/argon2'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { isPostgres } from '../../test/support/databases/injected-database.ts'
import {
  ADDRESS,
  type AccountServices,
  codeOf,
  createAccountServices,
  DAY_MS,
  errorOf,
  OPERATOR,
  PASSWORD,
  SQL_INJECTIONS,
} from '../../test/support/servers/account-services.ts'

const ALL = { limit: null, cursor: null }
const ADA = { email: 'ada@example.org', password: PASSWORD }

async function login(services: AccountServices, request = ADA, address = ADDRESS) {
  const opened = await services.accounts.login(request, address)
  return { ...opened, credential: await services.credentialOf(opened.keySecret) }
}

describe('AccountService.register', () => {
  it('makes a free user and its first key', async () => {
    const { accounts, credentialOf, keys } = await createAccountServices()

    const account = await accounts.register({ email: '  Ada@Example.org ', password: PASSWORD }, ADDRESS)

    expect(account).toMatchObject({ email: 'Ada@Example.org', tier: 'free' })
    const credential = await credentialOf(account.keySecret)
    expect(credential).toMatchObject({ accountId: account.userId, userId: account.userId, tier: 'free' })
    expect((await keys.list(credential, ALL)).items).toMatchObject([
      { name: '', tier: 'free', isActive: true, expiresAtUnixSeconds: null },
    ])
    expect((await accounts.listUsers(ALL)).items).toEqual([
      {
        userId: account.userId,
        email: 'Ada@Example.org',
        tier: 'free',
        role: 'user',
        isDisabled: false,
        createdAtUnixSeconds: 1_700_000_000.25,
        teamId: null,
        dailyTokenBudget: null,
        monthlyTokenBudget: null,
      },
    ])
  })

  it.each(['ada@example.org', ' ADA@EXAMPLE.ORG ', 'Ada@example.org'])('takes %j once', async (email) => {
    const { accounts } = await createAccountServices()
    await accounts.register(ADA, ADDRESS)

    const error = await errorOf(accounts.register({ email, password: 'another password' }, ADDRESS))

    expect(error).toMatchObject({ code: 'email_taken', status: 409 })
    expect(error.message).toBe(`The e-mail address ${email.trim()} is registered already.`)
  })

  it('makes one account and one key when 50 at once ask for one e-mail', async () => {
    const { accounts, keys } = await createAccountServices()
    const emails = Array.from({ length: 50 }, (_, turn) => (turn % 2 === 0 ? ADA.email : 'ADA@example.org'))

    const made = await Promise.allSettled(
      emails.map((email) => accounts.register({ email, password: PASSWORD }, ADDRESS)),
    )

    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const reasons = made.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(reasons).toHaveLength(49)
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'email_taken' })
    expect((await accounts.listUsers(ALL)).count).toBe(1)
    expect((await keys.listAll(ALL)).count).toBe(1)
  })

  it('is refused where registration is closed, but not to the admin', async () => {
    const { accounts } = await createAccountServices({ isRegistrationOpen: false })

    const error = await errorOf(accounts.register(ADA, ADDRESS))

    expect(error).toMatchObject({ code: 'registration_closed', status: 404 })
    expect(await accounts.createUser({ ...ADA, tier: 'pro' })).toMatchObject({ tier: 'pro' })
  })

  it.each(SQL_INJECTIONS)('keeps %j as an e-mail and a password', async (text) => {
    const { accounts } = await createAccountServices()
    await accounts.register(ADA, ADDRESS)

    const { userId } = await accounts.register({ email: text, password: text }, ADDRESS)

    expect(await accounts.login({ email: text, password: text }, ADDRESS)).toMatchObject({ userId })
    expect((await accounts.listUsers(ALL)).items.map(({ email }) => email).sort()).toEqual(
      [text, ADA.email].sort(),
    )
  })
})

describe('AccountService.login', () => {
  it('opens a session that is neither listed nor counted', async () => {
    const services = await createAccountServices()
    const { userId } = await services.registered()

    const opened = await login(services, { ...ADA, email: ' ADA@example.org' })

    expect(opened).toMatchObject({ userId, email: ADA.email, tier: 'free' })
    expect(opened.keySecret).toMatch(/^sk-svc-[\da-f]{64}$/)
    expect((await services.keys.list(opened.credential, ALL)).count).toBe(1)
    await services.keys.create(opened.credential, { name: '', expiresInDays: null })
  })

  const WRONG: Readonly<Record<string, { email: string; password: string }>> = {
    'an unknown e-mail': { email: 'eve@example.org', password: PASSWORD },
    'a wrong password': { email: ADA.email, password: 'incorrect horse' },
    'an empty password': { email: ADA.email, password: '' },
    'an empty e-mail': { email: '', password: PASSWORD },
    'a password that is too long': { email: ADA.email, password: 'x'.repeat(100_000) },
    'an unknown e-mail and a password that is too long': {
      email: 'eve@example.org',
      password: '🔑'.repeat(129),
    },
    'a disabled user': { email: 'disabled@example.org', password: PASSWORD },
    'a disabled user and a wrong password': { email: 'disabled@example.org', password: 'incorrect horse' },
  }

  it.each(Object.keys(WRONG))('answers %s in one way, after the same work', async (name) => {
    const verifyHash = vi.fn(verify)
    const services = await createAccountServices({ verifyHash })
    await services.registered()
    const { userId } = await services.registered('disabled@example.org')
    await services.accounts.changeUser(userId, { disabled: true })

    const error = await errorOf(services.accounts.login(WRONG[name] ?? ADA, ADDRESS))

    expect(error).toMatchObject({ code: 'invalid_login', status: 401, params: {} })
    expect(error.message).toBe('The e-mail address or the password is wrong.')
    expect(verifyHash).toHaveBeenCalledTimes(1)
    const [passwordHash, password] = verifyHash.mock.calls[0] ?? []
    expect(passwordHash).toMatch(/^\$argon2id\$v=19\$m=8,t=1,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(password?.length).toBeLessThanOrEqual(128)
  })

  it.each([...SQL_INJECTIONS, 'nul\0byte'])('lets nobody in with %j', async (text) => {
    const services = await createAccountServices()
    await services.registered()

    expect(await codeOf(services.accounts.login({ email: text, password: PASSWORD }, ADDRESS))).toBe(
      'invalid_login',
    )
    expect(await codeOf(services.accounts.login({ email: ADA.email, password: text }, ADDRESS))).toBe(
      'invalid_login',
    )
  })

  it('checks no more than 10 wrong passwords a minute, however many come at once', async () => {
    const verifyHash = vi.fn(verify)
    const services = await createAccountServices({ verifyHash })
    await services.registered()
    const wrong = { ...ADA, password: 'incorrect horse' }

    const codes = await Promise.all(
      Array.from({ length: 20 }, () => codeOf(services.accounts.login(wrong, ADDRESS))),
    )

    expect(codes.filter((code) => code === 'invalid_login')).toHaveLength(10)
    expect(codes.filter((code) => code === 'too_many_logins')).toHaveLength(10)
    expect(verifyHash).toHaveBeenCalledTimes(10)
    expect(await codeOf(services.accounts.login(ADA, ADDRESS))).toBe('too_many_logins')
    expect(await services.accounts.login(ADA, '192.0.2.2')).toMatchObject({ email: ADA.email })

    services.clock.advance(60_000)
    expect(await services.accounts.login(ADA, ADDRESS)).toMatchObject({ email: ADA.email })
  })

  it('counts the right password of a disabled user as a failure, so that it does not stand out', async () => {
    const services = await createAccountServices()
    const { userId } = await services.registered()
    await services.accounts.changeUser(userId, { disabled: true })

    for (let turn = 0; turn < 10; turn++) await codeOf(services.accounts.login(ADA, ADDRESS))

    expect(await codeOf(services.accounts.login(ADA, ADDRESS))).toBe('too_many_logins')
  })

  it('counts logins that succeed to no e-mail, but to their address', async () => {
    const services = await createAccountServices()
    await services.registered()

    for (let turn = 0; turn < 25; turn++) await services.accounts.login(ADA, ADDRESS)
    expect(await codeOf(services.accounts.login({ ...ADA, password: 'no' }, ADDRESS))).toBe('invalid_login')
    for (let turn = 26; turn < 100; turn++) await services.accounts.login(ADA, ADDRESS)

    expect(await codeOf(services.accounts.login(ADA, ADDRESS))).toBe('too_many_logins')
  })

  it('logs a victim in from a fourth address, however often twenty accounts log in from three', async () => {
    // In PostgreSQL they wait for eight connections as well: six hundred would take minutes on a busy machine.
    const [attackerCount, loginCount] = isPostgres() ? [30, 10] : [600, 60]
    const services = await createAccountServices()
    await services.registered()
    const crowd = Array.from({ length: 20 }, (_, turn) => `crowd-${turn}@example.org`)
    for (const email of crowd) await services.registered(email)
    const over = new AbortController()
    const attackers = Array.from({ length: attackerCount }, async (_, turn) => {
      const account = { email: crowd[turn % 20] ?? '', password: PASSWORD }
      while (!over.signal.aborted) {
        await services.accounts.login(account, `198.51.100.${turn % 3}`).catch(() => {})
        await nextTurn()
      }
    })

    for (let turn = 0; turn < loginCount; turn++) {
      expect(await services.accounts.login(ADA, ADDRESS)).toMatchObject({ email: ADA.email })
    }
    over.abort()
    await Promise.all(attackers)
  })

  it('keeps the twenty newest sessions of an account, and ends the oldest', async () => {
    const services = await createAccountServices()
    await services.registered()
    await services.registered('bob@example.org')
    const bob = await login(services, { email: 'bob@example.org', password: PASSWORD })
    const opened = []
    for (let turn = 0; turn < 25; turn++) {
      opened.push((await services.accounts.login(ADA, ADDRESS)).keySecret)
      services.clock.advance(1)
    }

    const isLive = await Promise.all(
      opened.map(async (secret) => (await services.authenticator.authenticate(secret)) !== null),
    )

    expect(isLive).toEqual(Array.from({ length: 25 }, (_, turn) => turn >= 5))
    expect(await services.authenticator.authenticate(bob.keySecret)).not.toBeNull()
  })

  it('does not count what was never checked', async () => {
    const verifyHash = () => Promise.reject(new Error('out of memory'))
    const services = await createAccountServices({ verifyHash })
    await services.registered()

    for (let turn = 0; turn < 12; turn++) {
      await expect(services.accounts.login(ADA, ADDRESS)).rejects.toThrow('out of memory')
    }
  })

  it('opens no session for a user who is changed while the password is checked', async () => {
    const verifyHash = vi.fn(verify)
    const services = await createAccountServices({ verifyHash })
    const { userId } = await services.registered()
    const changes = [
      () => services.accounts.changeUser(userId, { password: 'quite another' }),
      () => services.accounts.changeUser(userId, { disabled: true }),
      () => services.accounts.deleteUser(userId),
    ]

    for (const change of changes) {
      verifyHash.mockImplementationOnce(async (...checked) => {
        const isRight = await verify(...checked)
        expect(isRight).toBe(true)
        await change()
        return isRight
      })
      expect(await codeOf(services.accounts.login(ADA, ADDRESS))).toBe('invalid_login')
      expect(await services.database.selectFrom('sessions').select('id').execute()).toEqual([])
      await services.accounts.changeUser(userId, { disabled: false, password: PASSWORD }).catch(() => {})
    }
  })

  it('sweeps the sessions that have expired', async () => {
    const services = await createAccountServices()
    await services.registered()
    await services.accounts.login(ADA, ADDRESS)
    services.clock.advance(DAY_MS / 2)
    await services.accounts.login(ADA, ADDRESS)
    services.clock.advance(DAY_MS / 2)

    await services.accounts.login(ADA, ADDRESS)

    expect(await services.database.selectFrom('sessions').select('id').execute()).toHaveLength(2)
  })
})

describe('AccountService.logout', () => {
  it('ends that session at once and no other', async () => {
    const services = await createAccountServices()
    await services.registered()
    const [one, two] = [await login(services), await login(services)]

    await services.accounts.logout(one.credential)

    expect(await services.authenticator.authenticate(one.keySecret)).toBeNull()
    expect(await services.authenticator.authenticate(two.keySecret)).not.toBeNull()
  })

  it('is not for keys', async () => {
    const services = await createAccountServices()
    const { keySecret } = await services.registered()

    const error = await errorOf(services.accounts.logout(await services.credentialOf(keySecret)))

    expect(error).toMatchObject({ code: 'not_a_session', status: 400 })
    expect(error.message).toContain('DELETE /v1/keys/{key_id}')
    expect(await codeOf(services.accounts.logout(OPERATOR))).toBe('not_a_session')
    expect(await services.authenticator.authenticate(keySecret)).not.toBeNull()
  })
})

describe('AccountService.changePassword', () => {
  const CHANGE = { currentPassword: PASSWORD, newPassword: 'battery staple' }

  it("ends all other sessions, keeps the caller's own and the keys", async () => {
    const services = await createAccountServices()
    const { keySecret } = await services.registered()
    const [own, other] = [await login(services), await login(services)]

    await services.accounts.changePassword(own.credential, CHANGE, ADDRESS)

    expect(await services.authenticator.authenticate(own.keySecret)).not.toBeNull()
    expect(await services.authenticator.authenticate(other.keySecret)).toBeNull()
    expect(await services.authenticator.authenticate(keySecret)).not.toBeNull()
    expect(await codeOf(services.accounts.login(ADA, ADDRESS))).toBe('invalid_login')
    await services.accounts.login({ ...ADA, password: CHANGE.newPassword }, ADDRESS)
  })

  it('works with a key, and ends all sessions', async () => {
    const services = await createAccountServices()
    const { keySecret } = await services.registered()
    const session = await login(services)

    await services.accounts.changePassword(await services.credentialOf(keySecret), CHANGE, ADDRESS)

    expect(await services.authenticator.authenticate(session.keySecret)).toBeNull()
  })

  it('refuses a wrong password, under the throttle of the login', async () => {
    const services = await createAccountServices()
    await services.registered()
    const { credential } = await login(services)
    const wrong = { ...CHANGE, currentPassword: 'incorrect horse' }

    const codes = await Promise.all(
      Array.from({ length: 20 }, () => codeOf(services.accounts.changePassword(credential, wrong, ADDRESS))),
    )

    expect(codes.filter((code) => code === 'wrong_password')).toHaveLength(10)
    expect(codes.filter((code) => code === 'too_many_logins')).toHaveLength(10)
    expect(await codeOf(services.accounts.login(ADA, ADDRESS))).toBe('too_many_logins')
    services.clock.advance(60_000)
    expect(await errorOf(services.accounts.changePassword(credential, wrong, ADDRESS))).toMatchObject({
      status: 400,
      param: 'current_password',
    })
  })

  it('happens once when two change it at once', async () => {
    const services = await createAccountServices()
    await services.registered()
    const { credential } = await login(services)
    const changes = ['battery staple', 'staple battery'].map((newPassword) =>
      services.accounts.changePassword(credential, { ...CHANGE, newPassword }, ADDRESS),
    )

    const results = await Promise.allSettled(changes)

    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('needs a user', async () => {
    const services = await createAccountServices()
    const { keySecret } = await services.keys.createFor({
      name: '',
      tier: 'free',
      expiresInDays: null,
      userId: null,
    })
    const userless = await services.credentialOf(keySecret)

    expect(await codeOf(services.accounts.changePassword(userless, CHANGE, ADDRESS))).toBe('user_required')
    expect(await codeOf(services.accounts.changePassword(OPERATOR, CHANGE, ADDRESS))).toBe('user_required')
  })

  it('is refused to a credential that has ended meanwhile', async () => {
    const services = await createAccountServices()
    const { userId } = await services.registered()
    const { credential } = await login(services)

    await services.accounts.changeUser(userId, { disabled: true })
    expect(await codeOf(services.accounts.changePassword(credential, CHANGE, ADDRESS))).toBe('unauthorized')

    await services.accounts.deleteUser(userId)
    expect(await codeOf(services.accounts.changePassword(credential, CHANGE, ADDRESS))).toBe('unauthorized')
  })
})

describe('AccountService for the admin', () => {
  it('disabling ends sessions and stops keys at once; enabling brings the keys back', async () => {
    const services = await createAccountServices()
    const { userId, keySecret } = await services.registered()
    const session = await login(services)

    expect(await services.accounts.changeUser(userId, { disabled: true })).toMatchObject({ isDisabled: true })
    expect(await services.authenticator.authenticate(keySecret)).toBeNull()
    expect(await services.authenticator.authenticate(session.keySecret)).toBeNull()
    expect(await codeOf(services.accounts.login(ADA, ADDRESS))).toBe('invalid_login')

    expect(await services.accounts.changeUser(userId, { disabled: false })).toMatchObject({
      isDisabled: false,
    })
    expect(await services.authenticator.authenticate(keySecret)).not.toBeNull()
    expect(await services.authenticator.authenticate(session.keySecret)).toBeNull()
  })

  it('deleting removes the user, its keys and its sessions, and nobody else', async () => {
    const services = await createAccountServices()
    const { userId, keySecret } = await services.registered()
    const eve = await services.registered('eve@example.org')
    const session = await login(services)

    await services.accounts.deleteUser(userId)

    expect(await services.authenticator.authenticate(keySecret)).toBeNull()
    expect(await services.authenticator.authenticate(session.keySecret)).toBeNull()
    expect(await services.authenticator.authenticate(eve.keySecret)).not.toBeNull()
    expect((await services.keys.listAll(ALL)).count).toBe(1)
    expect(await services.database.selectFrom('sessions').select('id').execute()).toEqual([])
    expect(await codeOf(services.accounts.deleteUser(userId))).toBe('user_not_found')
    expect((await services.accounts.register(ADA, ADDRESS)).userId).not.toBe(userId)
  })

  it('a new password ends all sessions, and the old one is over', async () => {
    const services = await createAccountServices()
    const { userId, keySecret } = await services.registered()
    const session = await login(services)

    await services.accounts.changeUser(userId, { password: 'battery staple' })

    expect(await services.authenticator.authenticate(session.keySecret)).toBeNull()
    expect(await services.authenticator.authenticate(keySecret)).not.toBeNull()
    expect(await codeOf(services.accounts.login(ADA, ADDRESS))).toBe('invalid_login')
    await services.accounts.login({ ...ADA, password: 'battery staple' }, ADDRESS)
  })

  it('a change of tier ends nothing', async () => {
    const services = await createAccountServices()
    const { userId, keySecret } = await services.registered()
    const session = await login(services)

    expect(await services.accounts.changeUser(userId, { tier: 'enterprise' })).toMatchObject({
      tier: 'enterprise',
    })

    expect(await services.credentialOf(session.keySecret)).toMatchObject({ tier: 'enterprise' })
    expect(await services.credentialOf(keySecret)).toMatchObject({ tier: 'free' })
  })

  it('keeps what a change does not name', async () => {
    const services = await createAccountServices()
    const { userId } = await services.registered()
    await services.accounts.changeUser(userId, { disabled: true, tier: 'pro' })

    const user = await services.accounts.changeUser(userId, {})

    expect(user).toMatchObject({ email: ADA.email, tier: 'pro', isDisabled: true })
  })

  it.each(['unknown', 'operator', 'nul\0byte', ...SQL_INJECTIONS])('finds no user %j', async (userId) => {
    const services = await createAccountServices()
    await services.registered()

    expect(await codeOf(services.accounts.changeUser(userId, { disabled: true }))).toBe('user_not_found')
    expect(await codeOf(services.accounts.changeUser(userId, { password: PASSWORD }))).toBe('user_not_found')
    expect(await codeOf(services.accounts.deleteUser(userId))).toBe('user_not_found')
    expect((await services.accounts.listUsers(ALL)).items).toMatchObject([{ isDisabled: false }])
  })

  it('lists users in pages', async () => {
    const services = await createAccountServices()
    for (const name of ['c', 'a', 'b']) {
      await services.registered(`${name}@example.org`)
      services.clock.advance(1)
    }

    const first = await services.accounts.listUsers({ limit: 2, cursor: null })
    const second = await services.accounts.listUsers({ limit: 2, cursor: first.nextCursor })

    expect(first).toMatchObject({ items: [{ email: 'c@example.org' }, { email: 'a@example.org' }], count: 3 })
    expect(second).toMatchObject({ items: [{ email: 'b@example.org' }], count: 3, nextCursor: null })
    expect(await codeOf(services.accounts.listUsers({ limit: 2, cursor: '!' }))).toBe('invalid_request')
  })
})

describe('AccountService.createFirstAdmin', () => {
  it('makes one admin when two at once ask to be the first', async () => {
    const { accounts } = await createAccountServices()
    const emails = ['ada@example.org', 'eve@example.org']

    const made = await Promise.allSettled(
      emails.map((email) => accounts.createFirstAdmin({ email, password: PASSWORD }, ADDRESS)),
    )

    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const reasons = made.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(reasons).toMatchObject([{ code: 'admin_exists' }])
    expect((await accounts.listUsers(ALL)).items).toMatchObject([{ role: 'admin' }])
  })
})

describe('AccountService.hasAnyAccount', () => {
  it('is true with a user, or with a key that is an account of its own', async () => {
    const services = await createAccountServices()
    expect(await services.accounts.hasAnyAccount()).toBe(false)
    const { userId } = await services.registered()
    expect(await services.accounts.hasAnyAccount()).toBe(true)
    await services.accounts.deleteUser(userId)
    expect(await services.accounts.hasAnyAccount()).toBe(false)

    const { record } = await services.keys.createFor({
      name: '',
      tier: 'free',
      expiresInDays: null,
      userId: null,
    })

    expect(await services.accounts.hasAnyAccount()).toBe(true)
    await services.keys.revokeAny(record.id)
    expect(await services.accounts.hasAnyAccount()).toBe(false)
  })

  it("does not count the operator's own keys, nor those that have expired", async () => {
    const services = await createAccountServices()
    await services.keys.create(OPERATOR, { name: '', expiresInDays: null })
    expect(await services.accounts.hasAnyAccount()).toBe(false)

    await services.keys.createFor({ name: '', tier: 'free', expiresInDays: 1, userId: null })
    expect(await services.accounts.hasAnyAccount()).toBe(true)
    services.clock.advance(DAY_MS)

    expect(await services.accounts.hasAnyAccount()).toBe(false)
  })
})

describe('the database file', () => {
  it('holds no secret and no password, whatever has been done', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sluice-accounts-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const services = await createAccountServices({ location: path.join(folder, 'api.db') })
    const { userId, keySecret } = await services.registered()
    const session = await login(services)
    const made = await services.keys.create(session.credential, { name: 'laptop', expiresInDays: null })
    const userless = await services.keys.createFor({ name: '', tier: 'pro', expiresInDays: 1, userId: null })
    const passwords = { currentPassword: PASSWORD, newPassword: 'battery staple' }
    await services.accounts.changePassword(session.credential, passwords, ADDRESS)
    await services.accounts.changeUser(userId, { password: 'hunter2 hunter2' })
    await codeOf(services.accounts.login({ ...ADA, password: 'mistyped horse' }, ADDRESS))

    const bytes = Buffer.concat(readdirSync(folder).map((name) => readFileSync(path.join(folder, name))))

    expect(bytes.includes('laptop')).toBe(true)
    expect(bytes.includes('battery staple') || bytes.includes('hunter2')).toBe(false)
    expect(bytes.includes(PASSWORD) || bytes.includes('mistyped')).toBe(false)
    for (const secret of [keySecret, session.keySecret, made.keySecret, userless.keySecret]) {
      expect(bytes.includes(secret.slice(0, 15))).toBe(secret !== session.keySecret)
      // Neither in whole, nor as bare hex, nor as bytes.
      expect(bytes.includes(secret.slice(15, 47))).toBe(false)
      expect(bytes.includes(Buffer.from(secret.slice(7), 'hex'))).toBe(false)
    }
  })
})
