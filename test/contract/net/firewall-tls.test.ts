/** The firewall's bounds of one address where its connections carry TLS: they hold from the first byte of a handshake on. */
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../src/core/clock.ts'
import { Firewall } from '../../../src/guards/firewall/firewall.ts'
import { MemoryBans } from '../../../src/limits/memory/bans.ts'
import { addressKey } from '../../../src/net/client-address.ts'
import { ADDRESS_BOUNDS } from '../../../src/net/connections/limit-address-connections.ts'
import { readCertificate } from '../../../src/net/tls/certificate.ts'
import { SecureConnections } from '../../../src/net/tls/secure-connections.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { NO_MODEL_STATES } from '../../../src/telemetry/model-metrics.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import { openSocket, postBytes, readAnswer, untilClosed } from '../../support/net/raw-http.ts'
import { createTestApp, KEY } from '../../support/servers/test-app.ts'
import { openSecureSocket, secureFetch } from '../../support/net/tls-client.ts'
import { pairOf, VALID_UNIX_SECONDS } from '../../support/net/tls-files.ts'

const HEALTH = 'GET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n'

async function createSecureFirewallApp() {
  const clock = new VirtualClock(VALID_UNIX_SECONDS)
  const metrics = new Metrics({ models: NO_MODEL_STATES, isReady: () => true })
  const firewall = new Firewall({
    bans: new MemoryBans(clock),
    toKey: addressKey,
    isExempt: () => false,
    onHit: (rule) => metrics.countGuardHit({ guard: 'firewall', rule }),
    onBan: () => {},
  })
  const testApp = createTestApp({ clock, metrics, firewall })
  const secure = new SecureConnections(testApp.app.server, {
    certificate: await readCertificate(pairOf('first'), clock),
    log: createLog({ level: 'silent' }),
    handshakeTimeoutMs: 600_000,
  })
  const hitsOf = async (rule: string) => {
    const pattern = new RegExp(`^sluice_guard_hits_total\\{guard="firewall",rule="${rule}"\\} (\\d+)$`, 'm')
    return Number(pattern.exec(await testApp.metrics.render())?.[1] ?? 0)
  }
  return { ...testApp, clock, secure, hitsOf, port: await testApp.listen() }
}

describe('connections of one address', () => {
  it('over the limit are closed, those that never finish their handshake counted', async () => {
    const { port, hitsOf } = await createSecureFirewallApp()
    const handshakes = Array.from({ length: ADDRESS_BOUNDS.maxConnections }, () => openSocket(port))
    const [first] = await Promise.all(handshakes)

    await untilClosed(await openSocket(port))

    expect(await hitsOf('connections')).toBe(1)
    first?.destroy()
    await expect
      .poll(() => secureFetch({ port, path: '/v1/health' }).catch(() => null))
      .toMatchObject({ status: 200 })
  })

  it('that still shake hands give way to new ones, the oldest first', async () => {
    const { port, clock, hitsOf } = await createSecureFirewallApp()
    const oldest = await openSocket(port)
    await Promise.all(Array.from({ length: ADDRESS_BOUNDS.maxHalfOpen - 1 }, () => openSocket(port)))
    // By its answer the server has accepted the others.
    expect((await secureFetch({ port, path: '/v1/health' })).status).toBe(200)
    clock.advance(ADDRESS_BOUNDS.halfOpenAfterMs)
    const closed = untilClosed(oldest)

    expect((await secureFetch({ port, path: '/v1/health' })).status).toBe(200)

    await closed
    expect(await hitsOf('half-open')).toBe(1)
  })

  it.each([
    ['half a head', '', 'GET /v1/health HTTP/1.1\r\nhost'],
    ['half a body', '', postBytes('/v1/generate', { prompt: 'a' }, KEY).slice(0, -3)],
    ['a request and half a head', HEALTH, 'GET /v1/hea'],
  ])('that have sent %s give way too', async (_, first, rest) => {
    const { port, clock, hitsOf } = await createSecureFirewallApp()
    const open = async () => {
      const socket = await openSecureSocket(port)
      if (first !== '') {
        const answer = readAnswer(socket)
        socket.write(first)
        await answer
      }
      socket.write(rest)
      return socket
    }
    const oldest = await open()
    for (let count = 1; count < ADDRESS_BOUNDS.maxHalfOpen; count++) await open()
    expect((await secureFetch({ port, path: '/v1/health' })).status).toBe(200)
    clock.advance(ADDRESS_BOUNDS.halfOpenAfterMs)
    const closed = untilClosed(oldest)

    expect((await secureFetch({ port, path: '/v1/health' })).status).toBe(200)

    await closed
    expect(await hitsOf('half-open')).toBe(1)
  })

  it('that are idle between requests do not', async () => {
    const { port, clock, hitsOf } = await createSecureFirewallApp()
    for (let count = 0; count < 2 * ADDRESS_BOUNDS.maxHalfOpen; count++) {
      const socket = await openSecureSocket(port)
      const answer = readAnswer(socket)
      socket.write(HEALTH)
      await answer
    }
    clock.advance(ADDRESS_BOUNDS.halfOpenAfterMs)

    expect((await secureFetch({ port, path: '/v1/health' })).status).toBe(200)
    expect(await hitsOf('half-open')).toBe(0)
  })
})
