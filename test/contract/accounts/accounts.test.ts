/** Registration, login, logout and change of password. */
import { describe, expect, it } from 'vitest'
import { createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'

const register = (email: unknown, password: unknown) =>
  ({ method: 'POST', url: '/v1/auth/register', payload: { email, password } }) as const

const login = (email: unknown, password: unknown) =>
  ({ method: 'POST', url: '/v1/auth/login', payload: { email, password } }) as const

describe('POST /v1/auth/register', () => {
  it('makes an account of tier free, and a key that is shown once', async () => {
    const { app, as } = await createAccountsApp()

    const answer = await app.inject(register('  Ann@Example.org ', PASSWORD))

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      user_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      email: 'Ann@Example.org',
      tier: 'free',
      api_key: expect.stringMatching(/^sk-svc-[0-9a-f]{64}$/),
      message: expect.any(String),
    })
    const key = answer.json<{ api_key: string }>().api_key
    const listing = await as(key, 'GET', '/v1/keys')
    expect(listing.json()).toEqual({
      keys: [
        {
          id: expect.any(String),
          key_prefix: key.slice(0, 15),
          name: '',
          tier: 'free',
          is_active: true,
          created_at: expect.any(Number),
          expires_at: null,
          rate_limit_rpm: 60,
          max_concurrent_requests: 1,
          ...{ requests_this_minute: 1, open_requests: 0 },
          budgets: [],
          last_used: expect.any(Number),
        },
      ],
    })
    expect(listing.body).not.toContain(key)
  })

  it.each(['ann@example.org', ' ANN@EXAMPLE.ORG', 'Ann@example.Org'])(
    '%j is taken by ann@example.org',
    async (email) => {
      const { app, register: registerUser } = await createAccountsApp()
      await registerUser('ann@example.org')

      const answer = await app.inject(register(email, PASSWORD))

      expect(answer.statusCode).toBe(409)
      expect(answer.headers['x-error-code']).toBe('email_taken')
      expect(answer.headers['x-should-retry']).toBe('false')
    },
  )

  it.each([
    ['email is required', undefined, PASSWORD],
    ['email must be an e-mail address of at most 254 characters, but was "ann"', 'ann', PASSWORD],
    ['email must be an e-mail address of at most 254 characters, but was 7', 7, PASSWORD],
    ['password is required', 'ann@example.org', undefined],
    ['password must be a string of 8 to 128 characters, but has 7', 'ann@example.org', '1234567'],
    ['password must be a string of 8 to 128 characters, but has 129', 'ann@example.org', '😀'.repeat(129)],
    ['password must be a string of 8 to 128 characters.', 'ann@example.org', 12_345_678],
  ])('refuses: %s', async (detail, email, password) => {
    const { app } = await createAccountsApp()

    const answer = await app.inject(register(email, password))

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toContain(detail)
  })

  it.each(['12345678', '😀'.repeat(128), '  spaces  '])(
    'takes the password %j as it is',
    async (password) => {
      const { app } = await createAccountsApp()

      expect((await app.inject(register('ann@example.org', password))).statusCode).toBe(200)
      expect((await app.inject(login('ann@example.org', password))).statusCode).toBe(200)
      expect((await app.inject(login('ann@example.org', password.trim() + 'x'))).statusCode).toBe(401)
    },
  )

  it('never repeats a password that is refused, not even in a body that is no JSON', async () => {
    const { app } = await createAccountsApp()
    const secret = 'hunter2'

    const short = await app.inject(register('ann@example.org', secret))
    const broken = await app.inject({
      method: 'POST',
      url: '/v1/auth/register',
      headers: { 'content-type': 'application/json' },
      payload: `{"email": "ann@example.org", "password": ${secret}}`,
    })

    expect([short.statusCode, broken.statusCode]).toEqual([400, 400])
    expect(short.body + broken.body).not.toContain(secret)
    expect(broken.json().detail).toMatch(/^The request body is not valid JSON: Unexpected token/)
  })

  it.each(['register', 'login', 'password'])('nor in JSON that was made a string of: %s', async (route) => {
    const { call } = await createAccountsApp()

    const answer = await call({
      method: 'POST',
      url: `/v1/auth/${route}`,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(JSON.stringify({ password: PASSWORD, current_password: PASSWORD })),
    })

    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({ detail: 'The request body must be a JSON object.' })
  })

  it('is not there when registration is closed', async () => {
    const { app, admin } = await createAccountsApp({ config: { registration: 'closed' } })

    const answer = await app.inject(register('ann@example.org', PASSWORD))

    expect(answer.statusCode).toBe(404)
    expect(answer.headers['x-error-code']).toBe('registration_closed')
    const byAdmin = await admin('POST', '/v1/admin/users', { email: 'ann@example.org', password: PASSWORD })
    expect(byAdmin.statusCode).toBe(200)
    expect((await app.inject(login('ann@example.org', PASSWORD))).statusCode).toBe(200)
  })
})

describe('POST /v1/auth/login', () => {
  it('gives a session that is good wherever a key is, for 24 hours, and is in no listing', async () => {
    const { app, as, clock, register: registerUser } = await createAccountsApp()
    const { userId } = await registerUser('ann@example.org')

    const answer = await app.inject(login('ANN@example.org ', PASSWORD))

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      user_id: userId,
      email: 'ann@example.org',
      tier: 'free',
      token: expect.stringMatching(/^sk-svc-[0-9a-f]{64}$/),
      expires_at: clock.unixSeconds() + 86_400,
    })
    const { token } = answer.json<{ token: string }>()
    expect((await as(token, 'POST', '/v1/generate', { prompt: 'ab' })).statusCode).toBe(200)
    expect((await as(token, 'GET', '/v1/keys')).json().keys).toHaveLength(1)
    expect((await as(token, 'GET', '/v1/usage')).json()).toMatchObject({
      requests: 1,
      tokens_in: 2,
      tokens_out: 2,
    })
    clock.advance(86_400_000 - 1)
    expect((await as(token, 'GET', '/v1/keys')).statusCode).toBe(200)
    clock.advance(1)
    expect((await as(token, 'GET', '/v1/keys')).statusCode).toBe(401)
  })

  it.each([
    ['email', '\ud800', PASSWORD],
    ['password', 'ann@example.org', '\ud800'],
  ])('refuses text that is none: %s', async (field, email, password) => {
    const { app } = await createAccountsApp()
    const answer = await app.inject(login(email, password))
    expect([answer.statusCode, answer.json().detail]).toEqual([400, expect.stringContaining(`${field} must`)])
  })

  it('says the same of a wrong password, an unknown e-mail and a disabled user', async () => {
    const { app, admin, register: registerUser } = await createAccountsApp()
    await registerUser('ann@example.org')
    const { userId } = await registerUser('off@example.org')
    await admin('PATCH', `/v1/admin/users/${userId}`, { disabled: true })

    const answers = [
      await app.inject(login('ann@example.org', 'wrong password')),
      await app.inject(login('nobody@example.org', PASSWORD)),
      await app.inject(login('off@example.org', PASSWORD)),
      await app.inject(login('', '')),
    ]

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401, 401])
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
  })

  it.each([
    ['password is required', 'ann@example.org', undefined],
    ['email must be a string, but was 7', 7, PASSWORD],
    ['password must be a string', 'ann@example.org', null],
  ])('refuses: %s', async (detail, email, password) => {
    const { app } = await createAccountsApp()

    const answer = await app.inject(login(email, password))

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toContain(detail)
  })

  it('stops the guessing of a password after ten failures in a minute, and nobody else', async () => {
    const { app, clock, register: registerUser } = await createAccountsApp()
    await registerUser('ann@example.org')
    await registerUser('bob@example.org')

    const failures = await Promise.all(
      Array.from({ length: 12 }, () => app.inject(login('ann@example.org', 'wrong password'))),
    )

    expect(failures.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([
      ...Array.from({ length: 10 }, () => 401),
      429,
      429,
    ])
    const refused = await app.inject(login('ann@example.org', PASSWORD))
    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toMatchObject({ 'x-error-code': 'too_many_logins', 'retry-after': '60' })
    expect((await app.inject(login('bob@example.org', PASSWORD))).statusCode).toBe(200)
    clock.advance(60_000)
    expect((await app.inject(login('ann@example.org', PASSWORD))).statusCode).toBe(200)
  })

  it('lets thirty right logins of one account in at once', async () => {
    const { app, register: registerUser } = await createAccountsApp()
    await registerUser('ann@example.org')

    const answers = await Promise.all(
      Array.from({ length: 30 }, () => app.inject(login('ann@example.org', PASSWORD))),
    )

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 30 }, () => 200))
  })
})

describe('POST /v1/auth/logout', () => {
  it('ends that session at once, and no other', async () => {
    const { app, as, register: registerUser } = await createAccountsApp()
    await registerUser('ann@example.org')
    const [one, two] = await Promise.all(
      [1, 2].map(async () => (await app.inject(login('ann@example.org', PASSWORD))).json().token as string),
    )

    const answer = await as(one ?? '', 'POST', '/v1/auth/logout')

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ status: 'logged_out' })
    expect((await as(one ?? '', 'GET', '/v1/keys')).statusCode).toBe(401)
    expect((await as(two ?? '', 'GET', '/v1/keys')).statusCode).toBe(200)
  })

  it('tells a key that it is no session', async () => {
    const { as, register: registerUser } = await createAccountsApp()
    const { key } = await registerUser()

    const answer = await as(key, 'POST', '/v1/auth/logout')

    expect(answer.statusCode).toBe(400)
    expect(answer.headers['x-error-code']).toBe('not_a_session')
  })
})

describe('POST /v1/auth/password', () => {
  it('changes the password and ends all sessions but the one it came from', async () => {
    const { app, as, register: registerUser } = await createAccountsApp()
    const { key } = await registerUser('ann@example.org')
    const begin = async () => (await app.inject(login('ann@example.org', PASSWORD))).json().token as string
    const [mine, other] = [await begin(), await begin()]

    const answer = await as(mine, 'POST', '/v1/auth/password', {
      current_password: PASSWORD,
      new_password: 'another horse',
    })

    expect(answer.json()).toEqual({ status: 'password_changed' })
    expect((await as(mine, 'GET', '/v1/keys')).statusCode).toBe(200)
    expect((await as(other, 'GET', '/v1/keys')).statusCode).toBe(401)
    expect((await as(key, 'GET', '/v1/keys')).statusCode).toBe(200)
    expect((await app.inject(login('ann@example.org', PASSWORD))).statusCode).toBe(401)
    expect((await app.inject(login('ann@example.org', 'another horse'))).statusCode).toBe(200)
  })

  it('refuses a wrong current password, a bad new one, and whoever has no password', async () => {
    const { as, call, register: registerUser } = await createAccountsApp()
    const { key } = await registerUser()
    const change = (current: unknown, next: unknown) => ({ current_password: current, new_password: next })

    const wrong = await as(key, 'POST', '/v1/auth/password', change('wrong password', 'another horse'))
    const short = await as(key, 'POST', '/v1/auth/password', change(PASSWORD, 'short'))
    const operator = await call({
      method: 'POST',
      url: '/v1/auth/password',
      payload: change(PASSWORD, 'another horse'),
    })

    expect([wrong.statusCode, wrong.headers['x-error-code']]).toEqual([400, 'wrong_password'])
    expect(short.json().detail).toBe('new_password must be a string of 8 to 128 characters, but has 5.')
    expect([operator.statusCode, operator.headers['x-error-code']]).toEqual([400, 'user_required'])
  })
})
