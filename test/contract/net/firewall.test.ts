/** `--enable-firewall` under attack, and how much of it a proper client notices: nothing. */
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../src/core/clock.ts'
import { MAX_OFFENCES, MemoryBans } from '../../../src/limits/memory/bans.ts'
import { Firewall } from '../../../src/guards/firewall/firewall.ts'
import { FIREWALL_MAX_BODY_BYTES } from '../../../src/guards/firewall/rules.ts'
import { NO_MODEL_STATES } from '../../../src/telemetry/model-metrics.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import { addressKey, isLoopbackAddress } from '../../../src/net/client-address.ts'
import { ADDRESS_BOUNDS } from '../../../src/net/connections/limit-address-connections.ts'
import { exchange, openSocket, postBytes, readAnswer, untilClosed } from '../../support/net/raw-http.ts'
import { distantPart } from '../../support/servers/distant-state.ts'
import { ADMIN_KEY, createTestApp, KEY, type TestApp } from '../../support/servers/test-app.ts'

const ATTACKER = '203.0.113.7'
const OTHER = '198.51.100.1'
const HEALTH = 'GET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n'

interface FirewallApp extends TestApp {
  /** A request without a key from this address. */
  readonly from: (address: string, url: string) => ReturnType<TestApp['call']>
  readonly admin: (method: 'GET' | 'DELETE', url: string) => ReturnType<TestApp['call']>
  readonly hitsOf: (rule: string) => Promise<number>
}

/** Tests come from the loopback address, so it is not exempt unless they say so. */
function createFirewallApp(
  isExempt: (address: string) => boolean = () => false,
  { isDistant = false } = {},
): FirewallApp {
  const clock = new VirtualClock()
  const memory = new MemoryBans(clock)
  const bans = isDistant ? distantPart(memory) : memory
  const metrics = new Metrics({ models: NO_MODEL_STATES, isReady: () => true })
  const onHit = (rule: string): void => metrics.countGuardHit({ guard: 'firewall', rule })
  const firewall = new Firewall({ bans, toKey: addressKey, isExempt, onHit, onBan: () => {} })
  const testApp = createTestApp({ clock, metrics, firewall })
  return {
    ...testApp,
    from: (remoteAddress, url) => testApp.app.inject({ url, remoteAddress }),
    admin: (method, url) =>
      testApp.app.inject({
        method,
        url,
        remoteAddress: OTHER,
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      }),
    hitsOf: async (rule) => {
      const pattern = new RegExp(`^sluice_guard_hits_total\\{guard="firewall",rule="${rule}"\\} (\\d+)$`, 'm')
      return Number(pattern.exec(await testApp.metrics.render())?.[1] ?? 0)
    },
  }
}

async function ban({ from }: FirewallApp, address: string): Promise<void> {
  for (let turn = 0; turn < MAX_OFFENCES; turn++) await from(address, '/v1/models')
}

describe('a request of a known bad shape', () => {
  it.each([
    ['GET /.env HTTP/1.1\r\nhost: x\r\n', 403, 'scanner-path'],
    ['GET /docs/../../etc/passwd HTTP/1.1\r\nhost: x\r\n', 403, 'path-traversal'],
    ['GET /docs/static/%252e%252e/x HTTP/1.1\r\nhost: x\r\n', 403, 'path-traversal'],
    ['GET /docs/%c0%ae%c0%ae/ HTTP/1.1\r\nhost: x\r\n', 400, 'overlong-utf8'],
    ['GET /docs/%00 HTTP/1.1\r\nhost: x\r\n', 400, 'control-character'],
    ['GET /docs/\\x HTTP/1.1\r\nhost: x\r\n', 403, 'backslash'],
    ['GET http://evil/ HTTP/1.1\r\nhost: x\r\n', 403, 'absolute-target'],
    ['GET /v1/health HTTP/1.1\r\nhost: x@evil\r\n', 400, 'host-shape'],
    ['GET /v1/health HTTP/1.1\r\nhost: x\r\nuser-agent: ${jndi:ldap://x}\r\n', 403, 'code-lookup'],
    [`GET /v1/health HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(64)}`, 403, 'header-count'],
    [`GET /v1/health HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(9000)}\r\n`, 403, 'header-size'],
    [`GET /${'a'.repeat(5000)} HTTP/1.1\r\nhost: x\r\n`, 403, 'target-size'],
    [
      `POST /v1/generate HTTP/1.1\r\nhost: x\r\ncontent-length: ${FIREWALL_MAX_BODY_BYTES + 1}\r\n`,
      403,
      'body-size',
    ],
  ])('%j is %i by the rule %s', async (head, status, rule) => {
    const testApp = createFirewallApp()

    const answer = await exchange(await testApp.listen(), `${head}\r\n`)

    expect(answer.status).toBe(status)
    expect(answer.headers['x-error-code']).toBe(status === 403 ? 'firewall_rejected' : 'malformed_request')
    expect(JSON.parse(answer.body).detail).toContain(`rule '${rule}'`)
    expect(await testApp.hitsOf(rule)).toBe(1)
  })

  it('leaves one line in the log, with the rule and without the path', async () => {
    const testApp = createFirewallApp()

    await testApp.from(ATTACKER, '/secret/.env')

    await expect.poll(() => testApp.logLines).toMatchObject([{ rule: 'scanner-path', status: 403 }])
    expect(JSON.stringify(testApp.logLines)).not.toContain('secret')
    expect(JSON.stringify(testApp.logLines)).not.toContain(ATTACKER)
  })

  it('is an ordinary one without the firewall', async () => {
    const { app } = createTestApp()

    expect((await app.inject('/.env')).statusCode).toBe(404)
    expect((await app.inject({ url: '/v1/health', headers: { host: 'x@evil' } })).statusCode).toBe(200)
  })

  it('is a body in chunks that grows over what the firewall lets in', async () => {
    const testApp = createFirewallApp()
    const port = await testApp.listen()
    const socket = await openSocket(port)
    const answer = readAnswer(socket)
    const head = postBytes('/v1/generate', {}, KEY).replace(
      /content-length: \d+\r\n\r\n.*/s,
      'transfer-encoding: chunked\r\n\r\n',
    )
    const size = FIREWALL_MAX_BODY_BYTES + 1

    socket.write(`${head}${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`)

    expect([(await answer).status, (await answer).headers['x-error-code']]).toEqual([
      403,
      'firewall_rejected',
    ])
    expect(await testApp.hitsOf('body-size')).toBe(1)
    const prompt = 'a'.repeat(1_000_000)
    const large = await exchange(port, postBytes('/v1/generate', { prompt, max_new_tokens: 1 }, KEY))
    expect(large.status).toBe(200)
  })
})

describe('an address that was refused too often', () => {
  it.each([
    ['401', '/v1/models'],
    ['404', '/nowhere'],
    ['403', '/.env'],
    ['400, for a path that is none', '/v1/models/%zz'],
    ['400, for a query that is none', '/v1/health?%zz'],
  ])('with %s is banned: 403, whatever it asks for and with whatever key', async (_, url) => {
    const testApp = createFirewallApp()
    const { app, from } = testApp
    const refused = new Set<unknown>()
    for (let turn = 0; turn < MAX_OFFENCES; turn++) refused.add((await from(ATTACKER, url)).statusCode)
    expect(refused.size).toBe(1)

    const answer = await app.inject({
      url: '/v1/models',
      remoteAddress: ATTACKER,
      headers: { authorization: `Bearer ${KEY}` },
    })

    expect([answer.statusCode, answer.headers['x-error-code']]).toEqual([403, 'address_banned'])
    expect(answer.headers['retry-after']).toBe('60')
    expect(answer.json<{ detail: string }>().detail).toContain('60 s')
    expect((await from(ATTACKER, '/v1/health')).statusCode).toBe(403)
    expect((await from(ATTACKER, '/v1/models/%zz')).statusCode).toBe(403)
    expect((await from(OTHER, '/v1/health')).statusCode).toBe(200)
  })

  it('is not banned one offence earlier, nor by what is wrong with values alone', async () => {
    const { app, from } = createFirewallApp()
    for (let turn = 1; turn < MAX_OFFENCES; turn++) await from(ATTACKER, '/nowhere')
    for (let turn = 0; turn < 2 * MAX_OFFENCES; turn++) {
      const answer = await app.inject({
        method: 'POST',
        url: '/v1/generate',
        remoteAddress: ATTACKER,
        headers: { authorization: `Bearer ${KEY}` },
        payload: { prompt: 7 },
      })
      expect(answer.statusCode).toBe(400)
    }

    expect((await from(ATTACKER, '/v1/health')).statusCode).toBe(200)
  })

  it('comes in again when its time is over, and stays out longer the next time', async () => {
    const testApp = createFirewallApp()
    const { clock, from } = testApp
    await ban(testApp, ATTACKER)
    clock.advance(59_999)
    expect((await from(ATTACKER, '/v1/health')).headers['retry-after']).toBe('1')
    clock.advance(1)
    expect((await from(ATTACKER, '/v1/health')).statusCode).toBe(200)

    await ban(testApp, ATTACKER)

    expect((await from(ATTACKER, '/v1/health')).headers['retry-after']).toBe('300')
    expect(await testApp.hitsOf('ban')).toBe(2)
  })

  it('is a whole /64 of IPv6, and the IPv4 address in any form', async () => {
    const testApp = createFirewallApp()
    await ban(testApp, '2001:db8:0:1::5')
    await ban(testApp, `::ffff:${ATTACKER}`)

    const banned = ['2001:db8:0:1:ffff::1', ATTACKER]
    const free = ['2001:db8:0:2::5', OTHER]
    for (const address of banned)
      expect((await testApp.from(address, '/v1/health')).statusCode, address).toBe(403)
    for (const address of free)
      expect((await testApp.from(address, '/v1/health')).statusCode, address).toBe(200)
  })

  it.each([
    ['memory', false],
    ['another process', true],
  ])('is banned in %s for bytes that are no HTTP, and then gets no answer to them', async (_, isDistant) => {
    const testApp = createFirewallApp(() => false, { isDistant })
    const port = await testApp.listen()
    for (let turn = 0; turn < MAX_OFFENCES / 2; turn++) {
      expect((await exchange(port, 'nonsense\r\n\r\n')).status).toBe(400)
      expect((await exchange(port, 'CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n')).status).toBe(404)
    }

    await expect(exchange(port, 'nonsense\r\n\r\n')).rejects.toThrow('hung up')
    await expect(exchange(port, 'CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n')).rejects.toThrow('hung up')
    expect((await exchange(port, HEALTH)).status).toBe(403)
  })

  it('is never the machine itself, behind which a proxy may stand', async () => {
    const testApp = createFirewallApp(isLoopbackAddress)
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      await ban(testApp, address)
      expect((await testApp.from(address, '/v1/health')).statusCode, address).toBe(200)
    }
    await ban(testApp, ATTACKER)
    expect((await testApp.from(ATTACKER, '/v1/health')).statusCode).toBe(403)
  })
})

describe('/v1/admin/bans', () => {
  it('lists who is banned and until when, and lets them in again', async () => {
    const testApp = createFirewallApp()
    const { admin, clock, from } = testApp
    expect((await admin('GET', '/v1/admin/bans')).json()).toEqual({ bans: [], count: 0 })
    await ban(testApp, ATTACKER)
    clock.advance(1000)
    await ban(testApp, '2001:db8:0:1::5')

    const listed = await admin('GET', '/v1/admin/bans')
    const since = clock.unixSeconds()
    expect(listed.json()).toEqual({
      bans: [
        { address: '2001:db8:0:1::/64', count: 1, since, until: since + 60 },
        { address: ATTACKER, count: 1, since: since - 1, until: since + 59 },
      ],
      count: 2,
    })

    const lifted = await admin('DELETE', '/v1/admin/bans/2001:db8:0:1::%2F64')
    expect([lifted.statusCode, lifted.json()]).toEqual([
      200,
      { status: 'lifted', address: '2001:db8:0:1::/64' },
    ])
    expect((await from('2001:db8:0:1::5', '/v1/health')).statusCode).toBe(200)
    expect((await admin('DELETE', `/v1/admin/bans/${ATTACKER}`)).statusCode).toBe(200)
    expect((await admin('GET', '/v1/admin/bans')).json()).toEqual({ bans: [], count: 0 })
  })

  it.each([ATTACKER, '2001:db8:0:1::5', 'nonsense', '%2F64', '..x'])(
    'has no %s to let in: 404',
    async (address) => {
      const answer = await createFirewallApp().admin('DELETE', `/v1/admin/bans/${address}`)

      expect([answer.statusCode, answer.headers['x-error-code']]).toEqual([404, 'ban_not_found'])
    },
  )

  it('takes any address of a banned network', async () => {
    const testApp = createFirewallApp()
    await ban(testApp, '2001:db8:0:1::5')

    expect((await testApp.admin('DELETE', '/v1/admin/bans/2001:db8:0:1:9::9')).statusCode).toBe(200)
  })

  it('is for the admin alone, and 404 without the firewall', async () => {
    const { call } = createTestApp()
    const headers = { authorization: `Bearer ${ADMIN_KEY}` }

    expect((await call('/v1/admin/bans')).statusCode).toBe(401)
    for (const [method, url] of [
      ['GET', '/v1/admin/bans'],
      ['DELETE', `/v1/admin/bans/${ATTACKER}`],
    ] as const) {
      const answer = await call({ method, url, headers })
      expect([answer.statusCode, answer.headers['x-error-code']]).toEqual([404, 'firewall_disabled'])
    }
  })
})

describe('connections of one address', () => {
  async function openMany(port: number, count: number) {
    return Promise.all(Array.from({ length: count }, () => openSocket(port)))
  }

  it('over the limit are closed', async () => {
    const testApp = createFirewallApp()
    const port = await testApp.listen()
    const sockets = await openMany(port, ADDRESS_BOUNDS.maxConnections)

    await untilClosed(await openSocket(port))

    expect(await testApp.hitsOf('connections')).toBe(1)
    const [first] = sockets
    first?.destroy()
    await expect.poll(() => exchange(port, HEALTH).catch(() => null)).toMatchObject({ status: 200 })
  })

  it('that are half-open give way also where they are as many as there may be', async () => {
    const testApp = createFirewallApp()
    const port = await testApp.listen()
    await openMany(port, ADDRESS_BOUNDS.maxConnections)
    await untilClosed(await openSocket(port))
    testApp.clock.advance(ADDRESS_BOUNDS.halfOpenAfterMs)

    expect((await exchange(port, HEALTH)).status).toBe(200)

    expect(await testApp.hitsOf('connections')).toBe(1)
    const given = ADDRESS_BOUNDS.maxConnections - ADDRESS_BOUNDS.maxHalfOpen + 1
    expect(await testApp.hitsOf('half-open')).toBe(given)
  })

  it.each([
    ['nothing', '', ''],
    ['half a head', '', 'GET /v1/health HTTP/1.1\r\nhost'],
    ['half a body', '', postBytes('/v1/generate', { prompt: 'a' }, KEY).slice(0, -3)],
    ['a request and half a head', HEALTH, 'GET /v1/hea'],
  ])('that have sent %s give way, the oldest first', async (_, first, rest) => {
    const testApp = createFirewallApp()
    const port = await testApp.listen()
    const open = async () => {
      const socket = await openSocket(port)
      if (first !== '') {
        const answer = readAnswer(socket)
        socket.write(first)
        await answer
      }
      socket.write(rest)
      return socket
    }
    const oldest = await open()
    await Promise.all(Array.from({ length: ADDRESS_BOUNDS.maxHalfOpen - 1 }, open))
    // By its answer the server has read what came before it on the others.
    expect((await exchange(port, HEALTH)).status).toBe(200)
    expect(await testApp.hitsOf('half-open')).toBe(0)
    testApp.clock.advance(ADDRESS_BOUNDS.halfOpenAfterMs)
    const closed = untilClosed(oldest)

    const late = await exchange(port, HEALTH)
    await closed

    expect(late.status).toBe(200)
    expect(await testApp.hitsOf('half-open')).toBe(1)
  })

  it('that are idle or wait for an answer do not', async () => {
    const testApp = createFirewallApp()
    const port = await testApp.listen()
    const sockets = await openMany(port, 2 * ADDRESS_BOUNDS.maxHalfOpen)
    for (const socket of sockets) {
      const answer = readAnswer(socket)
      socket.write(HEALTH)
      await answer
    }
    testApp.clock.advance(ADDRESS_BOUNDS.halfOpenAfterMs)

    expect((await exchange(port, HEALTH)).status).toBe(200)
    expect(await testApp.hitsOf('half-open')).toBe(0)
  })

  it('are not limited where the address is exempt', async () => {
    const testApp = createFirewallApp(isLoopbackAddress)
    const port = await testApp.listen()
    await openMany(port, ADDRESS_BOUNDS.maxConnections + 10)

    expect((await exchange(port, HEALTH)).status).toBe(200)
    expect(await testApp.hitsOf('connections')).toBe(0)
  })
})

describe('a proper client', () => {
  it.each([
    ['GET', '/v1/health'],
    ['GET', '/v1/ready'],
    ['GET', '/v1/models/default'],
    ['GET', '/docs/'],
    ['GET', '/docs/static/swagger-ui.css'],
    ['GET', '/openapi.json'],
    ['POST', '/v1/models/quantize?model_id=default&quant_mode=int4'],
  ] as const)('%s %s passes', async (method, url) => {
    expect((await createFirewallApp().call({ method, url })).statusCode).toBe(200)
  })

  it.each(['../../etc/passwd', '${jndi:ldap://x/a}', '() { :;}; id', '\u0000', '%2e%2e%2f', '/.env'])(
    'may send %j as a prompt',
    async (prompt) => {
      const answer = await createFirewallApp().post('/v1/generate', { prompt })

      expect(answer.json<{ generated_text: string }>().generated_text).toBe(prompt)
    },
  )
})
