/** The light server's life: listening, clients that leave, closing while requests run. */
import { once } from 'node:events'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLightServer, type LightServer, type LightServerOptions } from '../../../src/light.ts'
import { createTestLightServer } from '../../support/servers/light-server.ts'
import { openSocket, readAnswer } from '../../support/net/raw-http.ts'
import { hang, ScriptedEngine } from '../../support/engines/scripted-engine.ts'

const GENERATE =
  'POST /v1/generate HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-svc-a\r\n' +
  'content-type: application/json\r\ncontent-length: 14\r\n\r\n{"prompt":"a"}'

/** An engine that hangs, with promises of its first `count` requests' beginnings and abortions. */
function createHangingEngine(count: number) {
  const begun = Array.from({ length: count }, () => new EventTarget())
  const signals: AbortSignal[] = []
  const engine = new ScriptedEngine((request, signal) => {
    begun[signals.length]?.dispatchEvent(new Event('begin'))
    signals.push(signal)
    return hang(request, signal)
  })
  return {
    engine,
    signals,
    begun: Promise.all(begun.map((target) => once(target, 'begin'))),
    aborted: () => Promise.all(signals.map(async (signal) => signal.aborted || once(signal, 'abort'))),
  }
}

it('has methods that may be taken off it', async () => {
  const { listen, route, address, close } = createTestLightServer().server
  route('GET', '/hello', () => ({ hello: 'you' }))
  const { url } = await listen()
  expect(address()?.url).toBe(url)
  const answer = await fetch(`${url}/hello`, { headers: { authorization: 'Bearer sk-svc-a' } })
  expect(await answer.json()).toEqual({ hello: 'you' })
  await close()
  expect(address()).toBeNull()
})

describe('a client that leaves', () => {
  it.each([1, 2, 20])('aborts its %i pipelined generations', async (count) => {
    const { engine, begun, aborted, signals } = createHangingEngine(count)
    const { server, failures } = createTestLightServer({ engine })
    const { port } = await server.listen()
    const socket = await openSocket(port)

    socket.write(GENERATE.repeat(count))
    await begun
    socket.destroy()
    await aborted()

    expect(signals).toHaveLength(count)
    await server.close()
    expect(failures).toEqual([])
  })

  it('aborts the signal of an embedder’s route', async () => {
    const { server } = createTestLightServer()
    const entered = new EventTarget()
    const left = new Promise((resolve) => {
      server.route('GET', '/wait', async ({ signal }) => {
        entered.dispatchEvent(new Event('enter'))
        resolve(await once(signal, 'abort'))
      })
    })
    const socket = await openSocket((await server.listen()).port)
    const hasEntered = once(entered, 'enter')

    socket.write('GET /wait HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-svc-a\r\n\r\n')
    await hasEntered
    socket.destroy()

    await left
  })
})

const SLOW = 'GET /slow HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-svc-a\r\n\r\n'

/** A route that answers when it is told to. */
function addSlowRoute(server: LightServer) {
  let finish: (value: string) => void = () => {}
  const entered = new Promise<void>((enter) => {
    server.route('GET', '/slow', () => {
      enter()
      return new Promise<string>((resolve) => void (finish = resolve))
    })
  })
  return { entered, finish: () => finish('done') }
}

describe('the life of a server', () => {
  it('has an address while it listens', async () => {
    const server = createLightServer({ port: 0 })

    expect(server.address()).toBeNull()
    const address = await server.listen()
    expect(address).toMatchObject({
      address: '127.0.0.1',
      family: 'IPv4',
      url: `http://127.0.0.1:${address.port}`,
    })
    expect(server.address()).toEqual(address)
    await server.close()
    expect(server.address()).toBeNull()
  })

  it('says why it cannot listen', async () => {
    const { server } = createTestLightServer()
    const { port } = await server.listen()
    const second = createTestLightServer({ port })

    await expect(second.server.listen()).rejects.toThrow('EADDRINUSE')
  })

  it('may try again to listen, and listens once however often it is told', async () => {
    const first = createTestLightServer()
    const { port } = await first.server.listen()
    const { server } = createTestLightServer({ port })
    await expect(server.listen()).rejects.toThrow('EADDRINUSE')

    await first.server.close()

    const [once, again] = await Promise.all([server.listen(), server.listen()])
    expect([once.port, again]).toEqual([port, once])
  })

  it('may end before it began, and does not begin again', async () => {
    const { server } = createTestLightServer()

    await server.close()

    await expect(server.listen()).rejects.toThrow('has been closed')
  })

  it('closes at once with a connection that never asked for anything', async () => {
    const { server } = createTestLightServer()
    const socket = await openSocket((await server.listen()).port)
    const hungUp = once(socket, 'close')

    await server.close()
    await hungUp
  })

  it('answers running requests before it ends', async () => {
    const { server } = createTestLightServer()
    const { entered, finish } = addSlowRoute(server)
    const { port, url } = await server.listen()
    const socket = await openSocket(port)
    socket.write(SLOW)
    await entered

    const closed = Promise.all([server.close(), server.close()])
    const answer = readAnswer(socket)
    finish()

    expect(await answer).toMatchObject({ status: 200, headers: { connection: 'close' }, body: '"done"' })
    await closed
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  })

  it('refuses a generation that comes in while it ends', async () => {
    const { server } = createTestLightServer()
    const socket = await openSocket((await server.listen()).port)
    const [head, body] = GENERATE.split('\r\n\r\n')
    socket.write(`${head}\r\nexpect: 100-continue\r\n\r\n`)
    await once(socket, 'data')

    const closed = server.close()
    const answer = readAnswer(socket)
    socket.write(body ?? '')

    expect(await answer).toMatchObject({
      status: 503,
      headers: { connection: 'close', 'retry-after': '1', 'x-error-code': 'shutting_down' },
    })
    await closed
  })

  it('ends without a request that does not', async () => {
    const { server } = createTestLightServer()
    const { entered } = addSlowRoute(server)
    const socket = await openSocket((await server.listen()).port)
    const hungUp = once(socket, 'close')
    socket.write(SLOW)
    await entered
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())

    const closed = server.close()
    await vi.advanceTimersByTimeAsync(60_000)

    await closed
    await hungUp
  })

  it.each([
    [{ worker: 2 }, "The light server has no option 'worker'."],
    [{ workers: 0 }, 'workers must be an integer between 1 and 256, but was 0.'],
    [{ maxQueue: 0.5 }, 'maxQueue must be an integer between 1 and 1000000, but was 0.5.'],
    [{ shutdownTimeout: -1 }, 'shutdownTimeout must be an integer between 0 and 3600, but was -1.'],
    [{ keyDb: '' }, "keyDb must be a text that is not empty, but was ''."],
    [{ host: null }, 'host must be a text that is not empty, but was null.'],
    [{ onError: 'log' }, 'onError must be a function.'],
    [{ modelId: 'm' }, 'modelId describes a checkpoint, but checkpoint is not given.'],
    [{ checkpoint: 5 }, 'checkpoint must be a text that is not empty, but was 5.'],
    [{ checkpoint: '' }, "checkpoint must be a text that is not empty, but was ''."],
    [{ staticDir: '/nowhere' }, "staticDir must be a folder that can be read, but '/nowhere' is none."],
    [{ port: 70_000 }, 'port must be an integer between 0 and 65535, but was 70000.'],
    [{ port: '80' }, "port must be an integer between 0 and 65535, but was '80'."],
    [{ port: [80] }, 'port must be an integer between 0 and 65535, but was [80].'],
    [[{ port: 80 }], 'The options of createLightServer must be an object, but were a list.'],
    [null, 'The options of createLightServer must be an object, but were null.'],
    [{ publicPaths: ['x'] }, "A path pattern must begin with '/', but was 'x'."],
  ])('does not begin with %j', (options, message) => {
    expect(() => createLightServer(options as LightServerOptions)).toThrow(message)
  })

  it('shows what JSON cannot hold where it refuses it', () => {
    const begin = (options: object) => () => createLightServer(options)
    expect(begin({ host: 1n })).toThrow('host must be a text that is not empty, but was 1.')
    expect(begin({ host: Symbol('h') })).toThrow('host must be a text that is not empty, but was Symbol(h).')
    expect(begin({ publicPaths: [Symbol('p')] })).toThrow(
      "A path pattern must begin with '/', but was Symbol(p).",
    )
  })
})
