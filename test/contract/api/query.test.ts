/** Query strings: what is a number, what is given twice, and what nobody asked for. */
import { describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp } from '../../support/servers/accounts-app.ts'
import { shared } from '../../support/shared.ts'

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

describe('parameters that nobody asked for', () => {
  it.each([
    ['GET', '/v1/usage'],
    ['GET', '/v1/keys'],
    ['GET', '/v1/admin/keys'],
    ['POST', '/v1/admin/keys'],
    ['GET', '/v1/admin/users'],
  ] as const)('%s %s ignores them, whatever their names', async (method, path) => {
    const { call } = caller()

    const answer = await call(method, path, 'a=1&a=2&__proto__=x&constructor=y&toString=z&since[]=1&&=&%00=1')

    expect(answer.statusCode).toBe(200)
  })
})
