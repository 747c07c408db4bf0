import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { onExchangeEnd, watchClient } from './client-presence.ts'

type Exchange = readonly [request: IncomingMessage, response: ServerResponse]

/** A server whose exchanges the test takes one by one, and a connection to it. */
async function connect() {
  const server = createServer()
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1').resume()
  client.on('error', () => {})
  const send = async (): Promise<Exchange> => {
    const received = once(server, 'request')
    client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    return (await received) as unknown as Exchange
  }
  return { client, send }
}

const answer = async ([, response]: Exchange): Promise<void> => {
  const closed = once(response, 'close')
  response.end('ok')
  await closed
}

describe('watchClient', () => {
  it('aborts when the client leaves before the answer, and not after it', async () => {
    const { client, send } = await connect()
    const first = await send()
    const answered = watchClient(...first)
    await answer(first)
    expect(answered.aborted).toBe(false)

    const left = watchClient(...(await send()))
    const aborted = once(left, 'abort')
    client.destroy()
    await aborted
    expect(left.reason).toMatchObject({ name: 'AbortError' })
  })

  it('has aborted already for a client that has left', async () => {
    const { client, send } = await connect()
    const [request, response] = await send()
    const closed = once(response, 'close')
    client.destroy()
    await closed
    expect(watchClient(request, response).aborted).toBe(true)
  })
})

describe('onExchangeEnd', () => {
  it('calls everyone back once, when the answer is written', async () => {
    const { send } = await connect()
    const exchange = await send()
    const calls: string[] = []
    for (const name of ['one', 'two']) onExchangeEnd(...exchange, () => void calls.push(name))
    expect(calls).toEqual([])
    await answer(exchange)
    const { socket } = exchange[0]
    const closed = once(socket, 'close')
    socket.destroy()
    await closed
    expect(calls).toEqual(['one', 'two'])
  })

  it('calls back at once what comes when it is over', async () => {
    const { send } = await connect()
    const exchange = await send()
    onExchangeEnd(...exchange, () => {})
    await answer(exchange)
    let calls = 0
    onExchangeEnd(...exchange, () => calls++)
    expect(calls).toBe(1)
  })

  it('keeps no listener on a connection that goes on', async () => {
    const { send } = await connect()
    const first = await send()
    const { socket } = first[0]
    await answer(first)
    const before = socket.listenerCount('close')
    for (let count = 0; count < 3; count++) {
      const exchange = await send()
      watchClient(...exchange)
      await answer(exchange)
    }
    expect(socket.listenerCount('close')).toBe(before)
  })
})
