/** `--cors-origins`: which pages a browser lets read our answers. */
import { describe, expect, it } from 'vitest'
import { createTestApp, KEY } from '../../support/servers/test-app.ts'

const PAGE = 'https://app.example.org'
const corsOrigins = [PAGE, 'http://localhost:3000']

type Headers = Record<string, unknown>

function corsHeaders(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith('access-control-') || name === 'vary'),
  )
}

const PREFLIGHT = {
  method: 'OPTIONS',
  url: '/v1/keys',
  headers: {
    origin: PAGE,
    'access-control-request-method': 'DELETE',
    'access-control-request-headers': 'authorization,content-type',
  },
} as const

describe('without origins', () => {
  it.each([
    ['a page', { url: '/v1/models', headers: { origin: PAGE } }],
    ['a preflight', PREFLIGHT],
    ['an error', { url: '/v1/nothing', headers: { origin: PAGE } }],
  ] as const)('%s gets no header of CORS at all', async (_, request) => {
    const answer = await createTestApp().call(request)

    expect(corsHeaders(answer.headers)).toEqual({})
  })

  it('a preflight is an unknown route, with our error', async () => {
    const answer = await createTestApp().app.inject(PREFLIGHT)

    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({
      detail: 'There is no route OPTIONS /v1/keys.',
      error: { code: 'not_found', message: 'There is no route OPTIONS /v1/keys.' },
    })
  })
})

describe('a page of an allowed origin', () => {
  it('may read the answer, its limits and its request id', async () => {
    const { call } = createTestApp({ corsOrigins })

    const answer = await call({ url: '/v1/models', headers: { origin: PAGE } })

    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': PAGE, vary: 'Origin' })
    const exposed = String(answer.headers['access-control-expose-headers']).split(', ')
    const ours = Object.keys(answer.headers).filter(
      (name) => name.startsWith('x-') && name !== 'x-content-type-options',
    )
    expect(exposed).toEqual(
      expect.arrayContaining([...ours, 'x-error-code', 'x-max-tokens-applied', 'retry-after']),
    )
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
  })

  it.each([
    [400, { method: 'POST', url: '/v1/generate', payload: { prompt: 7 }, headers: { origin: PAGE } }],
    [401, { url: '/v1/models', headers: { origin: PAGE, authorization: 'Bearer wrong' } }],
    [404, { url: '/v1/nothing', headers: { origin: PAGE } }],
    [400, { url: '/v1/models/%zz', headers: { origin: PAGE } }],
  ] as const)('may read an error: %i', async (status, request) => {
    const answer = await createTestApp({ corsOrigins }).call(request)

    expect(answer.statusCode).toBe(status)
    expect(answer.headers['access-control-allow-origin']).toBe(PAGE)
  })

  it('may read a stream', async () => {
    const answer = await createTestApp({ corsOrigins }).call({
      method: 'POST',
      url: '/v1/generate/stream',
      payload: { prompt: 'a' },
      headers: { origin: PAGE },
    })

    expect(answer.headers['content-type']).toContain('text/event-stream')
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': PAGE, vary: 'Origin' })
    expect(answer.headers['access-control-expose-headers']).toContain('x-ratelimit-remaining-requests')
  })
})

describe('a preflight', () => {
  it('of an allowed origin is 204 and needs no key', async () => {
    const { app } = createTestApp({ corsOrigins })

    const answer = await app.inject(PREFLIGHT)

    expect(answer.statusCode).toBe(204)
    expect(answer.body).toBe('')
    expect(corsHeaders(answer.headers)).toEqual({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
      'access-control-allow-headers': 'authorization,content-type',
      'access-control-max-age': '7200',
      vary: 'Origin',
    })
  })

  it('of a foreign origin allows nothing', async () => {
    const { app } = createTestApp({ corsOrigins })

    const answer = await app.inject({
      ...PREFLIGHT,
      headers: { ...PREFLIGHT.headers, origin: 'https://evil.example' },
    })

    expect(answer.statusCode).toBe(404)
    expect(corsHeaders(answer.headers)).toEqual({ vary: 'Origin' })
  })

  it.each(['x\r\nset-cookie: a=b', 'a b', 'a,,b', 'ü', ''])(
    'does not repeat the header names %j',
    async (wanted) => {
      const { app } = createTestApp({ corsOrigins })

      const answer = await app.inject({
        ...PREFLIGHT,
        headers: { ...PREFLIGHT.headers, 'access-control-request-headers': wanted },
      })

      expect(answer.statusCode).toBe(204)
      expect(answer.headers).not.toHaveProperty('access-control-allow-headers')
      expect(answer.headers).not.toHaveProperty('set-cookie')
    },
  )

  it('takes no place in the rate of a key', async () => {
    const { app, call } = createTestApp({ corsOrigins })

    for (let index = 0; index < 5; index++) {
      await app.inject({ ...PREFLIGHT, headers: { ...PREFLIGHT.headers, authorization: `Bearer ${KEY}` } })
    }

    expect((await call('/v1/models')).headers['x-ratelimit-remaining-requests']).toBe('9999')
  })
})

describe('OPTIONS that is no preflight', () => {
  it.each([{ origin: PAGE }, { 'access-control-request-method': 'GET' }, {}])(
    'stays an unknown route: %j',
    async (headers) => {
      const answer = await createTestApp({ corsOrigins }).app.inject({
        method: 'OPTIONS',
        url: '/v1/keys',
        headers,
      })

      expect(answer.statusCode).toBe(404)
      expect(answer.json()).toMatchObject({
        detail: 'There is no route OPTIONS /v1/keys.',
        error: { code: 'not_found', message: 'There is no route OPTIONS /v1/keys.' },
      })
    },
  )
})

describe('a page of another origin', () => {
  it.each([
    'https://evil.example',
    'https://app.example.org.evil.example',
    'http://app.example.org',
    'https://app.example.org:8443',
    'HTTPS://APP.EXAMPLE.ORG',
    'null',
    '',
  ])('%j gets its answer and may not read it', async (origin) => {
    const answer = await createTestApp({ corsOrigins }).call({ url: '/v1/models', headers: { origin } })

    expect(answer.statusCode).toBe(200)
    // What is kept by a cache differs by origin, whoever asked first.
    expect(corsHeaders(answer.headers)).toEqual({ vary: 'Origin' })
  })

  it('is also told apart when there is no origin', async () => {
    const answer = await createTestApp({ corsOrigins }).call('/v1/models')

    expect(corsHeaders(answer.headers)).toEqual({ vary: 'Origin' })
  })
})

describe('--cors-origins "*"', () => {
  it('lets every page read, and never with credentials of the browser', async () => {
    const { app, call } = createTestApp({ corsOrigins: ['*'] })

    for (const origin of [PAGE, 'https://other.example', 'null']) {
      const answer = await call({ url: '/v1/models', headers: { origin } })
      const preflight = await app.inject({ ...PREFLIGHT, headers: { ...PREFLIGHT.headers, origin } })

      expect(answer.headers['access-control-allow-origin']).toBe('*')
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
      expect(answer.headers).not.toHaveProperty('vary')
      expect([preflight.statusCode, preflight.headers['access-control-allow-origin']]).toEqual([204, '*'])
    }
  })
})
