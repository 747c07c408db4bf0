/** The interface's other tables, as far as they are about who may call and how much: each row under its name. */
import { describe, expect, it } from 'vitest'
import { TIERS, type Tier } from '../../../src/core/tiers.ts'
import { type AccountsApp, createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'
import { createObservedEngine } from '../../support/engines/observed-engine.ts'
import { openSocket, postBytes } from '../../support/net/raw-http.ts'
import { hang } from '../../support/engines/scripted-engine.ts'

const EMAIL = 'ann@example.org'
const ERROR = { detail: expect.stringMatching(/./) }

const register = (email: unknown, password: unknown = PASSWORD) =>
  ({ method: 'POST', url: '/v1/auth/register', payload: { email, password } }) as const

/** A user of this tier with one key, of the same tier. */
async function createUser({ admin }: Pick<AccountsApp, 'admin'>, tier: Tier): Promise<string> {
  const answer = await admin('POST', '/v1/admin/users', { email: EMAIL, password: PASSWORD, tier })
  return answer.json<{ api_key: string }>().api_key
}

describe('User', () => {
  it('user_id | string | UUID string', async () => {
    const { userId } = await (await createAccountsApp()).register()

    expect(userId).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  it('email | string | valid e-mail format, unique', async () => {
    const { app } = await createAccountsApp()

    expect((await app.inject(register('no-address'))).statusCode).toBe(400)
    expect((await app.inject(register(EMAIL))).json().email).toBe(EMAIL)
    expect((await app.inject(register(EMAIL))).statusCode).toBe(409)
  })

  it('password | string | input only, 8 to 128 characters', async () => {
    const { app, admin } = await createAccountsApp()

    for (const [length, status] of [
      [7, 400],
      [8, 200],
      [128, 200],
      [129, 400],
    ] as const) {
      const password = 'é'.repeat(length)
      const answer = await app.inject(register(`user-${length}@example.org`, password))
      expect(answer.statusCode).toBe(status)
      expect(answer.body).not.toContain(password)
    }
    const users = await admin('GET', '/v1/admin/users')
    expect(users.json().count).toBe(2)
    expect(users.body).not.toMatch(/password|argon2|é/)
  })

  it.each(TIERS)('tier | string | %s', async (tier) => {
    const world = await createAccountsApp()
    const { userId } = await world.register(EMAIL)

    const answer = await world.admin('PATCH', `/v1/admin/users/${userId}`, { tier })

    expect(answer.json().tier).toBe(tier)
  })
})

describe('API key', () => {
  it('key, key_prefix: the secret is returned only when the key is made; lists show its first 8 hex characters', async () => {
    const { as, admin, clock, register: registerUser } = await createAccountsApp()
    const { key } = await registerUser()
    clock.advance(1)

    const created = (await as(key, 'POST', '/v1/keys', {})).json()

    expect(created.key).toMatch(/^sk-svc-[0-9a-f]+$/)
    const later = [
      await as(key, 'GET', '/v1/keys'),
      await admin('GET', '/v1/admin/keys'),
      await admin('GET', `/v1/admin/keys/${created.id}`),
      await admin('PATCH', `/v1/admin/keys/${created.id}?name=x`),
      await admin('GET', `/v1/admin/keys/${created.id}/usage`),
      await admin('DELETE', `/v1/admin/keys/${created.id}`),
    ]
    for (const { statusCode, body } of later) {
      expect(statusCode).toBe(200)
      expect(body).not.toContain(created.key)
    }
    const prefixes = later[0]?.json<{ keys: { key_prefix: string }[] }>().keys.map((one) => one.key_prefix)
    expect(prefixes).toEqual([key, created.key].map((secret) => secret.slice(0, 'sk-svc-'.length + 8)))
  })

  it('name | string | nickname, max 64 characters, default empty', async () => {
    const { call } = await createAccountsApp()
    const create = (payload: object) => call({ method: 'POST', url: '/v1/keys', payload })

    expect((await create({})).json().name).toBe('')
    expect((await create({ name: 'ü'.repeat(64) })).json().name).toBe('ü'.repeat(64))
    expect((await create({ name: 'ü'.repeat(65) })).statusCode).toBe(400)
  })

  it('created_at, expires_at | float, float or null | Unix seconds; null means no expiry', async () => {
    const { call, clock } = await createAccountsApp()
    clock.advance(250)

    const create = async (payload: object) =>
      (await call({ method: 'POST', url: '/v1/keys', payload })).json()

    expect(await create({})).toMatchObject({ created_at: 1_700_000_000.25, expires_at: null })
    expect(await create({ expires_in_days: 1 })).toMatchObject({ expires_at: 1_700_086_400.25 })
  })
})

const TIER_TABLE = [
  ['free', { maxKeys: 2, rpm: 60, maxTokens: 2048, maxConcurrent: 1 }],
  ['pro', { maxKeys: 10, rpm: 1000, maxTokens: 4096, maxConcurrent: 5 }],
  ['enterprise', { maxKeys: 100, rpm: 10_000, maxTokens: 8192, maxConcurrent: Infinity }],
] as const

describe.each(TIER_TABLE)('Tiers, %s', (tier, { maxKeys, rpm, maxTokens, maxConcurrent }) => {
  it(`Max API keys | ${maxKeys}`, async () => {
    const world = await createAccountsApp()
    const key = await createUser(world, tier)

    const statuses = []
    for (let index = 0; index < maxKeys; index++) {
      statuses.push((await world.as(key, 'POST', '/v1/keys', {})).statusCode)
    }

    expect(statuses).toEqual([...Array.from({ length: maxKeys - 1 }, () => 200), 409])
  })

  it(`Rate limit (requests per minute) | ${rpm}`, async () => {
    const world = await createAccountsApp()
    const key = await createUser(world, tier)

    const credential = await world.state.authenticator.authenticate(key)
    if (credential === null) throw new Error('The key is not good.')
    // All but the last two are asked of the limiter itself, where ten thousand take no time.
    for (let before = 0; before < rpm - 2; before++) {
      const { outcome } = await world.state.limiter.admit(credential, { countsAsConcurrent: false })
      expect(outcome).toBe('admitted')
    }

    const answers = [1, 2, 3].map(() => world.as(key, 'GET', '/v1/usage'))
    const statuses = (await Promise.all(answers)).map(({ statusCode }) => statusCode)

    expect(statuses).toEqual([200, 200, 429])
  })

  it(`Max tokens per request | ${maxTokens}`, async () => {
    const world = await createAccountsApp()
    const key = await createUser(world, tier)
    const messages = [{ role: 'user', content: 'a'.repeat(9000) }]

    const answer = await world.as(key, 'POST', '/v1/chat/completions', { messages, max_tokens: 8192 })

    expect(answer.json()).toMatchObject({
      choices: [{ finish_reason: 'length' }],
      usage: { completion_tokens: maxTokens },
    })
    expect(answer.headers['x-max-tokens-applied']).toBe(maxTokens < 8192 ? String(maxTokens) : undefined)
  })

  it(`Concurrent requests | ${maxConcurrent}`, async () => {
    const { engine, started } = createObservedEngine(hang)
    const world = await createAccountsApp({ engine })
    const key = await createUser(world, tier)
    const port = await world.listen()
    const tried = 20
    const running = Math.min(tried, maxConcurrent)

    for (let index = 1; index <= running; index++) {
      const socket = await openSocket(port)
      socket.write(postBytes('/v1/generate', { prompt: 'a' }, key))
      await started.reaches(index)
    }
    if (running === tried) return
    const oneMore = await world.as(key, 'POST', '/v1/generate', { prompt: 'a' })

    expect(oneMore.statusCode).toBe(429)
    expect(oneMore.headers['x-error-code']).toBe('concurrency_limit_exceeded')
  })
})

describe('States', () => {
  it('key present | DELETE /v1/keys/{key_id} | caller owns the key | revoked', async () => {
    const { as, register: registerUser } = await createAccountsApp()
    const [ann, bob] = [await registerUser(), await registerUser()]
    const { id, key } = (await as(ann.key, 'POST', '/v1/keys', {})).json()

    const byOther = await as(bob.key, 'DELETE', `/v1/keys/${id}`)
    const byOwner = await as(ann.key, 'DELETE', `/v1/keys/${id}`)

    expect(byOther.statusCode).toBe(404)
    expect(byOwner.json()).toEqual({ status: 'revoked', key_id: id })
    expect((await as(key, 'GET', '/v1/keys')).statusCode).toBe(401)
  })

  it('key present | DELETE /v1/admin/keys/{key_id} | admin key | revoked', async () => {
    const { as, admin, register: registerUser } = await createAccountsApp()
    const { key } = await registerUser()
    const id = (await as(key, 'GET', '/v1/keys')).json().keys[0].id

    expect((await admin('DELETE', `/v1/admin/keys/${id}`)).statusCode).toBe(200)

    expect((await as(key, 'GET', '/v1/keys')).statusCode).toBe(401)
    expect((await admin('GET', `/v1/admin/keys/${id}`)).json().is_active).toBe(false)
  })

  it.each(TIERS)(
    'key, any tier | PATCH /v1/admin/keys/{key_id} with tier | admin key | key has the new tier: from %s',
    async (from) => {
      const world = await createAccountsApp()
      const key = await createUser(world, from)
      const id = (await world.as(key, 'GET', '/v1/keys')).json().keys[0].id

      for (const to of TIERS) {
        const answer = await world.admin('PATCH', `/v1/admin/keys/${id}?tier=${to}`)
        expect(answer.json().tier).toBe(to)
        expect((await world.as(key, 'GET', '/v1/keys')).json().keys[0].tier).toBe(to)
      }
    },
  )

  it('no account | POST /v1/auth/register | valid unused e-mail and valid password | account exists, tier free', async () => {
    const { app, as, admin } = await createAccountsApp()

    const answer = await app.inject(register(EMAIL))

    expect(answer.json().tier).toBe('free')
    expect((await as(answer.json().api_key, 'GET', '/v1/keys')).json().keys).toHaveLength(1)
    expect((await admin('GET', '/v1/admin/users')).json()).toMatchObject({
      count: 1,
      users: [{ email: EMAIL }],
    })
  })
})

describe('Errors', () => {
  it.each([
    [400, 'missing or invalid parameters', register('no-address')],
    [401, 'missing or invalid API key', { url: '/v1/keys' }],
    [404, 'not found', { url: '/v1/nothing' }],
    [409, 'conflict, for example e-mail already registered', register(EMAIL)],
  ] as const)('%i | %s', async (status, _, request) => {
    const { app, register: registerUser } = await createAccountsApp()
    await registerUser(EMAIL)

    const answer = await app.inject(request)

    expect(answer.statusCode).toBe(status)
    // What mistook the path may show only an error object.
    const error = { message: ERROR.detail, type: 'invalid_request_error', param: null, code: 'not_found' }
    expect(answer.json()).toEqual({ ...ERROR, ...(status === 404 && { error }) })
  })

  it('429 | rate limit exceeded', async () => {
    const { as, admin, register: registerUser } = await createAccountsApp()
    const { key } = await registerUser()
    const id = (await as(key, 'GET', '/v1/keys')).json().keys[0].id
    await admin('PATCH', `/v1/admin/keys/${id}?rate_limit_rpm=1`)

    const answer = await as(key, 'GET', '/v1/keys')

    expect(answer.statusCode).toBe(429)
    expect(answer.json()).toEqual(ERROR)
  })

  it('500 | internal server error', async () => {
    const authenticator = { authenticate: () => Promise.reject(new Error('the disk is on fire')) }
    const { call } = await createAccountsApp({ authenticator })

    const answer = await call('/v1/keys')

    expect(answer.statusCode).toBe(500)
    expect(answer.json()).toEqual({
      detail: `Internal server error. Request id: ${String(answer.headers['x-request-id'])}`,
    })
  })
})

describe('Limits', () => {
  it('expires_in_days (self-service) | 1 to 365', async () => {
    const { call } = await createAccountsApp()
    const create = (expires_in_days: unknown) =>
      call({ method: 'POST', url: '/v1/keys', payload: { expires_in_days } })

    expect((await create(1)).statusCode).toBe(200)
    expect((await create(365)).statusCode).toBe(200)
    for (const [given, shown] of [
      [0, '0'],
      [366, '366'],
      [1.5, '1.5'],
      ['7', '"7"'],
    ]) {
      const answer = await create(given)
      expect(answer.statusCode).toBe(400)
      expect(answer.json().detail).toBe(
        `expires_in_days must be an integer between 1 and 365, but was ${shown}.`,
      )
    }
  })
})
