/** `--cidr-allow`, `--cidr-deny`, `--trusted-proxies`: who is let in, whatever a request says of itself. */
import { describe, expect, it } from 'vitest'
import { AddressRules } from '../../../src/guards/address-list.ts'
import { TrustedProxies } from '../../../src/guards/trusted-proxies.ts'
import { AddressLimiter } from '../../../src/limits/address-limiter.ts'
import { MemoryRequestLimits } from '../../../src/limits/memory/request-limits.ts'
import { VirtualClock } from '../../../src/core/clock.ts'
import { exchange } from '../../support/net/raw-http.ts'
import { createTestApp, KEY } from '../../support/servers/test-app.ts'

const PROXY = '10.0.0.1'
const CLIENT = '203.0.113.7'

const denied = (...deny: string[]) => new AddressRules({ allow: [], deny })
const allowed = (...allow: string[]) => new AddressRules({ allow, deny: [] })

describe('address rules', () => {
  it.each([
    ['GET', '/v1/health'],
    ['GET', '/v1/ready'],
    ['GET', '/metrics'],
    ['GET', '/docs'],
    ['GET', '/openapi.json'],
    ['GET', '/v1/models'],
    ['POST', '/v1/generate'],
    ['POST', '/v1/chat/completions'],
    ['POST', '/v1/auth/register'],
    ['GET', '/v1/admin/keys'],
    ['GET', '/v1/nothing'],
    ['PUT', '/v1/health'],
    ['OPTIONS', '/v1/generate'],
  ] as const)('refuse %s %s', async (method, url) => {
    const { app } = createTestApp({ addressRules: denied('203.0.113.0/24'), corsOrigins: ['*'] })

    const answer = await app.inject({
      method,
      url,
      remoteAddress: CLIENT,
      headers: {
        authorization: `Bearer ${KEY}`,
        origin: 'https://app.example.org',
        'access-control-request-method': 'POST',
      },
    })

    expect(answer.statusCode).toBe(403)
    expect(answer.json()).toMatchObject({ detail: 'This server takes no requests from your address.' })
    expect(answer.headers['x-error-code']).toBe('address_refused')
    expect(answer.headers['x-request-id']).toEqual(expect.any(String))
  })

  it('are in the shape of OpenAI where the route is', async () => {
    const { app } = createTestApp({ addressRules: denied(CLIENT) })

    const answer = await app.inject({
      url: '/v1/models',
      remoteAddress: CLIENT,
    })

    const detail = 'This server takes no requests from your address.'
    expect(answer.json()).toEqual({
      detail,
      error: { message: detail, type: 'permission_error', param: null, code: 'address_refused' },
    })
  })

  it.each([CLIENT, `::ffff:${CLIENT}`, '::ffff:cb00:7107'])(
    'know %s by any spelling',
    async (remoteAddress) => {
      const request = { url: '/v1/health', remoteAddress }

      expect((await createTestApp({ addressRules: denied(CLIENT) }).app.inject(request)).statusCode).toBe(403)
      expect((await createTestApp({ addressRules: allowed(CLIENT) }).app.inject(request)).statusCode).toBe(
        200,
      )
      expect((await createTestApp({ addressRules: allowed('::/0') }).app.inject(request)).statusCode).toBe(
        403,
      )
    },
  )

  it('come before the body, the key and the limits, and are counted', async () => {
    const clock = new VirtualClock()
    const limits = new MemoryRequestLimits(clock)
    const addressLimiter = new AddressLimiter({ requestsPerMinute: 1, limits })
    const { app, metrics } = createTestApp({ clock, addressLimiter, addressRules: allowed('10.0.0.0/8') })
    const request = { method: 'POST', url: '/v1/generate', payload: '{', remoteAddress: CLIENT } as const

    const statuses = [(await app.inject(request)).statusCode, (await app.inject(request)).statusCode]

    expect(statuses).toEqual([403, 403])
    expect(await metrics.render()).toContain('sluice_guard_hits_total{guard="address",rule="cidr-allow"} 2')
    expect(limits.idCount).toBe(0)
  })

  it('say no more to a request that is malformed', async () => {
    const { listen } = createTestApp({ addressRules: denied('127.0.0.0/8') })
    const port = await listen()

    const malformed = [
      'GET /v1/health HTTP/9.9\r\n\r\n',
      'GET /v1/models/%zz HTTP/1.1\r\nhost: x\r\n\r\n',
      'GET /v1/health HTTP/1.1\r\nbad header\r\n\r\n',
    ]
    for (const bytes of malformed) {
      const { status, headers } = await exchange(port, bytes)
      expect([status, headers['x-error-code']]).toEqual([400, 'malformed_request'])
    }
    // Well formed but for what only a gate looks at.
    expect((await exchange(port, 'GET /v1/health HTTP/1.1\r\n\r\n')).status).toBe(403)
    expect((await exchange(port, 'GET /v1/health?%zz HTTP/1.1\r\nhost: x\r\n\r\n')).status).toBe(403)
  })
})

describe('a request through a proxy', () => {
  const trustedProxies = new TrustedProxies(['10.0.0.0/8', '127.0.0.1'])

  it('is judged by the address that the proxy saw', async () => {
    const { app } = createTestApp({ trustedProxies, addressRules: denied(CLIENT) })
    const status = async (remoteAddress: string, forwardedFor: string) =>
      (
        await app.inject({
          url: '/v1/health',
          remoteAddress,
          headers: { 'x-forwarded-for': forwardedFor },
        })
      ).statusCode

    expect(await status(PROXY, CLIENT)).toBe(403)
    expect(await status(PROXY, `127.0.0.1, ${CLIENT}`)).toBe(403)
    expect(await status(PROXY, `${CLIENT}, 198.51.100.1`)).toBe(200)
    // Whoever is no proxy may write what it likes.
    expect(await status(CLIENT, '198.51.100.1')).toBe(403)
    expect(await status('198.51.100.1', CLIENT)).toBe(200)
  })

  it('says who it is from in the last of several header lines', async () => {
    const { listen } = createTestApp({ trustedProxies, addressRules: denied(CLIENT) })
    const port = await listen()
    const status = async (...lines: string[]) => {
      const headers = lines.map((line) => `${line}\r\n`).join('')
      return (await exchange(port, `GET /v1/health HTTP/1.1\r\nhost: x\r\n${headers}\r\n`)).status
    }

    expect(await status(`X-Forwarded-For: 198.51.100.1`, `x-forwarded-for: ${CLIENT}`)).toBe(403)
    expect(await status(`X-Forwarded-For: ${CLIENT}`, `x-forwarded-for: 198.51.100.1`)).toBe(200)
    expect(await status(`Forwarded: for=${CLIENT}`, `X-Real-IP: ${CLIENT}`)).toBe(200)
  })

  it('counts against the client in the limit of an address, whatever the client adds', async () => {
    const clock = new VirtualClock()
    const { app } = createTestApp({
      clock,
      trustedProxies,
      addressLimiter: new AddressLimiter({ requestsPerMinute: 1, limits: new MemoryRequestLimits(clock) }),
    })
    const status = async (forwardedFor: string) =>
      (
        await app.inject({
          url: '/v1/nothing',
          remoteAddress: PROXY,
          headers: { 'x-forwarded-for': forwardedFor },
        })
      ).statusCode

    expect(await status(CLIENT)).toBe(404)
    for (let i = 0; i < 5; i++) expect(await status(`198.51.100.${i}, ${CLIENT}`)).toBe(429)
    expect(await status('198.51.100.1')).toBe(404)
  })
})
