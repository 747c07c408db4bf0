/** `/v1/admin/users`: accounts, for the admin. */
import { describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'
import { ADMIN_KEY, KEY } from '../../support/servers/test-app.ts'

const EMAIL = 'ann@example.org'
const NOBODY = '00000000-0000-4000-8000-000000000000'

async function login({ app }: AccountsApp, password: string): Promise<number> {
  const answer = await app.inject({
    method: 'POST',
    url: '/v1/auth/login',
    payload: { email: EMAIL, password },
  })
  return answer.statusCode
}

/** A user with a key and a session. */
async function createUser(world: AccountsApp) {
  const { key, userId } = await world.register(EMAIL)
  const session = await world.login(EMAIL)
  const statuses = async () =>
    await Promise.all(
      [key, session].map(async (secret) => (await world.as(secret, 'GET', '/v1/keys')).statusCode),
    )
  const change = (payload: object) => world.admin('PATCH', `/v1/admin/users/${userId}`, payload)
  return { key, userId, session, statuses, change }
}

describe('GET /v1/admin/users', () => {
  it('lists all with their number, and nothing of their passwords', async () => {
    const world = await createAccountsApp()
    const { userId } = await world.register(EMAIL)

    const answer = await world.admin('GET', '/v1/admin/users')

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      users: [
        {
          user_id: userId,
          email: EMAIL,
          tier: 'free',
          role: 'user',
          disabled: false,
          created_at: world.clock.unixSeconds(),
          team_id: null,
          daily_token_budget: null,
          monthly_token_budget: null,
        },
      ],
      count: 1,
    })
  })
})

describe('POST /v1/admin/users', () => {
  it('makes a user of a tier, with a key of that tier', async () => {
    const world = await createAccountsApp()

    const answer = await world.admin('POST', '/v1/admin/users', {
      email: EMAIL,
      password: PASSWORD,
      tier: 'pro',
    })

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      user_id: expect.any(String),
      email: EMAIL,
      tier: 'pro',
      api_key: expect.stringMatching(/^sk-svc-[0-9a-f]{64}$/),
    })
    const { keys } = (await world.as(answer.json().api_key, 'GET', '/v1/keys')).json()
    expect(keys).toMatchObject([{ tier: 'pro', rate_limit_rpm: 1000 }])
    expect(await login(world, PASSWORD)).toBe(200)
  })

  it('is 409 for an e-mail that is taken, whatever its case', async () => {
    const world = await createAccountsApp()
    await world.register(EMAIL)

    const answer = await world.admin('POST', '/v1/admin/users', {
      email: 'ANN@example.org',
      password: PASSWORD,
    })

    expect([answer.statusCode, answer.headers['x-error-code']]).toEqual([409, 'email_taken'])
  })

  it('takes a team and budgets', async () => {
    const { admin } = await createAccountsApp()
    const { team_id: teamId } = (await admin('POST', '/v1/admin/teams', { name: 'red' })).json()
    const user = { email: EMAIL, password: PASSWORD, monthly_token_budget: 500 }

    const unknown = await admin('POST', '/v1/admin/users', { ...user, team_id: 'none' })
    const made = await admin('POST', '/v1/admin/users', { ...user, team_id: teamId })

    expect([unknown.statusCode, unknown.headers['x-error-code']]).toEqual([404, 'team_not_found'])
    expect(made.statusCode).toBe(200)
    expect((await admin('GET', '/v1/admin/users')).json().users).toMatchObject([
      { team_id: teamId, daily_token_budget: null, monthly_token_budget: 500 },
    ])
  })

  it.each([
    [
      { email: EMAIL, password: PASSWORD, tier: 'gold' },
      'tier must be one of free, pro, enterprise, but was "gold".',
    ],
    [{ email: EMAIL, password: PASSWORD, tier: 1 }, 'tier must be one of free, pro, enterprise, but was 1.'],
    [{ email: EMAIL }, 'password is required.'],
    [{}, 'email is required.'],
  ])('refuses %j', async (payload, detail) => {
    const { admin } = await createAccountsApp()

    const answer = await admin('POST', '/v1/admin/users', payload)

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toBe(detail)
    expect((await admin('GET', '/v1/admin/users')).json().count).toBe(0)
  })
})

it('?user= gives one user, and what they used', async () => {
  const world = await createAccountsApp()
  const ann = await world.register('ann@example.org')
  const bob = await world.register('bob@example.org')
  await world.as(ann.key, 'POST', '/v1/generate', { prompt: 'abc' })
  await world.as(bob.key, 'POST', '/v1/generate', { prompt: 'a' })

  const users = (await world.admin('GET', '/v1/admin/users?user=Ann@Example.org')).json()
  const usage = (await world.admin('GET', `/v1/admin/usage?user=${ann.userId}`)).json()

  expect(users).toEqual({ users: [expect.objectContaining({ user_id: ann.userId })], count: 1 })
  expect(usage).toMatchObject({ requests: 1, tokens_in: 3, by_endpoint: { '/v1/generate': { count: 1 } } })
})

describe('PATCH /v1/admin/users/{user_id}', () => {
  it("changes the account's tier: more keys and a faster session at once, and no key of its own accord", async () => {
    const world = await createAccountsApp()
    const { key, session, change } = await createUser(world)

    expect((await change({ tier: 'pro' })).json().tier).toBe('pro')

    const bySession = await world.as(session, 'GET', '/v1/keys')
    expect(bySession.headers['x-ratelimit-limit-requests']).toBe('1000')
    expect(bySession.json().keys).toMatchObject([{ tier: 'free' }])
    await world.as(key, 'POST', '/v1/keys', {})
    expect((await world.as(key, 'POST', '/v1/keys', {})).statusCode).toBe(200)
  })

  it('disables: keys and sessions end at once; enabling brings the keys back and no session', async () => {
    const world = await createAccountsApp()
    const { statuses, change } = await createUser(world)

    expect(await statuses()).toEqual([200, 200])
    expect((await change({ disabled: true })).json().disabled).toBe(true)
    expect(await statuses()).toEqual([401, 401])
    expect(await login(world, PASSWORD)).toBe(401)
    expect((await change({ disabled: false })).json().disabled).toBe(false)
    expect(await statuses()).toEqual([200, 401])
    expect(await login(world, PASSWORD)).toBe(200)
  })

  it('sets a password: sessions end at once, keys go on', async () => {
    const world = await createAccountsApp()
    const { statuses, change } = await createUser(world)

    expect((await change({ password: 'another horse' })).statusCode).toBe(200)

    expect(await statuses()).toEqual([200, 401])
    expect(await login(world, PASSWORD)).toBe(401)
    expect(await login(world, 'another horse')).toBe(200)
  })

  it('takes tier and disabled from the query too, but no password', async () => {
    const world = await createAccountsApp()
    const { userId, statuses } = await createUser(world)
    const change = (query: string, payload?: object) =>
      world.admin('PATCH', `/v1/admin/users/${userId}?${query}`, payload)

    expect((await change('tier=pro&disabled=true')).json()).toMatchObject({ tier: 'pro', disabled: true })
    expect((await change('tier=free', { disabled: false })).json()).toMatchObject({
      tier: 'free',
      disabled: false,
    })
    expect(await statuses()).toEqual([200, 401])
    expect((await change('disabled=yes')).json().detail).toBe(
      'disabled must be one of true, false, but was "yes".',
    )
    expect((await change('tier=pro', { tier: 'free' })).json().detail).toBe(
      'tier is given twice: the query string and the request body must not differ.',
    )
    expect((await change('password=another-horse')).statusCode).toBe(400)
  })

  it('leaves alone what is null or not given', async () => {
    const world = await createAccountsApp()
    const { statuses, change } = await createUser(world)
    await change({ tier: 'pro' })

    const answer = await change({ tier: null, disabled: false, password: null })

    expect(answer.json()).toMatchObject({ tier: 'pro', disabled: false })
    expect(await statuses()).toEqual([200, 200])
  })

  it.each([
    [
      {},
      'The query string or the request body must hold at least one of tier, role, disabled, password, team_id, daily_token_budget, monthly_token_budget.',
    ],
    [
      { tier: null },
      'The query string or the request body must hold at least one of tier, role, disabled, password, team_id, daily_token_budget, monthly_token_budget.',
    ],
    [{ disabled: 1 }, 'disabled must be true or false, but was 1.'],
    [{ tier: 'PRO' }, 'tier must be one of free, pro, enterprise, but was "PRO".'],
    [{ password: 'short' }, 'password must be a string of 8 to 128 characters, but has 5.'],
  ])('refuses %j', async (payload, detail) => {
    const { change } = await createUser(await createAccountsApp())

    const answer = await change(payload)

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toBe(detail)
  })
})

describe('DELETE /v1/admin/users/{user_id}', () => {
  it('ends its keys and sessions at once, frees the e-mail and keeps what was used', async () => {
    const world = await createAccountsApp()
    const { key, userId, statuses } = await createUser(world)
    await world.as(key, 'POST', '/v1/generate', { prompt: 'ab' })

    const answer = await world.admin('DELETE', `/v1/admin/users/${userId}`)

    expect(answer.json()).toEqual({ status: 'deleted', user_id: userId })
    expect(await statuses()).toEqual([401, 401])
    expect(await login(world, PASSWORD)).toBe(401)
    expect((await world.admin('GET', '/v1/admin/keys')).json()).toEqual({ keys: [], count: 0 })
    expect((await world.admin('GET', '/v1/admin/usage')).json().requests).toBe(1)
    const again = await world.register(EMAIL)
    expect((await world.as(again.key, 'GET', '/v1/usage')).json().requests).toBe(0)
  })

  it('leaves everybody else alone', async () => {
    const world = await createAccountsApp()
    const other = await world.register()
    const { userId } = await createUser(world)

    await world.admin('DELETE', `/v1/admin/users/${userId}`)

    expect((await world.as(other.key, 'GET', '/v1/keys')).statusCode).toBe(200)
    expect((await world.admin('GET', '/v1/admin/users')).json().count).toBe(1)
  })
})

describe('a user that there is not', () => {
  it.each([
    ['PATCH', NOBODY],
    ['DELETE', NOBODY],
    ['PATCH', 'operator'],
    ['DELETE', 'operator'],
  ] as const)('%s %s is 404', async (method, userId) => {
    const { admin } = await createAccountsApp()

    const answer = await admin(method, `/v1/admin/users/${userId}`, { disabled: true })

    expect(answer.statusCode).toBe(404)
    expect(answer.headers['x-error-code']).toBe('user_not_found')
    expect(answer.json()).toEqual({ detail: `User '${userId}' does not exist.` })
  })
})

describe('the admin API of users', () => {
  it.each([
    ['GET', '/v1/admin/users'],
    ['POST', '/v1/admin/users'],
    ['PATCH', `/v1/admin/users/${NOBODY}`],
    ['DELETE', `/v1/admin/users/${NOBODY}`],
    ['GET', '/v1/admin/usage'],
  ] as const)('%s %s is closed to keys, sessions and strangers', async (method, url) => {
    const world = await createAccountsApp()
    const { key, session } = await createUser(world)

    for (const secret of [key, session, KEY, ADMIN_KEY.slice(0, -1), `${ADMIN_KEY}2`, '']) {
      expect((await world.as(secret, method, url)).statusCode).toBe(401)
    }
  })
})
