/** What an address may try: logins, registrations, admin keys. One that is over a limit stops no other. */
import { describe, expect, it } from 'vitest'
import { createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'
import { ADMIN_KEY } from '../../support/servers/test-app.ts'

const ATTACKERS = ['198.51.100.1', '198.51.100.2', '198.51.100.3']
const VICTIM = '192.0.2.4'

async function setUp() {
  const world = await createAccountsApp()
  const post = (route: string, email: string, remoteAddress: string) =>
    world.app.inject({
      method: 'POST',
      url: `/v1/auth/${route}`,
      remoteAddress,
      payload: { email, password: PASSWORD },
    })
  const tryAdmin = (secret: string, remoteAddress: string) =>
    world.app.inject({
      url: '/v1/admin/keys',
      remoteAddress,
      headers: { authorization: `Bearer ${secret}` },
    })
  return { ...world, post, tryAdmin }
}

describe('logins', () => {
  it('of twenty accounts from three addresses keep nobody on a fourth out', async () => {
    const { post, register } = await setUp()
    const crowd = Array.from({ length: 20 }, (_, turn) => `crowd-${turn}@example.org`)
    for (const email of ['victim@example.org', ...crowd]) await register(email)

    const attack = Array.from({ length: 900 }, (_, turn) =>
      post('login', crowd[turn % 20] ?? '', ATTACKERS[turn % 3] ?? ''),
    )
    const victim = await Promise.all(
      Array.from({ length: 60 }, () => post('login', 'victim@example.org', VICTIM)),
    )

    expect(victim.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 60 }, () => 200))
    const answers = await Promise.all(attack)
    // A hundred from each address, though each password was right.
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(300)
    expect(answers.find(({ statusCode }) => statusCode !== 200)?.statusCode).toBe(429)
  })
})

describe('registrations', () => {
  it('are a hundred a minute from one address, and take none from another', async () => {
    const { post, clock } = await setUp()
    const [address = ''] = ATTACKERS
    for (let turn = 0; turn < 99; turn++) {
      expect((await post('register', `user-${turn}@example.org`, address)).statusCode).toBe(200)
    }
    // A try that fails is one as well: it tells that there is such an account.
    expect((await post('register', 'user-0@example.org', address)).statusCode).toBe(409)

    const refused = await post('register', 'one-more@example.org', address)

    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toMatchObject({ 'x-error-code': 'too_many_registrations', 'retry-after': '60' })
    expect(refused.json().detail).toBe(
      'Too many registrations from one address: at most 100 a minute may be made; try again in 60 s.',
    )
    expect((await post('register', 'one-more@example.org', VICTIM)).statusCode).toBe(200)
    expect((await post('login', 'user-0@example.org', address)).statusCode).toBe(200)
    clock.advance(60_000)
    expect((await post('register', 'later@example.org', address)).statusCode).toBe(200)
  })
})

describe('guesses of the admin key', () => {
  it('are thirty a minute from one address, each in the log, and then refuse the right key too', async () => {
    const { tryAdmin, clock, logLines } = await setUp()
    const [address = ''] = ATTACKERS
    for (let turn = 0; turn < 30; turn++) {
      expect((await tryAdmin(`guess number ${turn}`, address)).statusCode).toBe(401)
    }

    const refused = await tryAdmin('one more guess', address)

    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toMatchObject({ 'x-error-code': 'too_many_admin_keys', 'retry-after': '60' })
    expect(refused.json().detail).toBe(
      'Too many wrong admin keys from one address: at most 30 a minute may be tried; try again in 60 s.',
    )
    expect((await tryAdmin(ADMIN_KEY, address)).statusCode).toBe(429)
    expect((await tryAdmin(ADMIN_KEY, VICTIM)).statusCode).toBe(200)
    clock.advance(60_000)
    expect((await tryAdmin(ADMIN_KEY, address)).statusCode).toBe(200)
    const warnings = logLines.filter(({ level }) => level === 'warn')
    expect(warnings).toHaveLength(30)
    expect(warnings[0]).toMatchObject({ msg: 'a wrong admin key was sent', requestId: expect.any(String) })
    expect(JSON.stringify(logLines)).not.toContain('guess number')
  })

  it('are not the keys of users, who get the same 401 however often they ask', async () => {
    const { tryAdmin, register, app } = await setUp()
    const { key } = await register()

    for (let turn = 0; turn < 40; turn++) expect((await tryAdmin(key, VICTIM)).statusCode).toBe(401)
    for (let turn = 0; turn < 40; turn++) {
      expect((await app.inject({ url: '/v1/admin/keys', remoteAddress: VICTIM })).statusCode).toBe(401)
    }

    expect((await tryAdmin(ADMIN_KEY, VICTIM)).statusCode).toBe(200)
  })
})
