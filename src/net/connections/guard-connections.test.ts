import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { once } from 'node:events'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { guardConnections, MAX_PIPELINED } from './guard-connections.ts'
import { HTTP_BOUNDS } from '../http-bounds.ts'

afterEach(() => vi.useRealTimers())

/** Of a server without rules of its own; it ends with the test. */
async function guard(listener: RequestListener) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const cuts: string[] = []
  const server = createServer(listener)
  guardConnections(server, HTTP_BOUNDS, (rule) => cuts.push(rule))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  return { server, client: client.on('error', () => {}), cuts }
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
