/** `--port-knock` with real ports and several addresses, on a clock that is moved by hand. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { VirtualClock } from '../../../src/core/clock.ts'
import { MAX_KNOCKING, MemoryKnocks } from '../../../src/limits/memory/knocks.ts'
import { TrustedProxies } from '../../../src/guards/trusted-proxies.ts'
import { readCertificate } from '../../../src/net/tls/certificate.ts'
import { guardByKnock, openKnockPorts } from '../../../src/net/port-knock/knock-gate.ts'
import { SecureConnections } from '../../../src/net/tls/secure-connections.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { freePorts } from '../../support/net/free-ports.ts'
import { knockAll, knockOn, openFrom, statusFrom } from '../../support/net/knocking.ts'
import { exchange, postBytes, readAnswer } from '../../support/net/raw-http.ts'
import { distantPart } from '../../support/servers/distant-state.ts'
import { createTestApp, KEY, type TestAppOptions } from '../../support/servers/test-app.ts'
import { secureFetch } from '../../support/net/tls-client.ts'
import { pairOf, VALID_UNIX_SECONDS } from '../../support/net/tls-files.ts'

const [A, B, C] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const
const HOUR_MS = 3_600_000

async function createKnockApp(options: TestAppOptions = {}, { isSecure = false, isDistant = false } = {}) {
  const clock = new VirtualClock()
  const log = createLog({ level: 'silent' })
  const testApp = createTestApp({ clock, ...options })
  const certificate = await readCertificate(pairOf('first'), new VirtualClock(VALID_UNIX_SECONDS))
  const secure = isSecure ? new SecureConnections(testApp.app.server, { certificate, log }) : null
  const ports = await freePorts(3)
  const knock = new MemoryKnocks({ ports, windowMs: 10_000, openMs: HOUR_MS }, clock)
  const knocks = isDistant ? distantPart(knock) : knock
  guardByKnock(testApp.app.server, {
    knocks,
    onRefused: (rule) => testApp.metrics.countGuardHit({ guard: 'port-knock', rule }),
  })
  const knockPorts = await openKnockPorts(knocks, { ports, hosts: ['127.0.0.1'], log })
  onTestFinished(() => {
    knockPorts.close()
    secure?.close()
  })
  const port = await testApp.listen()
  return { ...testApp, clock, knock, knockPorts, ports, port }
}

describe('a server that wants knocking', () => {
  it('closes a connection before a byte, whatever is sent, and answers who has knocked', async () => {
    const { port, ports, metrics } = await createKnockApp()

    expect(await statusFrom(port, A)).toBeNull()
    for (const bytes of ['GET / HTTP/9.9\r\n\r\n', 'CONNECT x:1 HTTP/1.1\r\n\r\n', '\0']) {
      await expect(exchange(port, bytes)).rejects.toThrow('The server hung up after ""')
    }
    // Without sending anything.
    expect(await knockOn(port, A)).toBe('')

    await knockAll(ports, A)

    expect(await statusFrom(port, A)).toBe(200)
    expect(await statusFrom(port, B)).toBeNull()
    expect(await metrics.render()).toContain('sluice_guard_hits_total{guard="port-knock",rule="not-open"} 6')
  })

  it('does so as well where another process keeps the knocks, and loses no byte meanwhile', async () => {
    const { port, ports } = await createKnockApp({}, { isDistant: true })
    const secure = await createKnockApp({}, { isSecure: true, isDistant: true })

    expect(await statusFrom(port, A)).toBeNull()
    await expect(secureFetch({ port: secure.port, path: '/v1/health' })).rejects.toThrow()
    await knockAll(ports, A)
    await knockAll(secure.ports)

    expect(await statusFrom(port, A)).toBe(200)
    expect(await statusFrom(port, B)).toBeNull()
    expect(await secureFetch({ port: secure.port, path: '/v1/health' })).toMatchObject({ status: 200 })
  })

  it('lets nobody in where another process does not say who may come in', async () => {
    const testApp = createTestApp()
    const knock = () => Promise.reject(new Error('gone'))
    const isOpen = () => Promise.reject(new Error('gone'))
    guardByKnock(testApp.app.server, { knocks: { knock, isOpen }, onRefused: () => {} })

    expect(await statusFrom(await testApp.listen(), A)).toBeNull()
  })

  it('outlives clients that leave before another process has said whether they may come in', async () => {
    const { port, ports } = await createKnockApp({}, { isDistant: true })
    await knockAll(ports, A)

    for (let turn = 0; turn < 20; turn++) (await openFrom(port, A)).resetAndDestroy()

    expect(await statusFrom(port, A)).toBe(200)
  })

  it('says nothing at the knock ports', async () => {
    const { ports } = await createKnockApp()

    for (const port of ports) expect(await knockOn(port)).toBe('')
  })

  it.each([
    ['the wrong order', [2, 1, 0]],
    ['a foreign port of the sequence between', [0, 2, 1, 2]],
    ['one twice', [0, 1, 1, 2]],
    ['one left out', [0, 2]],
  ])('stays closed after %s', async (_, order) => {
    const { port, ports } = await createKnockApp()

    await knockAll(
      order.map((index) => ports[index] ?? 0),
      A,
    )

    expect(await statusFrom(port, A)).toBeNull()
  })

  it('keeps three addresses apart that knock in turns', async () => {
    const { port, ports } = await createKnockApp()
    const [first = 0, second = 0, third = 0] = ports

    for (const knocked of [first, second]) for (const address of [A, B, C]) await knockOn(knocked, address)
    await knockOn(first, B)
    for (const address of [A, B, C]) await knockOn(third, address)

    expect([await statusFrom(port, A), await statusFrom(port, B), await statusFrom(port, C)]).toEqual([
      200,
      null,
      200,
    ])
  })

  it('wants the whole sequence within the window, and is open for its time', async () => {
    const { port, ports, clock } = await createKnockApp()
    const [first = 0, second = 0, third = 0] = ports

    await knockAll([first, second], A)
    clock.advance(10_001)
    await knockOn(third, A)
    expect(await statusFrom(port, A)).toBeNull()

    await knockAll(ports, A)
    clock.advance(HOUR_MS - 1)
    expect(await statusFrom(port, A)).toBe(200)
    clock.advance(1)
    expect(await statusFrom(port, A)).toBeNull()
  })

  it('remembers who is open while 10,000 others knock, in bounded memory', async () => {
    const { port, ports, knock } = await createKnockApp()
    await knockAll(ports, A)

    for (let i = 0; i < 2 * MAX_KNOCKING; i++)
      knock.knock(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, ports[0] ?? 0)

    expect(await statusFrom(port, A)).toBe(200)
    expect(knock.idCount).toBe(MAX_KNOCKING + 1)
    await knockAll(ports, B)
    expect(await statusFrom(port, B)).toBe(200)
  })

  it('asks for the address of the connection, whatever a proxy says', async () => {
    const { port, ports } = await createKnockApp({ trustedProxies: new TrustedProxies(['127.0.0.0/8']) })
    await knockAll(ports, A)

    const request = `GET /v1/health HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${A}\r\n\r\n`
    const closed = await openFrom(port, B)
    const refused = readAnswer(closed)
    closed.write(request)
    await expect(refused).rejects.toThrow('The server hung up after ""')

    const proxied = await openFrom(port, A)
    const answer = readAnswer(proxied)
    proxied.write(request.replace(A, '203.0.113.7'))
    expect((await answer).status).toBe(200)
  })

  it('wants it before TLS', async () => {
    const { port, ports } = await createKnockApp({}, { isSecure: true })
    const call = { port, path: '/v1/health', localAddress: A }

    await expect(secureFetch(call)).rejects.toThrow(/ECONNRESET|disconnected|EPIPE/)
    // Not even an alert.
    expect(await knockOn(port, A)).toBe('')

    await knockAll(ports, A)
    expect((await secureFetch(call)).status).toBe(200)
    await expect(secureFetch({ ...call, localAddress: B })).rejects.toThrow()
  })
})

describe('a connection whose opening ends', () => {
  const HEALTH = 'GET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n'

  it.each([false, true])('is closed at its next request, without an answer (Expect: %s)', async (expects) => {
    const { port, ports, clock, metrics } = await createKnockApp()
    await knockAll(ports, A)
    const socket = await openFrom(port, A)
    const first = readAnswer(socket)
    socket.write(HEALTH)
    expect((await first).status).toBe(200)

    clock.advance(HOUR_MS)
    const next = readAnswer(socket)
    socket.write(expects ? HEALTH.replace('\r\n\r\n', '\r\nexpect: nothing\r\n\r\n') : HEALTH)

    await expect(next).rejects.toThrow('The server hung up after ""')
    expect(await metrics.render()).toContain(
      'sluice_guard_hits_total{guard="port-knock",rule="no-longer-open"} 1',
    )
  })

  it.each([
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n', false],
    ['CONNECT, where another process keeps the knocks', 'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n', true],
    ['what is no HTTP', 'hello there\r\n\r\n', false],
    ['what is no HTTP, where another process keeps the knocks', 'hello there\r\n\r\n', true],
  ])('is closed at %s too', async (_, bytes, isDistant) => {
    const { port, ports, clock, metrics } = await createKnockApp({}, { isDistant })
    await knockAll(ports, A)
    const socket = await openFrom(port, A)
    const first = readAnswer(socket)
    socket.write(HEALTH)
    expect((await first).status).toBe(200)

    clock.advance(HOUR_MS)
    const next = readAnswer(socket)
    socket.write(bytes)

    await expect(next).rejects.toThrow('The server hung up after ""')
    expect(await metrics.render()).toContain(
      'sluice_guard_hits_total{guard="port-knock",rule="no-longer-open"} 1',
    )
  })

  it('counts nothing where its client only leaves', async () => {
    const { port, ports, clock, metrics, app } = await createKnockApp()
    await knockAll(ports, A)
    const closed = new Promise<void>((resolve) => {
      app.server.once('connection', (accepted) => void accepted.once('close', () => resolve()))
    })
    const socket = await openFrom(port, A)
    const first = readAnswer(socket)
    socket.write(HEALTH)
    expect((await first).status).toBe(200)

    clock.advance(HOUR_MS)
    socket.resetAndDestroy()
    await closed

    expect(await metrics.render()).not.toContain('no-longer-open')
  })

  it('gets the whole answer that is under way, and none to what was pipelined behind it', async () => {
    const { port, ports, clock, app } = await createKnockApp()
    await knockAll(ports, A)
    const socket = await openFrom(port, A)
    const received = readAll(socket)
    const isServed = new Promise((resolve) => void app.server.once('request', resolve))
    const prompt = 'a story '.repeat(500)
    socket.write(postBytes('/v1/generate/stream', { prompt }, KEY))
    await isServed
    clock.advance(HOUR_MS)
    socket.write(HEALTH)

    const text = await received
    expect(text).toContain('data: [DONE]')
    expect(text).not.toContain('"status":"ok"')
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1)
  })
})

function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.once('close', () => resolve(text))
  })
}

describe('knock ports', () => {
  const knock = new MemoryKnocks({ ports: [1], windowMs: 1, openMs: 1 }, new VirtualClock())
  const log = createLog({ level: 'silent' })

  it('end the start with the one that is in use, and let go of the others', async () => {
    const [free = 0] = await freePorts(1)
    const other = createServer()
    onTestFinished(() => void other.close())
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve))
    const used = (other.address() as AddressInfo).port

    await expect(
      openKnockPorts(knock, { ports: [free, used], hosts: ['127.0.0.1'], log }),
    ).rejects.toMatchObject({
      message: `--port-knock: the port ${used} is in use by another program; choose another.`,
      exitCode: 1,
    })

    const again = await openKnockPorts(knock, { ports: [free], hosts: ['127.0.0.1'], log })
    again.close()
  })
})
