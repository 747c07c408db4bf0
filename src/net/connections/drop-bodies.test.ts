import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as turns from '../../core/concurrency/turns.ts'
import { dropBodiesSlowly } from './drop-bodies.ts'

const BYTES = 4 * 1024 * 1024
const CHUNK_BYTES = 65_536

let server: Server

beforeEach(async () => {
  // Answers before it has read anything.
  server = createServer((_, response) => void response.end('early'))
  dropBodiesSlowly(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
})

afterEach(() => void server.close())

/** Sends a body and then a second request on the same connection; resolves when both are answered. */
async function sendTwo(head: string, body: string): Promise<void> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`${head}\r\nhost: x\r\n\r\n${body}GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  const parts: Buffer[] = await socket.toArray()
  expect(Buffer.concat(parts).toString().match(/early/g)).toHaveLength(2)
}

describe('a body that comes after its answer', () => {
  it.each([
    ['of declared length', `POST / HTTP/1.1\r\nContent-Length: ${BYTES}`, 'x'.repeat(BYTES)],
    [
      'in chunks',
      'POST / HTTP/1.1\r\ntransfer-encoding: chunked',
      `${BYTES.toString(16)}\r\n${'x'.repeat(BYTES)}\r\n0\r\n\r\n`,
    ],
  ])('is dropped piece by piece, each in a turn of its own: %s', async (_, head, body) => {
    const taken = vi.spyOn(turns, 'ownTurn')

    await sendTwo(head, body)

    expect(taken.mock.calls.length).toBeGreaterThanOrEqual(BYTES / CHUNK_BYTES / 2)
    taken.mockRestore()
  })

  it('keeps the connection open for it where that closes after the answer', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const received = socket.toArray()
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${BYTES}\r\n\r\n`)
    // Sent when the answer has been written.
    await new Promise((resolve) => setTimeout(resolve, 50))

    socket.write('x'.repeat(BYTES - 1))
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.write('x')

    expect(Buffer.concat(await received).toString()).toMatch(/^HTTP\/1\.1 200 .*early/s)
  })

  it('keeps no later request from closing the connection', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${BYTES}\r\n\r\n`)
    const [request] = (await once(server, 'request')) as [IncomingMessage]
    socket.write('x'.repeat(BYTES))
    await once(request, 'end')

    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')

    expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/early.*early/s)
  })

  it('leaves nothing behind on the connection, however many of them it brings', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const body = `5\r\nhello\r\n0\r\n\r\n`
    for (let count = 0; count < 3; count++) {
      socket.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n')
      const [request] = (await once(server, 'request')) as [IncomingMessage]
      await once(socket, 'data')
      const ended = once(request, 'end')
      socket.write(body)
      await ended
      expect(Object.hasOwn(request.socket, 'destroySoon')).toBe(false)
    }
    socket.destroy()
  })

  it('is left to Node where it is small', async () => {
    const taken = vi.spyOn(turns, 'ownTurn')

    await sendTwo('POST / HTTP/1.1\r\nContent-Length: 1000', 'x'.repeat(1000))

    expect(taken).not.toHaveBeenCalled()
    taken.mockRestore()
  })
})
