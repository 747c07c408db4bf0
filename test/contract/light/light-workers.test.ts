/** The light server's worker threads as its callers see them: what one of them does is nobody else's trouble. */
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { call, createTestLightServer, LIGHT_KEY } from '../../support/servers/light-server.ts'
import { openSocket, postBytes } from '../../support/net/raw-http.ts'

const FAKE_WORKER = new URL('../../support/engines/fake-worker.mjs', import.meta.url)

const generate = (prompt: string) => ({ payload: { prompt } })

/** A server whose one thread has one seat, which a generation that never ends has taken. */
async function createBusyServer(maxQueue = 512) {
  const light = createTestLightServer({ workerEntry: FAKE_WORKER, maxQueue })
  const port = await light.listen()
  const socket = await openSocket(port)
  socket.write(postBytes('/v1/generate', { prompt: 'hang' }, LIGHT_KEY))
  // Read when this one, which came later, has been answered.
  await call(light.server, '/v1/generate', generate('read'))
  return { ...light, socket }
}

describe('a generation that takes long', () => {
  it('delays neither health nor other generations', async () => {
    const { server } = await createBusyServer()

    expect((await call(server, '/v1/health')).status).toBe(200)
    expect((await call(server, '/v1/generate', generate('other'))).json.generated_text).toBe('other')
  })

  it('of 8 MiB is one of them', async () => {
    const { server } = createTestLightServer()
    const prompt = 'x'.repeat(8_000_000)
    await server.listen()

    const long = call(server, '/v1/generate', { payload: { prompt, max_new_tokens: 3 } })
    const health = await Promise.all(Array.from({ length: 20 }, () => call(server, '/v1/health')))

    expect(health.map(({ status }) => status)).toEqual(health.map(() => 200))
    expect((await long).json).toMatchObject({ generated_text: 'xxx', prompt_tokens: 8_000_000 })
  })

  it('stops when its client leaves', async () => {
    const { server, socket, failures } = await createBusyServer()
    const closed = once(socket, 'close')

    socket.destroy()
    await closed

    // Closing waits for open requests.
    await server.close()
    expect(failures).toEqual([])
  })
})

describe('a thread that ends', () => {
  it.each([
    ['throw', 'thrown in the thread'],
    ['exit', 'A worker thread of the light server ended with exit code 3.'],
  ])('by %s is a 500 for its own callers, is reported, and is replaced', async (deed, message) => {
    const { server, failures } = createTestLightServer({ workerEntry: FAKE_WORKER })

    const answer = await call(server, '/v1/generate', generate(deed))

    expect(answer.status).toBe(500)
    expect(answer.headers['x-error-code']).toBe('engine_failed')
    const id = answer.headers['x-request-id']
    expect(answer.json).toEqual({
      detail: `The engine stopped while it worked on this request. Try again. Request id: ${id}`,
    })
    expect(failures[0]).toEqual([expect.objectContaining({ message }), null])
    expect((await call(server, '/v1/generate', generate('after'))).json.generated_text).toBe('after')
  })
})

it('without the program of its threads, as in a bundle, does not start and says why', async () => {
  const workerEntry = new URL('missing.mjs', import.meta.url)
  const { server } = createTestLightServer({ workerEntry })

  await expect(server.listen()).rejects.toMatchObject({
    name: 'StartError',
    message:
      `A program of Sluice is missing, ${fileURLToPath(workerEntry)}: an application that is bundled must leave ` +
      `the package 'sluice' out of its bundle (as external).`,
  })
})

describe('a full queue', () => {
  it('is 429 with a time to come back', async () => {
    const { server } = createTestLightServer({ workerEntry: FAKE_WORKER, maxQueue: 1 })
    const { port } = await server.listen()
    // Every seat of the thread, and the one place of the queue; no connection may ask for so much at once.
    const sockets = await Promise.all(Array.from({ length: 5 }, () => openSocket(port)))
    for (const socket of sockets) {
      socket.write(postBytes('/v1/generate', { prompt: 'hang' }, LIGHT_KEY).repeat(13))
    }

    const answer = await answerOnceFull(server)

    expect(answer.json.detail).toBe(
      'The queue is full: at most 1 sequences may wait, 1 do, and this request brings 1. Try again later.',
    )
    expect(answer.headers).toMatchObject({ 'retry-after': '1', 'x-error-code': 'queue_full' })
    expect((await call(server, '/v1/health')).status).toBe(200)
    for (const socket of sockets) socket.destroy()
  })
})

/** Pipelined requests come in one after another: asks until they are all there. */
async function answerOnceFull(server: Parameters<typeof call>[0]) {
  for (;;) {
    const answer = await call(server, '/v1/generate', generate('one more'))
    if (answer.status === 429) return answer
  }
}
