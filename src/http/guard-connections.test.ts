import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { once } from 'node:events'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { guardConnections } from './guard-connections.ts'
import { HTTP_BOUNDS } from './http-bounds.ts'

afterEach(() => vi.useRealTimers())

it.each(['at once', 'later'])('cuts who does not read an answer that was given %s', async (when) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const cuts: string[] = []
  // More than the system takes off the server's hands.
  const answer = Buffer.alloc(64 * 1024 * 1024)
  const server = createServer((_, response) => {
    if (when === 'at once') response.end(answer)
    else setImmediate(() => response.end(answer))
  })
  guardConnections(server, HTTP_BOUNDS, (rule) => cuts.push(rule))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.pause().write('GET / HTTP/1.1\r\nhost: test\r\n\r\n')
  const [, response] = await once(server, 'request')
  if (!response.writableEnded) await once(response, 'prefinish')

  vi.advanceTimersByTime(HTTP_BOUNDS.slowReaderMs + answer.length)
  client.resume().on('error', () => {})
  await once(client, 'close')

  expect(cuts).toEqual(['slow-reader'])
})
