/** Ways around the limits, and ways to keep everyone else waiting, that are closed. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { AddressLimiter } from '../../../src/limits/address-limiter.ts'
import { MemoryRequestLimits } from '../../../src/limits/memory/request-limits.ts'
import { createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'
import { hang, ScriptedEngine } from '../../support/engines/scripted-engine.ts'

const OFF = { config: { authMode: 'none' } } as const

describe('keys made, used and revoked in a loop', () => {
  it('pass no more in a minute than one key may, whoever revokes them', async () => {
    const { as, clock, login, register } = await createAccountsApp()
    await register('ann@example.org')
    const session = await login('ann@example.org')
    let passed = 0
    for (let turn = 0; turn < 6; turn++) {
      clock.advance(1)
      const made = await as(session, 'POST', '/v1/keys')
      const { id, key } = made.json<{ id: string; key: string }>()
      for (let request = 0; request < 40; request++) {
        if ((await as(key, 'GET', '/v1/models')).statusCode === 200) passed++
      }
      const revoker = (await as(key, 'DELETE', `/v1/keys/${id}`)).statusCode === 200 ? key : session
      if (revoker === session) await as(session, 'DELETE', `/v1/keys/${id}`)
    }

    expect(passed).toBeLessThanOrEqual(60)
    expect((await as(session, 'GET', '/v1/models')).statusCode).toBe(200)
  })

  it('run no more generations at once than one key may', async () => {
    const engine = new ScriptedEngine(hang)
    const { listen, as, login, register } = await createAccountsApp({ engine })
    await register('ann@example.org')
    const session = await login('ann@example.org')
    const port = await listen()
    const statuses: number[] = []
    const leave = new AbortController()
    for (let turn = 0; turn < 3; turn++) {
      const { id, key } = (await as(session, 'POST', '/v1/keys')).json<{ id: string; key: string }>()
      const answer = await fetch(`http://127.0.0.1:${port}/v1/generate/stream`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"prompt":"ab"}',
        signal: leave.signal,
      })
      statuses.push(answer.status)
      await as(session, 'DELETE', `/v1/keys/${id}`)
    }
    leave.abort()

    expect(statuses).toEqual([200, 429, 429])
    expect(engine.requests).toHaveLength(1)
  })
})

describe('a key that ends while its body is on the way', () => {
  it('acts no more', async () => {
    const { admin, clock, listen, register } = await createAccountsApp()
    const { userId, key } = await register()
    const socket = connect(await listen(), '127.0.0.1')
    const body = '{"prompt": "late"}'
    const head = `POST /v1/generate HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n`
    socket.write(head)
    // Told to go on: the head has passed the gates.
    await once(socket, 'data')
    await admin('PATCH', `/v1/admin/users/${userId}`, { disabled: true })
    clock.advance(1000)

    socket.write(body)

    const parts: Buffer[] = await socket.toArray()
    expect(Buffer.concat(parts).toString()).toMatch(/^HTTP\/1\.1 401 /)
  })
})

describe('what is far too long', () => {
  it.each([
    ['/v1/auth/login', { email: `a${'\u0300'.repeat(1000)}`, password: PASSWORD }, 401],
    ['/v1/auth/login', { email: `a${'\u0300'.repeat(1_000_000)}`, password: PASSWORD }, 400],
    ['/v1/auth/register', { email: `a@${'a.'.repeat(3_000_000)}org`, password: PASSWORD }, 400],
    ['/v1/auth/register', { email: `a@${'a-'.repeat(120)}.org`, password: PASSWORD }, 400],
  ])('as an e-mail at %s is refused', async (url, payload, status) => {
    const { app } = await createAccountsApp()

    expect((await app.inject({ method: 'POST', url, payload })).statusCode).toBe(status)
  })

  it('as a number in a query is refused', async () => {
    const { call } = await createAccountsApp()

    expect((await call(`/v1/usage?since=${'1'.repeat(15_000)}x`)).statusCode).toBe(400)
  })
})

describe('without authentication', () => {
  it('nobody makes or revokes keys that outlive the run, and the admin still does', async () => {
    const { app, admin } = await createAccountsApp(OFF)

    const made = await app.inject({ method: 'POST', url: '/v1/keys' })
    const revoked = await app.inject({ method: 'DELETE', url: '/v1/keys/any' })

    expect([made.statusCode, made.headers['x-error-code']]).toEqual([400, 'keys_need_authentication'])
    expect([revoked.statusCode, revoked.headers['x-error-code']]).toEqual([400, 'keys_need_authentication'])
    expect((await app.inject('/v1/keys')).json()).toEqual({ keys: [] })
    expect((await admin('POST', '/v1/admin/keys')).statusCode).toBe(200)
  })
})

it('a preflight takes no place of its address', async () => {
  const corsOrigins = ['https://a.example']
  const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET' }
  const { app, call, clock } = await createAccountsApp({ corsOrigins })
  const limited = await createAccountsApp({
    corsOrigins,
    addressLimiter: new AddressLimiter({ requestsPerMinute: 1, limits: new MemoryRequestLimits(clock) }),
  })

  for (let turn = 0; turn < 5; turn++) {
    const answer = await limited.app.inject({ method: 'OPTIONS', url: '/v1/models', headers })
    expect([answer.statusCode, answer.body]).toEqual([204, ''])
  }

  expect((await limited.call('/v1/models')).statusCode).toBe(200)
  expect((await limited.call('/v1/models')).statusCode).toBe(429)
  expect((await call('/v1/models')).statusCode).toBe(200)
  expect((await app.inject({ method: 'OPTIONS', url: '/v1/models', headers })).statusCode).toBe(204)
})

describe('a password in a body', () => {
  it.each([
    '{"email": "ann@example.org", "password": hunter2secret}',
    '{"email": "ann@example.org", "password": hunter2secret, "more": "and more and more and more"}',
    '"hunter2secret"',
    'hunter2secret',
  ])('that is no JSON object is not repeated: %s', async (payload) => {
    const { app } = await createAccountsApp()
    for (const url of ['/v1/auth/register', '/v1/auth/login']) {
      const answer = await app.inject({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        payload,
      })

      expect(answer.statusCode).toBe(400)
      expect(answer.body).not.toContain('hunter2s')
    }
  })
})

it('no answer is kept by a cache', async () => {
  const { app, admin } = await createAccountsApp()
  const payload = { email: 'ann@example.org', password: PASSWORD }

  const answers = [
    await app.inject({ method: 'POST', url: '/v1/auth/register', payload }),
    await app.inject({ method: 'POST', url: '/v1/auth/login', payload }),
    await admin('POST', '/v1/admin/keys'),
    await app.inject('/v1/models'),
  ]

  expect(answers.map(({ headers }) => headers['cache-control'])).toEqual(answers.map(() => 'no-store'))
})
