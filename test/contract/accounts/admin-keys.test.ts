/** `/v1/admin/keys`: everyone's keys, for the admin. */
import { describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp } from '../../support/servers/accounts-app.ts'
import { ADMIN_KEY } from '../../support/servers/test-app.ts'

const DAY_MS = 86_400_000
const NOBODY = '00000000-0000-4000-8000-000000000000'

interface CreatedKey {
  readonly id: string
  readonly key: string
}

async function createKey({ admin }: AccountsApp, query = ''): Promise<CreatedKey> {
  return (await admin('POST', `/v1/admin/keys${query}`)).json<CreatedKey>()
}

const keyUrl = ({ id }: CreatedKey, rest = '') => `/v1/admin/keys/${id}${rest}`

describe('POST /v1/admin/keys', () => {
  it('makes a key that is an account of its own: it lists what it made, and nobody else does', async () => {
    const world = await createAccountsApp()
    const { key: user } = await world.register()
    const made = (await world.admin('POST', '/v1/admin/keys?name=robot&tier=pro')).json()

    const child = (await world.as(made.key, 'POST', '/v1/keys', { name: 'child' })).json()

    expect(made).toMatchObject({ name: 'robot', tier: 'pro', user_id: null, rate_limit_rpm: 1000 })
    expect(child.tier).toBe('pro')
    const names = async (secret: string) =>
      (await world.as(secret, 'GET', '/v1/keys'))
        .json()
        .keys.map((one: { name: string }) => one.name)
        .toSorted()
    expect(await names(made.key)).toEqual(['child', 'robot'])
    expect(await names(child.key)).toEqual(['child', 'robot'])
    expect(await names(user)).toEqual([''])
  })

  it('makes a key of a user, bound by the maximum of the tier it brings', async () => {
    const world = await createAccountsApp()
    const { userId, key } = await world.register()

    const statuses = []
    for (const tier of ['free', 'free', 'pro', 'free']) {
      statuses.push((await world.admin('POST', `/v1/admin/keys?tier=${tier}&user_id=${userId}`)).statusCode)
    }

    expect(statuses).toEqual([200, 409, 200, 200])
    expect((await world.as(key, 'GET', '/v1/keys')).json().keys).toHaveLength(4)
  })

  it.each(['nobody', NOBODY])('knows no user %s', async (userId) => {
    const { admin } = await createAccountsApp()

    const answer = await admin('POST', `/v1/admin/keys?user_id=${userId}`)

    expect(answer.statusCode).toBe(404)
    expect(answer.headers['x-error-code']).toBe('user_not_found')
    expect((await admin('GET', '/v1/admin/keys')).json().count).toBe(0)
  })

  it('reads the query alone: a body is nothing to it, whatever it holds', async () => {
    const { app, admin } = await createAccountsApp()

    const json = await admin('POST', '/v1/admin/keys?name=query', { name: 'body', tier: 'pro' })
    const odd = await app.inject({
      method: 'POST',
      url: '/v1/admin/keys?name=query',
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'text/plain' },
      payload: '{not json',
    })

    expect(json.json()).toMatchObject({ name: 'query', tier: 'free' })
    expect(odd.json()).toMatchObject({ name: 'query', tier: 'free' })
  })

  it.each([
    ['tier=gold', 'tier must be one of free, pro, enterprise, but was "gold".'],
    ['tier=', 'tier must be one of free, pro, enterprise, but was "".'],
    ['expires_in_days=0', 'expires_in_days must be an integer between 1 and 3650, but was "0".'],
    ['expires_in_days=3651', 'expires_in_days must be an integer between 1 and 3650, but was "3651".'],
    [`name=${'x'.repeat(65)}`, 'name must be a string of 0 to 64 characters'],
    ['name=a%00b', 'name must not contain a null character.'],
    ['user_id=', 'user_id must be a string of 1 to 200 characters, but was "".'],
  ])('refuses %s', async (query, detail) => {
    const answer = await (await createAccountsApp()).admin('POST', `/v1/admin/keys?${query}`)

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toContain(detail)
  })

  it('may set an expiry of ten years', async () => {
    const { admin, clock } = await createAccountsApp()

    const answer = await admin('POST', '/v1/admin/keys?expires_in_days=3650')

    expect(answer.json().expires_at).toBe(clock.unixSeconds() + 3650 * 86_400)
  })
})

describe('GET /v1/admin/keys', () => {
  it("lists the keys of all, in the order they were made, revoked ones too, and not the operator's configured ones", async () => {
    const world = await createAccountsApp()
    const { userId } = await world.register()
    world.clock.advance(1)
    const robot = await createKey(world, '?name=robot')
    world.clock.advance(1)
    const operators = (await world.call({ method: 'POST', url: '/v1/keys', payload: {} })).json<CreatedKey>()
    await world.admin('DELETE', keyUrl(robot))

    const { keys, count } = (await world.admin('GET', '/v1/admin/keys')).json()

    expect(count).toBe(3)
    expect(keys).toMatchObject([
      { user_id: userId, is_active: true },
      { id: robot.id, user_id: null, is_active: false },
      { id: operators.id, user_id: null, is_active: true },
    ])
  })
})

describe('GET /v1/admin/keys?user=', () => {
  it('lists the keys of that user, by id or e-mail, in pages too', async () => {
    const world = await createAccountsApp()
    await createKey(world, '?name=robot')
    const ann = await world.register('ann@example.org')
    await world.register('bob@example.org')
    await world.admin('POST', `/v1/admin/keys?name=second&user_id=${ann.userId}`)
    const list = async (query: string) => (await world.admin('GET', `/v1/admin/keys?${query}`)).json()

    const all = await list(`user=${ann.userId}`)

    expect(all.count).toBe(2)
    expect(all.keys.map(({ user_id: id }: { user_id: string }) => id)).toEqual([ann.userId, ann.userId])
    expect(await list('user=ANN@example.org')).toEqual(all)
    const first = await list('user=ann@example.org&limit=1')
    expect(first).toMatchObject({ count: 2, keys: [all.keys[0]] })
    const cursor = encodeURIComponent(first.next_cursor)
    expect((await list(`user=ann@example.org&limit=1&cursor=${cursor}`)).keys).toEqual([all.keys[1]])
  })

  it('is 404 for a user that there is not', async () => {
    const { admin } = await createAccountsApp()

    for (const url of ['/v1/admin/keys', '/v1/admin/usage', '/v1/admin/users']) {
      const answer = await admin('GET', `${url}?user=nobody@example.org`)
      expect(answer.statusCode).toBe(404)
      expect(answer.json().detail).toBe("User 'nobody@example.org' does not exist.")
    }
  })
})

describe('/v1/admin/keys/{key_id}', () => {
  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['PATCH', '?name=x'],
    ['GET', '/usage'],
  ] as const)('%s %s is 404 for a key that there is not', async (method, rest) => {
    const { admin } = await createAccountsApp()

    const answer = await admin(method, `/v1/admin/keys/${NOBODY}${rest}`)

    expect(answer.statusCode).toBe(404)
    expect(answer.headers['x-error-code']).toBe('key_not_found')
    expect(answer.json()).toEqual({ detail: `Key '${NOBODY}' was not found.` })
  })

  it('GET shows what the listing shows; DELETE ends the key at once, and only once', async () => {
    const world = await createAccountsApp()
    const robot = await createKey(world)

    expect((await world.admin('GET', keyUrl(robot))).json()).toEqual(
      (await world.admin('GET', '/v1/admin/keys')).json().keys[0],
    )
    expect((await world.admin('DELETE', keyUrl(robot))).json()).toEqual({
      status: 'revoked',
      key_id: robot.id,
    })
    expect((await world.as(robot.key, 'GET', '/v1/keys')).statusCode).toBe(401)
    expect((await world.admin('DELETE', keyUrl(robot))).statusCode).toBe(404)
  })
})

describe('PATCH /v1/admin/keys/{key_id}', () => {
  it.each(['', '?'])('refuses %j, which changes nothing', async (query) => {
    const world = await createAccountsApp()
    const robot = await createKey(world)

    const answer = await world.admin('PATCH', keyUrl(robot, query))

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toBe(
      'The query string or the request body must hold at least one of name, tier, rate_limit_rpm, expires_in_days, team_id, daily_token_budget, monthly_token_budget.',
    )
  })

  it.each(['rpm', 'key'])('refuses a parameter that it does not know: %s', async (name) => {
    const world = await createAccountsApp()
    const robot = await createKey(world)

    for (const query of [`?${name}=5`, `?tier=pro&${name}=5`]) {
      const answer = await world.admin('PATCH', keyUrl(robot, query))
      expect(answer.statusCode).toBe(400)
      expect(answer.json().detail).toMatch(
        new RegExp(`^The query has an unknown parameter "${name}": did you mean '\\w+'\\?$`),
      )
    }
  })

  it('takes its values from the query, from a body, and from both', async () => {
    const world = await createAccountsApp()
    const robot = await createKey(world)

    const fromBody = { tier: 'pro', rate_limit_rpm: 7, expires_in_days: 2, name: null, other: 1 }
    expect((await world.admin('PATCH', keyUrl(robot), fromBody)).json()).toMatchObject({
      tier: 'pro',
      rate_limit_rpm: 7,
      expires_at: expect.any(Number),
      name: '',
    })
    const answer = await world.admin('PATCH', keyUrl(robot, '?name=new&tier=free'), { tier: 'free' })

    expect(answer.json()).toMatchObject({ name: 'new', tier: 'free' })
  })

  it.each([
    [
      '?tier=pro&rate_limit_rpm=5',
      { rate_limit_rpm: 6 },
      'rate_limit_rpm is given twice: the query string and the request body must not differ.',
    ],
    ['', { rate_limit_rpm: '5' }, 'rate_limit_rpm must be an integer between 1 and 1000000, but was "5".'],
    ['?tier=pro', { tier: 'gold' }, 'tier must be one of free, pro, enterprise, but was "gold".'],
    ['', [7], 'The request body must be a JSON object, but was an array of 1 item.'],
  ])('refuses %j with the body %j, and changes nothing', async (query, body, detail) => {
    const world = await createAccountsApp()
    const robot = await createKey(world)
    const before = (await world.admin('GET', keyUrl(robot))).json()

    const answer = await world.admin('PATCH', keyUrl(robot, query), body)

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toBe(detail)
    expect((await world.admin('GET', keyUrl(robot))).json()).toEqual(before)
  })

  it('changes the one thing that is given, also to an empty name', async () => {
    const world = await createAccountsApp()
    const robot = await createKey(world, '?name=robot&tier=pro&expires_in_days=5')
    const before = (await world.admin('GET', keyUrl(robot))).json()

    const answer = await world.admin('PATCH', keyUrl(robot, '?name='))

    expect(answer.json()).toEqual({ ...before, name: '' })
    expect((await world.admin('GET', keyUrl(robot))).json()).toEqual({ ...before, name: '' })
  })

  it('keeps a custom rate through changes of tier', async () => {
    const world = await createAccountsApp()
    const robot = await createKey(world)
    const rate = async (query: string) =>
      (await world.admin('PATCH', keyUrl(robot, query))).json().rate_limit_rpm

    expect(await rate('?tier=pro')).toBe(1000)
    expect(await rate('?rate_limit_rpm=1000000')).toBe(1_000_000)
    expect(await rate('?tier=enterprise')).toBe(1_000_000)
    expect(await rate('?rate_limit_rpm=1')).toBe(1)
    expect(await rate('?tier=free')).toBe(1)
  })

  it.each(['0', '1000001', '1.5', '-1', 'many', ''])('refuses the rate %j', async (rpm) => {
    const world = await createAccountsApp()
    const robot = await createKey(world)

    const answer = await world.admin('PATCH', keyUrl(robot, `?rate_limit_rpm=${rpm}`))

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toBe(
      `rate_limit_rpm must be an integer between 1 and 1000000, but was "${rpm}".`,
    )
  })

  it('counts a new expiry from now', async () => {
    const world = await createAccountsApp()
    const robot = await createKey(world, '?expires_in_days=1')
    world.clock.advance(DAY_MS - 1)

    const answer = await world.admin('PATCH', keyUrl(robot, '?expires_in_days=1'))

    expect(answer.json().expires_at).toBe(world.clock.unixSeconds() + 86_400)
    world.clock.advance(DAY_MS - 1)
    expect((await world.as(robot.key, 'GET', '/v1/keys')).statusCode).toBe(200)
  })

  it.each([
    ['revoked', (world: AccountsApp, robot: CreatedKey) => world.admin('DELETE', keyUrl(robot))],
    ['expired', async (world: AccountsApp) => world.clock.advance(DAY_MS)],
  ])('never revives a key that is %s', async (state, end) => {
    const world = await createAccountsApp()
    const robot = await createKey(world, '?expires_in_days=1')
    await end(world, robot)

    const revival = await world.admin('PATCH', keyUrl(robot, '?expires_in_days=30'))
    const change = await world.admin('PATCH', keyUrl(robot, '?name=gone&tier=pro&rate_limit_rpm=5'))

    expect([revival.statusCode, revival.headers['x-error-code']]).toEqual([400, 'key_not_active'])
    expect(revival.json().detail).toContain(`is ${state}`)
    expect(change.json()).toMatchObject({ name: 'gone', tier: 'pro', rate_limit_rpm: 5, is_active: false })
    expect((await world.as(robot.key, 'GET', '/v1/keys')).statusCode).toBe(401)
  })
})

describe('without an admin key', () => {
  it.each(['', `Bearer ${ADMIN_KEY}`, 'Bearer '])(
    '%j is told how to switch the admin API on',
    async (authorization) => {
      const { app } = await createAccountsApp({ adminCheck: null })

      for (const url of ['/v1/admin/keys', '/v1/admin/users', '/v1/admin/usage']) {
        const answer = await app.inject({ url, headers: { authorization } })
        expect(answer.statusCode).toBe(401)
        expect(answer.json().detail).toContain('--admin-key')
      }
    },
  )

  it('the API is closed to every caller of a server without authentication', async () => {
    const { app } = await createAccountsApp({ config: { authMode: 'none' } })

    expect((await app.inject('/v1/keys')).statusCode).toBe(200)
    expect((await app.inject('/v1/admin/keys')).statusCode).toBe(401)
  })
})

interface LastUse {
  readonly id: string
  readonly last_used: number | null
}

it('a key says when it was last used, by whatever request', async () => {
  const { admin, as, clock, register } = await createAccountsApp()
  const { key } = await register()
  const { id } = (await admin('POST', '/v1/admin/keys')).json<{ id: string }>()
  await as(key, 'GET', '/v1/models')
  const usedAt = clock.unixSeconds()
  clock.advance(5000)

  const lastUses = async () => {
    const { keys } = (await admin('GET', '/v1/admin/keys')).json<{ keys: LastUse[] }>()
    return new Map(keys.map((one) => [one.id === id, one.last_used]))
  }
  // A worker hears of a use in another one once that has written it.
  await expect.poll(lastUses).toEqual(
    new Map([
      [true, null],
      [false, usedAt],
    ]),
  )
  expect((await admin('GET', `/v1/admin/keys/${id}`)).json()).toMatchObject({ last_used: null })
  expect((await as(key, 'GET', '/v1/keys')).json().keys).toMatchObject([{ last_used: usedAt + 5 }])
})
