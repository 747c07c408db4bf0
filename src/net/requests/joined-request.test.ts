import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JoinedRequest } from './joined-request.ts'

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

describe('a request whose body comes in chunks of one byte', () => {
  it('hands on all bytes in their order, joined', async () => {
    const letters = Array.from({ length: CHUNKS }, (_, index) => String.fromCharCode(97 + (index % 26)))

    await send(`${HEAD}${letters.map((letter) => `1\r\n${letter}\r\n`).join('')}0\r\n\r\n`)

    expect(bodies).toEqual([letters.join(''), ''])
    expect(pieces.length).toBeLessThan(CHUNKS / 100)
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
