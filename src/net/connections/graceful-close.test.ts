/** What clients that keep their connection meet while a server ends. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, it } from 'vitest'
import { openSocket, readAnswer, untilClosed } from '../../../test/support/net/raw-http.ts'
import { whenUnused } from '../../../test/support/shared.ts'
import { GracefulClose } from './graceful-close.ts'

const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'

/** A server whose requests are answered by the test. */
async function setUp() {
  // Longer than the test: what ends a connection is the server's end.
  const server = createServer({ keepAliveTimeout: 60_000 })
  const graceful = new GracefulClose(server)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  whenUnused(() => graceful.close())
  const { port } = server.address() as AddressInfo
  const arrived = (count = 1): Promise<readonly ServerResponse[]> =>
    new Promise((resolve) => {
      const responses: ServerResponse[] = []
      server.on('request', (_request, response) => {
        responses.push(response)
        if (responses.length === count) resolve(responses)
      })
    })
  /** Sends requests in one packet; gives their responses when the server has all of them. */
  const send = async (socket: Socket, count = 1): Promise<readonly ServerResponse[]> => {
    const all = arrived(count)
    socket.write(REQUEST.repeat(count))
    return await all
  }
  const accept = async (): Promise<Socket> => {
    const isAccepted = new Promise((resolve) => void server.once('connection', resolve))
    const socket = await openSocket(port)
    await isAccepted
    return socket
  }
  return { graceful, send, accept }
}

function readToEnd(socket: Socket): Promise<string> {
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
  })
  return new Promise((resolve) => socket.once('close', () => resolve(received)))
}

it('answers a running request as the last of its connection', async () => {
  const { graceful, send, accept } = await setUp()
  const socket = await accept()
  const [response] = await send(socket)
  const answer = readAnswer(socket)
  const closed = untilClosed(socket)

  const drained = graceful.drain(60_000)
  response?.end('done')

  expect(await answer).toMatchObject({ headers: { connection: 'close' }, body: 'done' })
  await closed
  expect(await drained).toBe(true)
})

it('ends the connection of a stream that had begun at the end of the stream', async () => {
  const { graceful, send, accept } = await setUp()
  const [socket, other] = [await accept(), await accept()]
  const [response] = await send(socket)
  await send(other)
  const received = readToEnd(socket)
  response?.write('one ')

  void graceful.drain(60_000)
  response?.end('two')

  expect(await received).toMatch(/one .*two/s)
})

it('answers what comes meanwhile as the last of its connection', async () => {
  const { graceful, send, accept } = await setUp()
  const [socket, late] = [await accept(), await accept()]
  await send(socket)

  void graceful.drain(60_000)
  const answer = readAnswer(late)
  const [response] = await send(late)
  response?.end('done')

  expect(await answer).toMatchObject({ headers: { connection: 'close' }, body: 'done' })
})

it('answers all that run on one connection before it ends that', async () => {
  const { graceful, send, accept } = await setUp()
  const socket = await accept()
  const received = readToEnd(socket)
  const responses = await send(socket, 3)

  const drained = graceful.drain(60_000)
  responses.forEach((response, index) => response.end(`answer ${index}`))

  expect((await received).match(/answer \d|connection: [a-z-]+/gi)).toEqual([
    ...['Connection: keep-alive', 'answer 0', 'Connection: keep-alive', 'answer 1'],
    ...['connection: close', 'answer 2'],
  ])
  expect(await drained).toBe(true)
})
