/** Clients that take their time, or more than their share: what each is cut off by, and that nobody else notices. */
import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { json } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { MAX_PIPELINED, ROUNDS_PER_BOUND } from '../../../src/net/connections/guard-connections.ts'
import type { HttpBounds } from '../../../src/net/http-bounds.ts'
import { MAX_BODY_BYTES } from '../../../src/net/requests/read-body.ts'
import type { EngineRequest } from '../../../src/protocol/engine.ts'
import type { EngineEvent } from '../../../src/protocol/engine-events.ts'
import { exchange, openSocket, postBytes, readAnswer, untilClosed } from '../../support/net/raw-http.ts'
import {
  hang,
  ScriptedEngine,
  sequenceEnd,
  sequenceStart,
  textDelta,
} from '../../support/engines/scripted-engine.ts'
import { createTestApp, KEY, type TestApp } from '../../support/servers/test-app.ts'
import { lengthOf } from '../../support/length-of.ts'

/** Short enough to wait for. */
const SHORT: Partial<HttpBounds> = { checkingIntervalMs: 10 }
/** As `sse.ts` asks for it. */
const SLOW_READER_MS = 30_000
const HEALTH = 'GET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n'
const HEAD = `POST /v1/generate HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-type: application/json\r\n`
/** The head of a body that is refused by its length. */
const DECLARED = `${HEAD}content-length: ${MAX_BODY_BYTES + 1}\r\n`

async function hitsOf({ metrics }: TestApp, rule: string): Promise<number> {
  const pattern = new RegExp(`^sluice_guard_hits_total\\{guard="http",rule="${rule}"\\} (\\d+)$`, 'm')
  return Number(pattern.exec(await metrics.render())?.[1] ?? 0)
}

async function isServing(port: number): Promise<boolean> {
  return (await exchange(port, HEALTH)).status === 200
}

describe('slow headers', () => {
  it.each(['', 'GET /v1/hea', 'GET /v1/health HTTP/1.1\r\nhost: x\r\nx-a: b'])(
    'of which %j has come are 400 after a time, and the connection ends',
    async (start) => {
      const httpBounds = { ...SHORT, headersTimeoutMs: 50, requestTimeoutMs: 1000 }
      const port = await createTestApp({ httpBounds }).listen()
      const socket = await openSocket(port)
      const answer = readAnswer(socket)

      socket.write(start)

      expect((await answer).status).toBe(400)
      expect(JSON.parse((await answer).body).detail).toContain('in time')
      await untilClosed(socket)
      expect(await isServing(port)).toBe(true)
    },
  )
})

it('many connections that are overdue at the same moment do not keep others waiting', async () => {
  const OVERDUE = 300
  const httpBounds = { checkingIntervalMs: 400, headersTimeoutMs: 400, requestTimeoutMs: 1000 }
  const port = await createTestApp({ httpBounds }).listen()
  const other = await openSocket(port)
  other.write(HEALTH)
  await readAnswer(other)
  const sockets = await Promise.all(Array.from({ length: OVERDUE }, () => openSocket(port)))
  const closed = Promise.all(sockets.map(untilClosed))
  let answered = 0
  const first = Promise.race(
    sockets.map(async (socket) => {
      await once(socket, 'data')
      answered++
    }),
  )

  await first
  const health = readAnswer(other)
  other.write(HEALTH)

  expect((await health).status).toBe(200)
  expect(answered).toBeLessThan(OVERDUE)
  await closed
})

it('a slow body is 400 after a time, and the place it held is free', async () => {
  const httpBounds = { ...SHORT, headersTimeoutMs: 50, requestTimeoutMs: 100 }
  const testApp = createTestApp({ httpBounds })
  const socket = await openSocket(await testApp.listen())
  const answer = readAnswer(socket)

  socket.write(`${HEAD}content-length: 100\r\n\r\n{"prompt"`)

  expect((await answer).status).toBe(400)
  expect(JSON.parse((await answer).body).detail).toContain('in time')
  expect((await testApp.post('/v1/generate', { prompt: 'a' })).statusCode).toBe(200)
})

describe('a slow reader', () => {
  /** Far more than the buffers of two sockets hold. */
  const CHUNK = 'x'.repeat(1024 * 1024)
  const CHUNKS = 64

  async function* sayMuch(_request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    yield sequenceStart()
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      signal.throwIfAborted()
      yield textDelta(CHUNK, [1])
    }
    yield sequenceEnd()
  }

  async function openUnread(port: number, url: string): Promise<Socket> {
    const socket = await openSocket(port)
    socket.pause()
    socket.write(postBytes(url, { prompt: 'a' }, KEY))
    return socket
  }

  async function untilIdle({ app }: TestApp): Promise<void> {
    const count = () => new Promise<number>((resolve) => app.server.getConnections((_, n) => resolve(n)))
    while ((await count()) > 0) await new Promise((resolve) => setImmediate(resolve))
  }

  it('of a plain answer is cut off', async () => {
    const testApp = createTestApp({ engine: new ScriptedEngine(sayMuch), httpBounds: { slowReaderMs: 50 } })
    const port = await testApp.listen()

    await openUnread(port, '/v1/generate')
    await once(testApp.app.server, 'request')
    await untilIdle(testApp)

    expect(await hitsOf(testApp, 'slow-reader')).toBe(1)
    expect(await isServing(port)).toBe(true)
  })

  it("of an upstream's stream is cut off with a bounded part of it in memory, and its generation ends", async () => {
    let made = 0
    const deadlines: (() => void)[] = []
    const script = async function* (request: EngineRequest, signal: AbortSignal) {
      for await (const event of sayMuch(request, signal)) {
        made++
        yield event
      }
    }
    const testApp = createTestApp({
      engine: new ScriptedEngine(script, { takesChats: true }),
      startSilenceTimer: (onSilence, silenceMs) => {
        if (silenceMs === SLOW_READER_MS) deadlines.push(onSilence)
        return { refresh: () => {}, stop: () => void deadlines.pop() }
      },
    })
    const port = await testApp.listen()

    await openUnread(port, '/v1/generate/stream')
    // Stopped again while the sockets themselves still take something.
    while (deadlines.length === 0) await new Promise((resolve) => setImmediate(resolve))
    deadlines[0]?.()
    await untilIdle(testApp)

    expect(made).toBeLessThan(CHUNKS)
    expect(await hitsOf(testApp, 'slow-reader')).toBe(1)
    await expect.poll(() => testApp.usage).toMatchObject([{ status: 499 }])
  })

  it('who reads after all gets everything', async () => {
    // The time of the guard alone.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const testApp = createTestApp({ engine: new ScriptedEngine(sayMuch) })
    const port = await testApp.listen()

    const arrived = once(testApp.app.server, 'request')
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const asked = request({ port, path: '/v1/generate', method: 'POST', headers })
    asked.end('{"prompt":"a"}')
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    const [, response] = (await arrived) as [unknown, ServerResponse]
    // More than the system has taken off the server's hands.
    expect(response.writableLength).toBeGreaterThan(0)
    vi.advanceTimersByTime(SLOW_READER_MS - SLOW_READER_MS / ROUNDS_PER_BOUND)
    const { generated_text: text } = (await json(answer)) as { generated_text: string }

    expect(text).toHaveLength(CHUNK.length * CHUNKS)
    expect(await hitsOf(testApp, 'slow-reader')).toBe(0)
  })
})

describe('connections', () => {
  const IDLE = lengthOf({ test: 500, soak: 4000 })

  it(`${IDLE} of which stand idle keep nobody from being served`, async () => {
    const testApp = createTestApp()
    const port = await testApp.listen()

    await Promise.all(Array.from({ length: IDLE }, () => openSocket(port)))

    expect(await isServing(port)).toBe(true)
    expect((await exchange(port, postBytes('/v1/generate', { prompt: 'a' }, KEY))).status).toBe(200)
  })

  it('over the limit are closed, and others come in when one ends', async () => {
    const testApp = createTestApp({ httpBounds: { maxConnections: 2 } })
    const port = await testApp.listen()
    const first = await openSocket(port)
    await openSocket(port)

    const third = await openSocket(port)
    await untilClosed(third)
    expect(await hitsOf(testApp, 'connections')).toBe(1)
    const [closed] = await Promise.all([
      new Promise((resolve) => testApp.app.server.getConnections(resolve)),
      once(first, 'close'),
      Promise.resolve(first.destroy()),
    ])

    expect(closed).toBeNull()
    await expect.poll(() => isServing(port).catch(() => false)).toBe(true)
  })

  it('end when nothing is asked for between two requests', async () => {
    const testApp = createTestApp({ httpBounds: { keepAliveTimeoutMs: 50 } })
    const socket = await openSocket(await testApp.listen())
    const answer = readAnswer(socket)
    socket.write(HEALTH)

    expect((await answer).status).toBe(200)
    await untilClosed(socket)
  })

  it('stay while an answer takes longer than a reader may', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const engine = new ScriptedEngine(async function* () {
      await released
      yield sequenceStart()
      yield textDelta('late', [1])
      yield sequenceEnd()
    })
    const testApp = createTestApp({ engine, httpBounds: { slowReaderMs: 10, lingerMs: 50 } })
    const port = await testApp.listen()
    const arrived = once(testApp.app.server, 'request')
    const answer = exchange(port, postBytes('/v1/generate', { prompt: 'a' }, KEY))
    await arrived
    // Cut when a slow reader would have been long before.
    const other = await openSocket(port)
    other.write(`${DECLARED}\r\n`)
    await untilClosed(other)
    release()

    expect((await answer).status).toBe(200)
  })
})

describe('pipelined requests', () => {
  it('are answered in order', async () => {
    const socket = await openSocket(await createTestApp().listen())
    let received = ''
    socket.on('data', (chunk) => (received += chunk.toString()))

    socket.end(HEALTH.repeat(MAX_PIPELINED))
    await untilClosed(socket)

    expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(MAX_PIPELINED)
  })

  it('that are too many end the connection and all its generations', async () => {
    const engine = new ScriptedEngine(hang)
    const testApp = createTestApp({ engine })
    const port = await testApp.listen()
    const socket = await openSocket(port)

    socket.write(postBytes('/v1/generate', { prompt: 'a' }, KEY) + HEALTH.repeat(10_000))
    await untilClosed(socket)

    expect(await hitsOf(testApp, 'pipelining')).toBe(1)
    expect(await isServing(port)).toBe(true)
  })
})

describe('a body that is too large', () => {
  it('by its declared length is refused before any of it was sent', async () => {
    const answer = await exchange(await createTestApp().listen(), `${DECLARED}\r\n`)

    expect([answer.status, answer.headers['x-error-code']]).toEqual([400, 'body_too_large'])
  })

  it('in chunks is refused while it is being sent', async () => {
    const socket = await openSocket(await createTestApp().listen())
    const answer = readAnswer(socket)
    const size = MAX_BODY_BYTES + 1

    socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`)

    expect([(await answer).status, (await answer).headers['x-error-code']]).toEqual([400, 'body_too_large'])
  })

  it('is never asked for', async () => {
    const socket = await openSocket(await createTestApp({ httpBounds: { lingerMs: 50 } }).listen())
    let received = ''
    socket.on('data', (chunk) => (received += chunk.toString()))

    socket.write(`${DECLARED}expect: 100-continue\r\n\r\n`)
    await untilClosed(socket)

    expect(received).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('keeps its connection when it comes to its end after all', async () => {
    const socket = await openSocket(await createTestApp().listen())
    const answer = readAnswer(socket)
    socket.write(`${DECLARED}\r\n`)
    expect((await answer).status).toBe(400)
    const next = readAnswer(socket)

    socket.write('x'.repeat(MAX_BODY_BYTES + 1) + HEALTH)

    expect((await next).status).toBe(200)
  })

  it('loses its connection when it takes too long', async () => {
    const testApp = createTestApp({ httpBounds: { lingerMs: 50 } })
    const socket = await openSocket(await testApp.listen())

    socket.write(`${DECLARED}\r\n`)
    await untilClosed(socket)

    expect(await hitsOf(testApp, 'lingering-body')).toBe(1)
  })
})

it('a body is asked for when the head has passed, not before', async () => {
  const port = await createTestApp().listen()
  const body = '{"prompt":"a"}'
  const head = (secret: string) =>
    `POST /v1/generate HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`

  const socket = await openSocket(port)
  socket.write(head(KEY))
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 /)
  const answer = readAnswer(socket)
  socket.write(body)

  expect((await answer).status).toBe(200)
  expect((await exchange(port, head('wrong'))).status).toBe(401)
})
