/** Query strings: what is a number, what is given twice, and names that a route does not take. */
import { describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp } from '../../support/servers/accounts-app.ts'
import { ADMIN_KEY, createTestApp, KEY } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const ACCOUNT = { email: 'ann@example.org', password: 'long enough' }

/** A good body for each route that reads one: the query is looked at after it. */
const BODIES: Readonly<Record<string, object>> = {
  '/v1/generate': { prompt: 'a' },
  '/v1/generate/stream': { prompt: 'a' },
  '/v1/generate/batch': { prompts: ['a'] },
  '/v1/generate/continuous-batch': { prompts: ['a'] },
  '/v1/embeddings': { input: 'a' },
  '/v1/admin/teams': { name: 'a' },
  '/v1/rerank': { query: 'a', documents: ['b'] },
  '/v2/rerank': { query: 'a', documents: ['b'] },
  '/rerank': { query: 'a', documents: ['b'] },
  '/v1/completions': { prompt: 'a' },
  '/tokenize': { prompt: 'a' },
  '/detokenize': { tokens: [1] },
  '/v1/tokenize': { prompt: 'a' },
  '/v1/detokenize': { tokens: [1] },
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'a' }] },
  '/v1/responses': { input: 'a' },
  '/v1/responses/input_tokens': { input: 'a' },
  '/v1/messages/count_tokens': { messages: [{ role: 'user', content: 'a' }] },
  '/v1/messages': { max_tokens: 1, messages: [{ role: 'user', content: 'a' }] },
  '/v1/auth/register': ACCOUNT,
  '/v1/auth/login': ACCOUNT,
  '/v1/auth/sign-in': { token: 'a' },
  '/v1/auth/first-admin': ACCOUNT,
  '/v1/auth/accept-invitation': { token: 'a', password: 'long enough' },
  '/v1/admin/invitations': { emails: ['ann@example.org'] },
  '/v1/auth/password': { current_password: 'long enough', new_password: 'longer enough' },
  '/v1/keys': {},
  '/v1/keys/x': { name: 'a' },
  '/v1/admin/users': ACCOUNT,
  '/v1/admin/users/x': { tier: 'pro' },
  '/v1/admin/models': { id: 'm', checkpoint: 'm.gguf' },
  '/v1/admin/models/check': { checkpoint: 'm' },
}

/** Path, parameter, and the rule that its error names. */
const WHOLE_NUMBERS = [
  ['GET', '/v1/keys', 'limit', 'an integer between 1 and 1000'],
  ['GET', '/v1/admin/keys', 'limit', 'an integer between 1 and 1000'],
  ['GET', '/v1/admin/users', 'limit', 'an integer between 1 and 1000'],
  ['POST', '/v1/admin/keys', 'expires_in_days', 'an integer between 1 and 3650'],
  ['PATCH', '/v1/admin/keys/{key_id}', 'expires_in_days', 'an integer between 1 and 3650'],
  ['PATCH', '/v1/admin/keys/{key_id}', 'rate_limit_rpm', 'an integer between 1 and 1000000'],
] as const

const MOMENTS = ['/v1/usage', '/v1/admin/usage', '/v1/admin/keys/{key_id}/usage'] as const

const NO_NUMBERS = [
  '',
  ' ',
  ' 1',
  '0x10',
  '0b1',
  '1_000',
  '1,5',
  'NaN',
  'Infinity',
  '-Infinity',
  '1e',
  'null',
  'true',
  '١',
]

async function createCaller() {
  const world = await createAccountsApp()
  const { id } = (await world.admin('POST', '/v1/admin/keys')).json<{ id: string }>()
  const call = (method: Parameters<AccountsApp['admin']>[0], path: string, query: string) => {
    const url = `${path.replace('{key_id}', id)}?${query}`
    return path.startsWith('/v1/admin') ? world.admin(method, url) : world.call({ method, url })
  }
  return { world, call }
}

const caller = shared(createCaller)

describe.each(WHOLE_NUMBERS)('%s %s: %s', (method, path, name, rule) => {
  it('refuses what is no such number and says why', async () => {
    const { call } = caller()

    for (const given of [...NO_NUMBERS, '0', '-1', '1.5', '1e9', '9'.repeat(400)]) {
      const answer = await call(method, path, `${name}=${encodeURIComponent(given)}`)

      const shown = JSON.stringify(given.length > 64 ? `${given.slice(0, 64)}…` : given)
      expect(answer.statusCode, given).toBe(400)
      expect(answer.json().detail).toBe(`${name} must be ${rule}, but was ${shown}.`)
    }
  })

  it('refuses it twice, even when both say the same', async () => {
    const { call } = caller()

    const answer = await call(method, path, `${name}=2&${name}=2`)

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toBe(`${name} must be ${rule}, but was an array of 2 items.`)
  })

  it('takes a whole number in digits alone', async () => {
    const { call } = caller()

    for (const given of ['2', '02']) {
      expect((await call(method, path, `${name}=${given}`)).statusCode, given).toBe(200)
    }
    for (const given of ['2.0', '2e0', '%2B2', '2%20']) {
      expect((await call(method, path, `${name}=${given}`)).statusCode, given).toBe(400)
    }
  })
})

describe.each(MOMENTS)('GET %s: since', (path) => {
  it('refuses what is no moment and says why', async () => {
    const { call } = caller()

    for (const given of [
      ...NO_NUMBERS,
      '-1',
      '-0.001',
      '1e400',
      '9'.repeat(400),
      '253402300800',
      '2023-11-14',
    ]) {
      const answer = await call('GET', path, `since=${encodeURIComponent(given)}`)

      expect(answer.statusCode, given).toBe(400)
      expect(answer.json().detail).toMatch(
        /^since must be a Unix time in seconds between 0 and 253402300799, but was "/,
      )
    }
  })

  it('refuses it twice', async () => {
    const { call } = caller()

    const answer = await call('GET', path, 'since=1&since=1')

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toContain('but was an array of 2 items.')
  })

  it('takes every way to write a number', async () => {
    const { call } = caller()

    for (const given of [
      '0',
      '-0',
      '1.5',
      '.5',
      '1.',
      '1e3',
      '1E%2B3',
      '1700000000.123456789',
      '253402300799',
    ]) {
      expect((await call('GET', path, `since=${given}`)).statusCode, given).toBe(200)
    }
  })
})

describe('texts', () => {
  it.each(['name', 'tier', 'user_id', 'expires_in_days'])(
    'POST /v1/admin/keys refuses %s twice',
    async (name) => {
      const { call } = caller()

      const answer = await call('POST', '/v1/admin/keys', `${name}=free&${name}=free`)

      expect(answer.statusCode).toBe(400)
      expect(answer.json().detail).toMatch(new RegExp(`^${name} must be .*, but was an array of 2 items\\.$`))
    },
  )

  it('are percent-decoded, and a plus is a blank', async () => {
    const { call } = caller()

    const answer = await call('POST', '/v1/admin/keys', 'name=%F0%9F%98%80+a%2Bb%26c')

    expect(answer.json().name).toBe('😀 a+b&c')
  })

  it.each(['%FF%FE', '%zz', '%', '%C3%28', 'a%ED%A0%80'])(
    'that are not percent-encoded UTF-8 are refused: %s',
    async (name) => {
      const { world, call } = await createCaller()

      const answer = await call('POST', '/v1/admin/keys', `name=${name}`)

      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toEqual({
        detail: 'The HTTP request is malformed: the query is not valid percent-encoding.',
      })
      expect((await world.admin('GET', '/v1/admin/keys')).json().count).toBe(1)
    },
  )
})

describe('unknown parameters', () => {
  it.each([
    ['GET', '/v1/usage', 'sinse=1', 'The query has an unknown parameter "sinse": did you mean \'since\'?'],
    ['GET', '/v1/keys', 'Limit=1', 'The query has an unknown parameter "Limit": did you mean \'limit\'?'],
    [
      'POST',
      '/v1/admin/keys',
      'tier=pro&expiresIn=3',
      'The query has an unknown parameter "expiresIn": did you mean \'expires_in_days\'?',
    ],
    [
      'PATCH',
      '/v1/admin/keys/{key_id}',
      'rpm=3',
      /^The query has an unknown parameter "rpm": did you mean '\w+'\?$/,
    ],
    ['POST', '/v1/keys', 'name=x', 'The query has an unknown parameter "name": this route takes none.'],
    [
      'POST',
      '/v1/models/quantize',
      'modelid=default',
      'The query has an unknown parameter "modelid": did you mean \'model_id\'?',
    ],
  ] as const)('%s %s?%s is 400 with the nearest name', async (method, path, query, detail) => {
    const { call } = caller()

    const answer = await call(method, path, query)

    expect(answer.statusCode).toBe(400)
    expect(answer.headers['x-error-code']).toBe('invalid_request')
    if (typeof detail === 'string') expect(answer.json().detail).toBe(detail)
    else expect(answer.json().detail).toMatch(detail)
  })

  it.each([
    'a=1&a=2',
    '__proto__=x',
    'constructor=y',
    'toString=z',
    'since[]=1',
    '=1',
    '%00=1',
    `${'x'.repeat(10_000)}=1`,
  ])('are 400 whatever their names: %s', async (query) => {
    const { call } = caller()

    for (const path of ['/v1/usage', '/v1/keys', '/v1/admin/users'] as const) {
      const answer = await call('GET', path, query)
      expect(answer.statusCode).toBe(400)
      expect(answer.json().detail).toMatch(/^The query has an unknown parameter ".{0,70}": did you mean '/)
    }
  })

  it('are 400 on every route, one without a query and the documentation too', async () => {
    const { app, call } = createTestApp()
    const { paths } = (await app.inject('/openapi.json')).json<{ paths: Record<string, object> }>()
    const described = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x')]),
    )
    const documentation = [
      ['GET', '/openapi.json'],
      ['GET', '/docs'],
      ['GET', '/docs/static/swagger-ui.css'],
    ]

    for (const [method, path] of [...described, ...documentation]) {
      const secret = path?.startsWith('/v1/admin') === true || path === '/metrics' ? ADMIN_KEY : KEY
      const answer = await call({
        method: method as 'GET',
        url: `${path}?zzz=1`,
        headers: { authorization: `Bearer ${secret}` },
        ...(/POST|PATCH/.test(method ?? '') &&
          BODIES[path ?? ''] !== undefined && { payload: BODIES[path ?? ''] }),
      })
      expect([method, path, answer.statusCode]).toEqual([method, path, 400])
      expect(answer.json().detail).toMatch(/^The query has an unknown parameter "zzz": /)
    }
  })

  it('are 401 without a key and 404 where there is no route, as anything is', async () => {
    const { app } = createTestApp()

    expect((await app.inject('/v1/usage?zzz=1')).statusCode).toBe(401)
    expect((await app.inject('/v1/nothing?zzz=1')).statusCode).toBe(404)
  })

  it('an empty query is none', async () => {
    const { app } = createTestApp()

    for (const query of ['', '&', '&&']) {
      expect((await app.inject(`/v1/health?${query}`)).statusCode).toBe(200)
    }
  })
})

it('takes the version that Codex adds when it lists models', async () => {
  const { world } = caller()
  expect((await world.call('/v1/models?client_version=0.99.0')).statusCode).toBe(200)
})
