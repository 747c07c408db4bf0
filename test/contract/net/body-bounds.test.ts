/** How much of a body each route takes, how many bodies the server holds at once, and that large ones leave the event loop its turns. */
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ownTurn } from '../../../src/core/concurrency/turns.ts'
import { MAX_HELD_BODY_BYTES } from '../../../src/net/requests/body-budget.ts'
import { MAX_BODY_BYTES } from '../../../src/net/requests/read-body.ts'
import { exchange, openSocket, postBytes, readAnswer, untilClosed } from '../../support/net/raw-http.ts'
import { SERVERS } from '../../support/servers/both-servers.ts'
import { ADMIN_KEY, createTestApp, KEY } from '../../support/servers/test-app.ts'
import { until } from '../../support/until.ts'

const SMALL = 4096

function head(endpoint: string, { secret, bytes }: { secret: string; bytes: number }): string {
  return `${endpoint} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`
}

describe('the bound of a route', () => {
  it.each([
    ['POST /v1/auth/register', SMALL, KEY],
    ['POST /v1/auth/login', SMALL, KEY],
    ['POST /v1/auth/password', SMALL, KEY],
    ['POST /v1/keys', SMALL, KEY],
    ['POST /v1/admin/users', SMALL, ADMIN_KEY],
    ['PATCH /v1/admin/users/x', SMALL, ADMIN_KEY],
    ['POST /v1/admin/models', 65_536, ADMIN_KEY],
    ['POST /v1/generate', MAX_BODY_BYTES, KEY],
    ['POST /v1/generate/stream', MAX_BODY_BYTES, KEY],
    ['POST /v1/generate/batch', MAX_BODY_BYTES, KEY],
    ['POST /v1/generate/continuous-batch', MAX_BODY_BYTES, KEY],
    ['POST /v1/chat/completions', MAX_BODY_BYTES, KEY],
    ['POST /v1/responses', MAX_BODY_BYTES, KEY],
    ['POST /v1/responses/input_tokens', MAX_BODY_BYTES, KEY],
    ['POST /v1/messages', MAX_BODY_BYTES, KEY],
    ['POST /v1/messages/count_tokens', MAX_BODY_BYTES, KEY],
  ])('of %s is %i bytes', async (endpoint, bytes, secret) => {
    const port = await createTestApp().listen()

    const over = await exchange(port, head(endpoint, { secret, bytes: bytes + 1 }))

    expect(over.status).toBe(400)
    expect(JSON.parse(over.body).detail).toBe(`The request body must be at most ${bytes} bytes.`)
    if (bytes > SMALL) return
    const within = await exchange(port, head(endpoint, { secret, bytes }) + '{'.padEnd(bytes))
    expect(within.headers['x-error-code']).toBe('malformed_json')
  })

  it.each([
    'GET /v1/health',
    'GET /v1/models',
    'POST /v1/models/quantize',
    'DELETE /v1/keys/x',
    'POST /no/such',
  ])('of %s is none: what comes is dropped, and the connection goes on', async (endpoint) => {
    const port = await createTestApp().listen()
    const bare = await exchange(port, head(endpoint, { secret: KEY, bytes: 0 }))
    const socket = await openSocket(port)
    const answer = readAnswer(socket)

    socket.write(head(endpoint, { secret: KEY, bytes: MAX_BODY_BYTES }))

    // Before any of it has come.
    expect((await answer).status).toBe(bare.status)
    const next = readAnswer(socket)
    socket.write('x'.repeat(MAX_BODY_BYTES) + head('GET /v1/health', { secret: KEY, bytes: 0 }))
    expect((await next).status).toBe(200)
  })
})

describe.each(SERVERS)('a body in too many small chunks, on $name', ({ key, start }) => {
  const chunks = '1\r\n[\r\n'.repeat(10_000)
  const chunkedHead = (endpoint: string) =>
    head(endpoint, { secret: key, bytes: 0 }).replace('content-length: 0', 'transfer-encoding: chunked')

  /** The server's side of the next request's connection, as soon as its body is at fault and its answer has gone out. */
  const connectionAtFault = (server: Server) =>
    new Promise<Socket>((resolve) => {
      server.once('request', (request: IncomingMessage, response: ServerResponse) => {
        const both = Promise.all([once(request, 'fault'), once(response, 'finish')])
        resolve(both.then(() => request.socket))
      })
    })

  it('is refused in a sentence, and its connection closed', async () => {
    const { port, httpServer } = await start()
    const atFault = connectionAtFault(httpServer)
    const socket = await openSocket(port)
    const answer = readAnswer(socket)
    const closed = untilClosed(socket)

    socket.write(chunkedHead('POST /v1/generate') + chunks)

    const { status, body } = await answer
    expect(status).toBe(400)
    expect(JSON.parse(body).detail).toBe(
      'The HTTP request is malformed: a body in chunks must have at most 1024 at once of fewer than 64 bytes on average.',
    )
    expect((await atFault).writable).toBe(false)
    await closed
  })

  it.each(['with the head', 'after the answer'])(
    'closes the connection of a request that takes no body as well, where it comes %s',
    async (when) => {
      const { port, httpServer } = await start()
      const atFault = connectionAtFault(httpServer)
      const socket = await openSocket(port)
      const closed = untilClosed(socket)

      socket.write(chunkedHead('GET /v1/health') + (when === 'with the head' ? chunks : ''))
      if (when === 'after the answer') {
        await once(socket, 'data')
        socket.write(chunks)
      }

      expect((await atFault).writable).toBe(false)
      await closed
    },
  )
})

describe.each(SERVERS)('the bodies that $name holds', ({ key, start }) => {
  const own = MAX_HELD_BODY_BYTES / 2

  it('are at most half of the budget for one address, and given back when their clients leave', async () => {
    const { port } = await start()
    const tooMany = own / MAX_BODY_BYTES + 1
    const sockets = await Promise.all(Array.from({ length: tooMany }, () => openSocket(port)))
    const answers = sockets.map(readAnswer)
    for (const answer of answers) answer.catch(() => {})

    // None of them comes to its end.
    for (const socket of sockets) {
      socket.write(head('POST /v1/generate', { secret: key, bytes: MAX_BODY_BYTES }))
      socket.write('x'.repeat(MAX_BODY_BYTES - 1))
    }

    const refused = await Promise.race(answers)
    expect(refused.status).toBe(503)
    expect(refused.headers).toMatchObject({ 'x-error-code': 'too_many_bodies', 'retry-after': '1' })
    expect(JSON.parse(refused.body).detail).toBe(
      `Too many request bodies wait to be answered: of your address at most ${own} bytes may wait; try again in 1 s.`,
    )
    const small = postBytes('/v1/generate', { prompt: 'a', max_new_tokens: 1 }, key)
    expect((await exchange(port, small)).status).toBe(200)

    for (const socket of sockets) socket.destroy()
    const large = postBytes('/v1/generate', { prompt: 'a'.repeat(7_000_000), max_new_tokens: 1 }, key)
    await until('it is given back', async () => (await exchange(port, large)).status === 200, 20_000)
  })
})

describe('a large body', () => {
  it('is parsed over many turns of the event loop, which other work gets in between', async () => {
    const port = await createTestApp().listen()
    const body = { prompt: 'a', max_new_tokens: 1, x: '\n'.repeat(4_000_000) }
    const answer = exchange(port, postBytes('/v1/generate', body, KEY))
    let turns = 0
    const counting = new AbortController()
    const count = async () => {
      for (; !counting.signal.aborted; turns++) await ownTurn()
    }

    const counted = count()
    await answer
    counting.abort()
    await counted

    expect((await answer).status).toBe(200)
    expect(turns).toBeGreaterThan(50)
  })
})
