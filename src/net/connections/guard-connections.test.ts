import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { once } from 'node:events'
import path from 'node:path'
import { connect as connectSecurely, createServer as createTlsServer } from 'node:tls'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { guardConnections, MAX_PIPELINED, queuedBytes, ROUNDS_PER_BOUND } from './guard-connections.ts'
import { HTTP_BOUNDS } from '../http-bounds.ts'

afterEach(() => vi.useRealTimers())

type FakeTimer = 'setInterval' | 'clearInterval' | 'performance'

/** Of a server without rules of its own; it ends with the test. */
async function guard(listener: RequestListener, more: readonly FakeTimer[] = []) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', ...more] })
  const cuts: string[] = []
  const server = createServer(listener)
  guardConnections(server, HTTP_BOUNDS, (rule) => cuts.push(rule))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  return { server, client: client.on('error', () => {}), cuts }
}

/** A connection that reaches the server decrypted, as in `secure-connections.ts`. */
async function connectTls(server: Server) {
  const [key, cert] = ['first.key', 'first.crt'].map((name) =>
    readFileSync(path.resolve(import.meta.dirname, '../../../test/fixtures/tls', name)),
  )
  const front = createTlsServer({ key, cert }, (socket) => void server.emit('connection', socket))
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  onTestFinished(() => void front.close())
  const client = connectSecurely((front.address() as AddressInfo).port, '127.0.0.1', {
    rejectUnauthorized: false,
  })
  await once(client, 'secureConnect')
  return client.on('error', () => {})
}

const GET = 'GET / HTTP/1.1\r\nhost: test\r\n\r\n'

it.each(['at once', 'later'])(
  'cuts who does not read an answer that was given %s, when 4 kB a second were too much',
  async (when) => {
    // More than the system takes off the server's hands.
    const answer = Buffer.alloc(64 * 1024 * 1024)
    const { server, client, cuts } = await guard((_, response) => {
      if (when === 'at once') response.end(answer)
      else setImmediate(() => response.end(answer))
    })
    client.pause().write(GET)
    const [, response] = await once(server, 'request')
    if (!response.writableEnded) await once(response, 'prefinish')

    vi.advanceTimersByTime(HTTP_BOUNDS.slowReaderMs + (answer.length / 4096) * 1000)
    expect(cuts).toEqual([])
    vi.advanceTimersByTime(HTTP_BOUNDS.slowReaderMs)
    client.resume()
    await once(client, 'close')

    expect(cuts).toEqual(['slow-reader'])
  },
)

it('cuts who takes nothing of a part of an answer for 30 s, and no earlier', async () => {
  const { server, client, cuts } = await guard(
    (_, response) => void response.write(Buffer.alloc(64 * 1024 * 1024)),
    ['performance'],
  )
  client.pause().write(GET)
  await once(server, 'request')
  vi.advanceTimersByTime(HTTP_BOUNDS.slowReaderMs)
  expect(cuts).toEqual([])
  vi.advanceTimersByTime(HTTP_BOUNDS.slowReaderMs / ROUNDS_PER_BOUND)
  expect(cuts).toEqual(['slow-reader'])
})

it.each(['plain', 'TLS'])('leaves who takes a little of a write every 25 s: %s', async (kind) => {
  const {
    server,
    client: plainClient,
    cuts,
  } = await guard((_, response) => void response.write(Buffer.alloc(64 * 1024 * 1024)), ['performance'])
  const client = kind === 'TLS' ? await connectTls(server) : plainClient
  client.pause().write(GET)
  const [{ socket }] = (await once(server, 'request')) as [IncomingMessage]
  for (let time = 0; time < 4; time++) {
    vi.advanceTimersByTime(25_000)
    const queued = queuedBytes(socket)
    client.resume()
    // So much that the system takes more off the server's hands; a few megabytes, far less than the write under way.
    while (queuedBytes(socket) === queued) await once(client, 'data')
    client.pause()
  }
  expect(cuts).toEqual([])
  client.destroy()
})

it('counts no pause of the process as one of the client', async () => {
  const { server, client, cuts } = await guard(
    (_, response) => void response.write(Buffer.alloc(64 * 1024 * 1024)),
    ['performance'],
  )
  client.pause().write(GET)
  await once(server, 'request')
  vi.advanceTimersByTime(2 * (HTTP_BOUNDS.slowReaderMs / ROUNDS_PER_BOUND))
  const nowMs = performance.now()
  vi.spyOn(performance, 'now').mockReturnValue(nowMs + 3_600_000)
  vi.advanceTimersByTime(HTTP_BOUNDS.slowReaderMs / ROUNDS_PER_BOUND)
  expect(cuts).toEqual([])
  client.destroy()
})

it('leaves who has a part of an answer to read, and waits for the rest', async () => {
  const part = Buffer.alloc(64 * 1024 * 1024)
  const { server, client, cuts } = await guard((_, response) => void response.write(part))
  client.pause().write(GET)
  const [, response] = await once(server, 'request')

  vi.advanceTimersByTime(HTTP_BOUNDS.slowReaderMs + part.length)
  client.resume()
  response.end()
  await once(response, 'finish')
  client.destroy()

  expect(cuts).toEqual([])
})

it('leaves who waits for an answer, for however long', async () => {
  const { server, client, cuts } = await guard(() => {})
  client.write(GET)
  const [, response] = await once(server, 'request')

  vi.advanceTimersByTime(HTTP_BOUNDS.slowReaderMs * 100)
  response.end('late')

  expect(String(await once(client, 'data'))).toContain('200 OK')
  expect(cuts).toEqual([])
  client.destroy()
})

it('cuts who sends more of a body long after its answer', async () => {
  const { server, client, cuts } = await guard((_, response) => void response.end('enough'))
  client.write('POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 10\r\n\r\n')
  await once(client, 'data')

  vi.advanceTimersByTime(HTTP_BOUNDS.lingerMs)
  expect(cuts).toEqual([])
  vi.advanceTimersByTime(HTTP_BOUNDS.lingerMs)
  await once(client, 'close')

  expect(cuts).toEqual(['lingering-body'])
  expect(server.listening).toBe(true)
})

it('counts only what is waiting: one after the other, as many requests as anybody likes', async () => {
  const { client, cuts } = await guard((_, response) => void response.end('x'))

  for (let count = 0; count < MAX_PIPELINED * 3; count++) {
    client.write(GET)
    await once(client, 'data')
  }

  expect(cuts).toEqual([])
  client.destroy()
})
