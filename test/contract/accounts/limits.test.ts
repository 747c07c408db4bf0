/** Requests per minute: of a key, of the sessions of an account, and of a client address. */
import { describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp } from '../../support/servers/accounts-app.ts'
import { AddressLimiter } from '../../../src/limits/address-limiter.ts'
import { MemoryRequestLimits } from '../../../src/limits/memory/request-limits.ts'
import { VirtualClock } from '../../../src/core/clock.ts'
import { KEY } from '../../support/servers/test-app.ts'

type Answer = Awaited<ReturnType<AccountsApp['call']>>

function rateHeaders({ headers }: Answer) {
  return ['limit', 'remaining', 'reset'].map((name) => headers[`x-ratelimit-${name}-requests`])
}

/** A key that is an account of its own, with the rate if one is given. */
async function createRobot({ admin }: AccountsApp, rpm?: number) {
  const { key, id } = (await admin('POST', '/v1/admin/keys')).json<{ key: string; id: string }>()
  const change = (query: string) => admin('PATCH', `/v1/admin/keys/${id}?${query}`)
  if (rpm !== undefined) await change(`rate_limit_rpm=${rpm}`)
  return { key, id, change }
}

describe('the headers of an answer to a key', () => {
  it('say the limit, what is left of it and when all is free again', async () => {
    const world = await createAccountsApp()
    const { key } = await createRobot(world)
    const read = async () => rateHeaders(await world.as(key, 'GET', '/v1/keys'))

    expect(await read()).toEqual(['60', '59', '1m0s'])
    world.clock.advance(10_500)
    expect(await read()).toEqual(['60', '58', '1m0s'])
    world.clock.advance(59_988)
    expect(rateHeaders(await world.as(key, 'GET', '/v1/usage'))).toEqual(['60', '58', '1m0s'])
  })

  const post = (url: string, payload: object) => ({ method: 'POST', url, payload }) as const
  it.each([
    [200, 'a plain answer', post('/v1/generate', { prompt: 'a' })],
    [200, 'a stream', post('/v1/generate/stream', { prompt: 'a' })],
    [
      200,
      'a stream of a chat',
      post('/v1/chat/completions', { messages: [{ role: 'user', content: 'a' }], stream: true }),
    ],
    [400, 'a field that is wrong', post('/v1/generate', { prompt: 7 })],
    [400, 'a body that is too large', post('/v1/generate', { prompt: 'a'.repeat(9_000_000) })],
    [400, 'a query that is wrong', { url: '/v1/usage?since=yesterday' }],
    [400, 'no session', post('/v1/auth/logout', {})],
    [404, 'a model that there is not', post('/v1/generate', { prompt: 'a', model: 'none' })],
    [404, 'a key that there is not', { method: 'DELETE', url: '/v1/keys/none' } as const],
    [200, 'the models', { url: '/v1/models' }],
  ])('are there with %i: %s', async (status, _, request) => {
    const world = await createAccountsApp()

    const answer = await world.call(request)

    expect(answer.statusCode).toBe(status)
    expect(rateHeaders(answer)).toEqual(['10000', '9999', '1m0s'])
  })

  it('are there with 409 and 500', async () => {
    const world = await createAccountsApp({
      usageRecorder: { record: () => Promise.reject(new Error('full')) },
    })
    const { key } = await world.register()
    await world.as(key, 'POST', '/v1/keys', {})

    const conflict = await world.as(key, 'POST', '/v1/keys', {})
    const failure = await world.as(key, 'POST', '/v1/generate', { prompt: 'a' })

    expect([conflict.statusCode, failure.statusCode]).toEqual([409, 500])
    expect(rateHeaders(conflict)[0]).toBe('60')
    expect(rateHeaders(failure)[0]).toBe('60')
  })

  it('are not there for those whom no key limits: strangers, the admin, a server without authentication', async () => {
    const world = await createAccountsApp()
    const open = await createAccountsApp({ config: { authMode: 'none' } })

    const answers = [
      await world.app.inject('/v1/health'),
      await world.app.inject('/v1/keys'),
      await world.call('/v1/nothing'),
      await world.admin('GET', '/v1/admin/keys'),
      await open.app.inject('/v1/keys'),
      await open.app.inject({ method: 'POST', url: '/v1/generate', payload: { prompt: 'a' } }),
    ]

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 401, 404, 200, 200, 200])
    expect(answers.flatMap(rateHeaders).filter((header) => header !== undefined)).toEqual([])
  })
})

describe('the window of a key', () => {
  it('slides: a place frees a minute after it was taken, and not at the turn of a minute', async () => {
    const world = await createAccountsApp()
    const { key } = await createRobot(world, 2)
    const status = async () => (await world.as(key, 'GET', '/v1/keys')).statusCode

    world.clock.advance(50_000)
    expect(await status()).toBe(200)
    world.clock.advance(20_000)
    expect(await status()).toBe(200)
    expect(await status()).toBe(429)
    world.clock.advance(39_999)
    expect(await status()).toBe(429)
    world.clock.advance(1)
    expect(await status()).toBe(200)
    expect(await status()).toBe(429)
  })

  it('says in whole seconds when to come back, never early', async () => {
    const world = await createAccountsApp()
    const { key } = await createRobot(world, 1)
    await world.as(key, 'GET', '/v1/keys')
    world.clock.advance(58_999)

    const refused = await world.as(key, 'GET', '/v1/keys')

    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toMatchObject({ 'x-error-code': 'rate_limit_exceeded', 'retry-after': '2' })
    expect(rateHeaders(refused)).toEqual(['1', '0', '1.001s'])
    expect(refused.json()).toEqual({
      detail: 'The rate limit of 1 requests per minute is reached; try again in 2 s.',
    })
    world.clock.advance(2000)
    expect((await world.as(key, 'GET', '/v1/keys')).statusCode).toBe(200)
  })

  it('does not count what it refuses, and counts everything else the key asked', async () => {
    const world = await createAccountsApp()
    const { key } = await createRobot(world, 3)
    const status = async (url: string) => (await world.as(key, 'GET', url)).statusCode

    expect(await status('/v1/keys')).toBe(200)
    expect(await status('/v1/usage?since=x')).toBe(400)
    expect(await status('/v1/models/none')).toBe(404)
    for (let index = 0; index < 10; index++) expect(await status('/v1/keys')).toBe(429)
    world.clock.advance(60_000)
    expect(await status('/v1/keys')).toBe(200)
    expect(await status('/v1/keys')).toBe(200)
  })

  it('lets exactly its number of simultaneous requests through', async () => {
    const world = await createAccountsApp()
    const { key } = await createRobot(world)

    const answers = await Promise.all(Array.from({ length: 200 }, () => world.as(key, 'GET', '/v1/keys')))

    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(60)
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(140)
  })

  it('is of each key alone', async () => {
    const world = await createAccountsApp()
    const [one, two] = [await createRobot(world, 1), await createRobot(world, 1)]

    await world.as(one.key, 'GET', '/v1/keys')

    expect((await world.as(one.key, 'GET', '/v1/keys')).statusCode).toBe(429)
    expect((await world.as(two.key, 'GET', '/v1/keys')).statusCode).toBe(200)
  })

  it('is handed on to the keys that it makes', async () => {
    const world = await createAccountsApp()
    const { key } = await createRobot(world, 5)
    for (let index = 0; index < 3; index++) await world.as(key, 'GET', '/v1/keys')

    const made = await world.as(key, 'POST', '/v1/keys', {})

    const answer = await world.as(made.json().key, 'GET', '/v1/keys')
    expect(rateHeaders(answer)).toEqual(['5', '0', '1m0s'])
    expect((await world.as(made.json().key, 'GET', '/v1/keys')).statusCode).toBe(429)
  })

  it.each([
    ['a custom rate', 'rate_limit_rpm=7', '7'],
    ['another tier', 'tier=pro', '1000'],
  ])('follows %s on the very next request, with what has been counted', async (_, query, limit) => {
    const world = await createAccountsApp()
    const { key, change } = await createRobot(world)
    await world.as(key, 'GET', '/v1/keys')

    await change(query)

    expect(rateHeaders(await world.as(key, 'GET', '/v1/keys'))).toEqual([
      limit,
      String(Number(limit) - 2),
      '1m0s',
    ])
  })

  it('is over when it is lowered below what has been counted, and opens as that ages', async () => {
    const world = await createAccountsApp()
    const { key, change } = await createRobot(world)
    for (let index = 0; index < 10; index++) {
      await world.as(key, 'GET', '/v1/keys')
      world.clock.advance(1000)
    }
    await change('rate_limit_rpm=2')

    const refused = await world.as(key, 'GET', '/v1/keys')

    // Of the ten the ninth has to go, which came two seconds ago.
    expect(refused.headers['retry-after']).toBe('58')
    expect(rateHeaders(refused)).toEqual(['2', '0', '59s'])
  })
})

describe('the window of sessions', () => {
  it('is one for all sessions of an account, and apart from its keys', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register('ann@example.org')
    const [one, two] = [await world.login('ann@example.org'), await world.login('ann@example.org')]

    await world.as(one, 'GET', '/v1/keys')

    expect(rateHeaders(await world.as(two, 'GET', '/v1/keys'))).toEqual(['60', '58', '1m0s'])
    expect(rateHeaders(await world.as(key, 'GET', '/v1/keys'))).toEqual(['60', '59', '1m0s'])
  })

  it('does not begin anew with a new login', async () => {
    const world = await createAccountsApp()
    await world.register('ann@example.org')
    const one = await world.login('ann@example.org')
    for (let index = 0; index < 60; index++) await world.as(one, 'GET', '/v1/keys')

    const two = await world.login('ann@example.org')

    expect((await world.as(two, 'GET', '/v1/keys')).statusCode).toBe(429)
  })
})

describe('--rate-limit', () => {
  async function createLimitedApp(requestsPerMinute: number) {
    const clock = new VirtualClock()
    const addressLimiter = new AddressLimiter({ requestsPerMinute, limits: new MemoryRequestLimits(clock) })
    const world = await createAccountsApp({ addressLimiter, clock })
    const from = (remoteAddress: string, url = '/v1/keys', authorization = `Bearer ${KEY}`) =>
      world.app.inject({ url, remoteAddress, headers: { authorization } })
    return { world, from, clock }
  }

  it('refuses an address before its key is looked at, whatever the key', async () => {
    const { from } = await createLimitedApp(2)

    const statuses = []
    for (const secret of ['wrong', 'wrong', 'wrong', KEY]) {
      statuses.push((await from('192.0.2.1', '/v1/keys', `Bearer ${secret}`)).statusCode)
    }
    const refused = await from('192.0.2.1')

    expect(statuses).toEqual([401, 401, 429, 429])
    expect(refused.headers).toMatchObject({
      'x-error-code': 'address_rate_limit_exceeded',
      'retry-after': '60',
    })
    expect(rateHeaders(refused)).toEqual([undefined, undefined, undefined])
    expect((await from('192.0.2.2')).statusCode).toBe(200)
  })

  it('counts every route, unknown ones too, and never health and ready', async () => {
    const { from } = await createLimitedApp(3)

    for (let index = 0; index < 5; index++) {
      expect((await from('192.0.2.1', '/v1/health')).statusCode).toBe(200)
      expect((await from('192.0.2.1', '/v1/ready')).statusCode).toBe(200)
    }
    expect((await from('192.0.2.1', '/v1/nothing')).statusCode).toBe(404)
    expect((await from('192.0.2.1', '/docs/')).statusCode).toBe(200)
    expect((await from('192.0.2.1', '/v1/auth/login')).statusCode).toBe(404)
    expect((await from('192.0.2.1', '/v1/nothing')).statusCode).toBe(429)
    expect((await from('192.0.2.1', '/v1/health')).statusCode).toBe(200)
  })

  it('frees a place a minute after it was taken, and does not count what it refuses', async () => {
    const { from, clock } = await createLimitedApp(1)

    expect((await from('192.0.2.1')).statusCode).toBe(200)
    clock.advance(59_999)
    expect((await from('192.0.2.1')).statusCode).toBe(429)
    clock.advance(1)
    expect((await from('192.0.2.1')).statusCode).toBe(200)
  })

  it('costs a key nothing for what the address is refused', async () => {
    const { from } = await createLimitedApp(1)
    await from('192.0.2.1')
    await from('192.0.2.1')

    expect(rateHeaders(await from('192.0.2.9'))).toEqual(['10000', '9998', '1m0s'])
  })
})
