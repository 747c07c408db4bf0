/** `/v1/keys`: an account's own keys, what they may do, and when they end. */
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp } from '../../support/servers/accounts-app.ts'
import { KEY } from '../../support/servers/test-app.ts'

interface ListedKey {
  readonly id: string
  readonly name: string
  readonly is_active: boolean
}

async function listed({ as }: AccountsApp, secret: string): Promise<readonly ListedKey[]> {
  return (await as(secret, 'GET', '/v1/keys')).json<{ keys: ListedKey[] }>().keys
}

async function firstKeyId(world: AccountsApp, secret: string): Promise<string> {
  return (await listed(world, secret))[0]?.id ?? ''
}

async function create({ as }: AccountsApp, secret: string, payload: object = {}) {
  const answer = await as(secret, 'POST', '/v1/keys', payload)
  return answer.json<{ id: string; key: string; tier: string; name: string }>()
}

const DAY_MS = 86_400_000

describe('POST /v1/keys', () => {
  it('makes a key that works at once, and that is good for making more', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register()
    await world.admin('PATCH', `/v1/admin/keys/${await firstKeyId(world, key)}?tier=pro`)

    const second = await create(world, key, { name: 'second' })
    const third = await create(world, second.key, { name: 'third' })

    world.clock.advance(1)
    expect((await listed(world, third.key)).map(({ name }) => name).toSorted()).toEqual([
      '',
      'second',
      'third',
    ])
  })

  it('takes no body at all, and null, for the defaults', async () => {
    const { call } = await createAccountsApp()

    const bare = await call({ method: 'POST', url: '/v1/keys' })
    const nulls = await call({
      method: 'POST',
      url: '/v1/keys',
      payload: { name: null, expires_in_days: null },
    })

    for (const answer of [bare, nulls]) {
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toMatchObject({ name: '', expires_at: null, is_active: true })
    }
  })

  it.each([
    [{ name: 7 }, 'name must be a string of 0 to 64 characters, but was 7.'],
    [{ name: 'x'.repeat(65) }, 'name must be a string of 0 to 64 characters, but was "xxxxx'],
    [{ expires_in_days: -1 }, 'expires_in_days must be an integer between 1 and 365, but was -1.'],
    [{ expires_in_days: true }, 'expires_in_days must be an integer between 1 and 365, but was true.'],
    [[], 'The request body must be a JSON object, but was an array of 0 items.'],
  ])('refuses %j and makes nothing', async (payload, detail) => {
    const world = await createAccountsApp()
    const { key } = await world.register()

    const answer = await world.as(key, 'POST', '/v1/keys', payload)

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toContain(detail)
    expect(await listed(world, key)).toHaveLength(1)
  })

  it('ends at the maximum of the account with 409, and goes on once a key is revoked or has expired', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register()
    const { id } = await create(world, key, { expires_in_days: 1 })

    const refused = await world.as(key, 'POST', '/v1/keys', {})

    expect(refused.statusCode).toBe(409)
    expect(refused.headers).toMatchObject({
      'x-error-code': 'key_limit_reached',
      'x-should-retry': 'false',
    })
    expect(refused.json().detail).toMatch(/tier 'free' may have at most 2 active keys, and this one has 2/)
    await world.as(key, 'DELETE', `/v1/keys/${id}`)
    await create(world, key, { expires_in_days: 1 })
    expect((await world.as(key, 'POST', '/v1/keys', {})).statusCode).toBe(409)
    world.clock.advance(DAY_MS)
    expect((await world.as(key, 'POST', '/v1/keys', {})).statusCode).toBe(200)
  })

  it('counts with the highest tier among the active keys, for as long as that one is active', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register()
    const second = await create(world, key)
    await world.admin('PATCH', `/v1/admin/keys/${second.id}?tier=pro`)

    const third = await create(world, key)

    expect(third.tier).toBe('free')
    await world.as(key, 'DELETE', `/v1/keys/${second.id}`)
    expect((await world.as(key, 'POST', '/v1/keys', {})).statusCode).toBe(409)
  })

  it('hands on the tier and the custom rate of the key that asks', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register()
    await world.admin('PATCH', `/v1/admin/keys/${await firstKeyId(world, key)}?tier=pro&rate_limit_rpm=77`)

    const made = await create(world, key)

    expect(made.tier).toBe('pro')
    const row = (await world.admin('GET', `/v1/admin/keys/${made.id}`)).json()
    expect(row).toMatchObject({ tier: 'pro', rate_limit_rpm: 77 })
  })

  it('lets two that come at once pass only as far as there is room', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register()

    const answers = await Promise.all(Array.from({ length: 10 }, () => world.as(key, 'POST', '/v1/keys', {})))

    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
    expect(answers.filter(({ statusCode }) => statusCode === 409)).toHaveLength(9)
    expect(await listed(world, key)).toHaveLength(2)
  })
})

describe('DELETE /v1/keys/{key_id}', () => {
  it('ends a key on its very next request, its own too, and keeps it in the list', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register()
    const { id, key: other } = await create(world, key)

    const answer = await world.as(other, 'DELETE', `/v1/keys/${id}`)

    expect(answer.json()).toEqual({ status: 'revoked', key_id: id })
    expect((await world.as(other, 'GET', '/v1/keys')).statusCode).toBe(401)
    expect((await listed(world, key)).find((one) => one.id === id)?.is_active).toBe(false)
  })

  it('takes a content type without a body, and ignores a body', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register()
    const own = await firstKeyId(world, key)
    const { id: other } = await create(world, key)
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

    const empty = await world.app.inject({ method: 'DELETE', url: `/v1/keys/${other}`, headers })
    const odd = await world.app.inject({ method: 'DELETE', url: `/v1/keys/${own}`, headers, payload: '{not' })

    expect([empty.statusCode, odd.statusCode]).toEqual([200, 200])
  })

  it.each([
    [
      'a revoked key',
      async (world: AccountsApp, key: string) => {
        const { id } = await create(world, key)
        await world.as(key, 'DELETE', `/v1/keys/${id}`)
        return id
      },
    ],
    [
      'a key of another account',
      async (world: AccountsApp) => {
        const { key } = await world.register()
        return firstKeyId(world, key)
      },
    ],
    ['a key that is configuration', async () => 'static-0'],
    ['an id that no key has', async () => '00000000-0000-4000-8000-000000000000'],
    ['an id of another form', async () => "1' OR '1'='1"],
    ['a very long id', async () => 'x'.repeat(4000)],
  ])('is 404 for %s', async (_, idOf) => {
    const world = await createAccountsApp()
    const { key } = await world.register()
    const id = await idOf(world, key)

    const answer = await world.as(key, 'DELETE', `/v1/keys/${encodeURIComponent(id)}`)

    expect(answer.statusCode).toBe(404)
    expect(answer.headers['x-error-code']).toBe('key_not_found')
    expect(answer.json()).toEqual({ detail: `Key '${id}' was not found.` })
    expect((await listed(world, key)).filter((one) => one.is_active)).toHaveLength(1)
  })
})

describe('a key that expires', () => {
  it('works to the last moment and not in the one after', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register()
    const { key: short, id } = await create(world, key, { expires_in_days: 1 })

    world.clock.advance(DAY_MS - 1)
    expect((await world.as(short, 'GET', '/v1/keys')).statusCode).toBe(200)
    world.clock.advance(1)

    expect((await world.as(short, 'GET', '/v1/keys')).statusCode).toBe(401)
    expect((await listed(world, key)).find((one) => one.id === id)?.is_active).toBe(false)
    expect((await world.as(key, 'GET', '/v1/keys')).statusCode).toBe(200)
  })

  it('gives the same answer as one that is revoked, unknown, misspelt or missing', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register()
    const expired = await create(world, key, { expires_in_days: 1 })
    world.clock.advance(DAY_MS)
    const revoked = await create(world, key)
    await world.as(key, 'DELETE', `/v1/keys/${revoked.id}`)

    const answers = await Promise.all(
      [
        `Bearer ${expired.key}`,
        `Bearer ${revoked.key}`,
        `Bearer sk-svc-${'f'.repeat(64)}`,
        `Bearer ${key.toUpperCase()}`,
        `Bearer ${key}0`,
        `Bearer`,
        `Basic ${key}`,
        key,
        '',
      ].map((authorization) => world.app.inject({ url: '/v1/keys', headers: { authorization } })),
    )
    answers.push(await world.app.inject('/v1/keys'))

    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([401]))
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
  })
})

describe('the keys of the operator', () => {
  it('are configuration: neither listed nor revoked; those they make are the account of the operator', async () => {
    const world = await createAccountsApp()

    expect(await listed(world, KEY)).toEqual([])
    const made = await create(world, KEY, { name: 'made' })

    expect(made.tier).toBe('enterprise')
    expect((await listed(world, KEY)).map(({ name }) => name)).toEqual(['made'])
    // A worker hears of a use in another one once that has written it.
    await expect
      .poll(async () => isDeepStrictEqual(await listed(world, made.key), await listed(world, KEY)))
      .toBe(true)
  })

  it('are taken whatever they look like, UTF-8 included', async () => {
    const odd = 'ein schlüssel mit 😀'
    const world = await createAccountsApp({ config: { apiKeys: [odd] } })
    const authorization = `Bearer ${Buffer.from(odd).toString('latin1')}`

    const answer = await world.app.inject({ url: '/v1/keys', headers: { authorization } })

    expect(answer.statusCode).toBe(200)
  })
})

describe('sessions', () => {
  it('have the tier of the account, make keys of it, and end no key by themselves', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register('ann@example.org')
    await world.admin('PATCH', `/v1/admin/keys/${await firstKeyId(world, key)}?tier=pro`)
    const session = await world.login('ann@example.org')

    const made = await create(world, session)

    expect(made.tier).toBe('pro')
    await world.as(session, 'POST', '/v1/auth/logout')
    expect((await world.as(made.key, 'GET', '/v1/keys')).statusCode).toBe(200)
  })
})
