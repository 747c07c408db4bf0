/** `--auth-mode none`: what pages of other sites may not do to a server on this machine that asks for no key. */
import { describe, expect, it } from 'vitest'
import { createOpenAuthenticator } from '../../../src/accounts/authenticator.ts'
import { OwnHosts } from '../../../src/net/own-hosts.ts'
import { createTestApp, type TestAppOptions } from '../../support/servers/test-app.ts'

const PROMPT = { prompt: 'abc', max_new_tokens: 1 }

function setUp(options: TestAppOptions = {}) {
  const { app } = createTestApp({
    authenticator: createOpenAuthenticator(),
    ownHosts: new OwnHosts(['box.lan']),
    ...options,
  })
  return {
    get: (url: string, headers: Record<string, string>) => app.inject({ url, headers }),
    post: (headers: Record<string, string>, url = '/v1/generate') =>
      app.inject({ method: 'POST', url, headers, payload: PROMPT }),
    app,
  }
}

describe('a server without authentication', () => {
  it.each(['localhost:8080', '127.0.0.1', '[::1]:8080', 'box.lan', 'BOX.LAN:8443'])(
    'answers under the name %s',
    async (host) => {
      const { get, post } = setUp()

      expect((await get('/v1/models', { host })).statusCode).toBe(200)
      expect((await post({ host })).statusCode).toBe(200)
    },
  )

  it.each([
    '/v1/models',
    '/v1/health',
    '/v1/ready',
    '/docs/',
    '/openapi.json',
    '/v1/nothing',
    '/v1/admin/keys',
  ])('refuses a name that may have been pointed at this machine, on %s', async (url) => {
    const answer = await setUp().get(url, { host: 'rebound.evil.example:8080' })

    expect(answer.statusCode).toBe(403)
    expect(answer.headers['x-error-code']).toBe('host_refused')
    expect(answer.json().detail).toBe(
      "This server runs with --auth-mode none and answers only to localhost and the names of --allowed-hosts, but the request's Host is 'rebound.evil.example'; start it with --allowed-hosts rebound.evil.example if that is its name.",
    )
  })

  it.each(['http://evil.example', 'https://evil.example:8080', 'http://localhost.evil.example', 'null'])(
    'refuses what a page of %s sends, and does none of it',
    async (origin) => {
      const { post, get, app } = setUp()
      const headers = { host: 'localhost:8080', origin }

      const answer = await post(headers)

      expect(answer.statusCode).toBe(403)
      expect(answer.headers['x-error-code']).toBe('origin_refused')
      expect(answer.json().detail).toBe(
        `This server runs with --auth-mode none and takes POST only from pages of its own host, but the request's Origin is '${origin}'; name that origin in --cors-origins to let its pages call.`,
      )
      expect((await post(headers, '/v1/models/quantize?model_id=default')).statusCode).toBe(403)
      const deleted = await app.inject({ method: 'DELETE', url: '/v1/keys/x', headers })
      expect(deleted.headers['x-error-code']).toBe('origin_refused')
      // Its browser keeps this answer from the page.
      expect((await get('/v1/models', headers)).statusCode).toBe(200)
    },
  )

  it.each(['http://localhost:3000', 'https://127.0.0.1', 'http://box.lan'])(
    'takes what a page of %s sends: it is of this machine',
    async (origin) => {
      expect((await setUp().post({ host: 'localhost:8080', origin })).statusCode).toBe(200)
    },
  )

  it.each(['https://app.example', '*'])(
    'takes what a page of a configured origin sends: %s',
    async (allowed) => {
      const { post } = setUp({ corsOrigins: [allowed] })

      expect((await post({ host: 'localhost', origin: 'https://app.example' })).statusCode).toBe(200)
      expect((await post({ host: 'evil.example', origin: 'https://app.example' })).statusCode).toBe(403)
    },
  )
})

it('a server that asks for keys answers under every name', async () => {
  const { call } = createTestApp()

  const answer = await call({
    method: 'POST',
    url: '/v1/generate',
    headers: { host: 'sluice.example.org', origin: 'https://elsewhere.example' },
    payload: PROMPT,
  })

  expect(answer.statusCode).toBe(200)
})
