import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JoinedRequest, MAX_TINY_CHUNKS, MIN_CHUNK_BYTES } from './joined-request.ts'

const HEAD = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n'
const CHUNKS = 40_000

let server: Server
/** Sizes of what the request handed on. */
let pieces: number[]
let bodies: string[]

beforeEach(async () => {
  pieces = []
  bodies = []
  server = createServer({ IncomingMessage: JoinedRequest }, (request, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => {
      pieces.push(piece.length)
      body += piece.toString('latin1')
    })
    request.on('end', () => {
      bodies.push(body)
      response.end('done')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
})

afterEach(() => void server.close())

async function send(text: string): Promise<void> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`${text}GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  await socket.toArray()
}

describe('a request whose body comes in small chunks', () => {
  it('hands on all bytes in their order, joined', async () => {
    const size = MIN_CHUNK_BYTES
    const letters = Array.from({ length: CHUNKS }, (_, index) => String.fromCharCode(97 + (index % 26)))
    const chunks = letters.map((letter) => `${size.toString(16)}\r\n${letter.repeat(size)}\r\n`)

    await send(`${HEAD}${chunks.join('')}0\r\n\r\n`)

    expect(bodies).toEqual([letters.map((letter) => letter.repeat(size)).join(''), ''])
    expect(pieces.length).toBeLessThan(CHUNKS / 100)
  })

  it('hands on as many of one byte as may come at once', async () => {
    await send(`${HEAD}${'1\r\nx\r\n'.repeat(MAX_TINY_CHUNKS)}0\r\n\r\n`)

    expect(bodies).toEqual(['x'.repeat(MAX_TINY_CHUNKS), ''])
  })

  it('hands on nothing more of too many, says why, and looks at none of the rest', async () => {
    const faults: unknown[] = []
    const pushes: number[] = []
    server.on('request', (request: JoinedRequest) => {
      const push = request.push.bind(request)
      request.push = (piece) => {
        pushes.push(piece?.length ?? 0)
        return push(piece)
      }
      request.once('fault', () => {
        faults.push(request.fault)
        request.socket.destroy()
      })
    })

    await send(`${HEAD}${'1\r\nx\r\n'.repeat(5 * MAX_TINY_CHUNKS)}0\r\n\r\n`)

    expect(faults).toEqual([expect.objectContaining({ code: 'malformed_request' })])
    expect(pushes.length).toBeLessThanOrEqual(MAX_TINY_CHUNKS + 20)
    // Of the request behind it, which came in the same read.
    expect(bodies).toEqual([''])
  })

  it('keeps large and small chunks in their order', async () => {
    const texts = Array.from({ length: 200 }, (_, index) =>
      String(index % 10).repeat(index % 7 === 0 ? 2000 : 3),
    )

    await send(
      `${HEAD}${texts.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join('')}0\r\n\r\n`,
    )

    expect(bodies).toEqual([texts.join(''), ''])
  })

  it('hands on at once what comes in a few pieces', async () => {
    await send(`${HEAD}${'1\r\nx\r\n'.repeat(10)}0\r\n\r\n`)

    expect(pieces).toEqual(Array.from({ length: 10 }, () => 1))
  })
})
