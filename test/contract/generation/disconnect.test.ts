/** A client that leaves: its work stops at once, wherever it stands, and nothing of it stays behind. */
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import { createCounter, createObservedEngine, queueForever } from '../../support/engines/observed-engine.ts'
import { openSocket, postBytes } from '../../support/net/raw-http.ts'
import {
  hang,
  sayOk,
  type Script,
  ScriptedEngine,
  sequenceStart,
  textDelta,
  untilAborted,
} from '../../support/engines/scripted-engine.ts'
import { createRegistry, createTestApp, KEY } from '../../support/servers/test-app.ts'

const refuse: Script = async function* () {
  yield* []
  throw new ServiceError('queue_full')
}

const breakOff: Script = async function* () {
  yield sequenceStart()
  throw new ServiceError('engine_failed')
}

const MESSAGES = { messages: [{ role: 'user', content: 'a' }] }

const REQUESTS = [
  ['/v1/generate', { prompt: 'a' }, 1],
  ['/v1/generate/stream', { prompt: 'a' }, 1],
  ['/v1/generate/batch', { prompts: ['a', 'b'] }, 1],
  ['/v1/generate/continuous-batch', { prompts: ['a', 'b', 'c'] }, 3],
  ['/v1/chat/completions', MESSAGES, 1],
  ['/v1/chat/completions', { ...MESSAGES, stream: true }, 1],
  ['/v1/responses', { input: 'a' }, 1],
  ['/v1/responses', { input: 'a', stream: true }, 1],
  ['/v1/completions', { prompt: 'hello' }, 1],
  ['/v1/completions', { prompt: 'hello', stream: true }, 1],
  ['/v1/messages', { ...MESSAGES, max_tokens: 16 }, 1],
  ['/v1/messages', { ...MESSAGES, max_tokens: 16, stream: true }, 1],
] as const

describe.each([
  ['running', hang],
  ['queued', queueForever],
])('a client that leaves while its request is %s', (_, script) => {
  it.each(REQUESTS)('aborts %s %j', async (url, body, engineRequests) => {
    const { engine, started, aborted } = createObservedEngine(script)
    const { listen, logLines } = createTestApp({ engine })
    const socket = await openSocket(await listen())

    socket.write(postBytes(url, body, KEY))
    await started.reaches(engineRequests)
    socket.destroy()
    await aborted.reaches(engineRequests)

    // One line in the log when all is over, none of them an error.
    await expect
      .poll(() => logLines)
      .toEqual([expect.objectContaining({ msg: 'request', route: url, status: 499 })])
  })
})

describe('a client that leaves', () => {
  it('has the tokens in its line of the log that its engine counts when it ends', async () => {
    const { engine, started } = createObservedEngine(async function* (_, signal) {
      await untilAborted(signal).catch(() => {})
      yield sequenceStart(0, 9)
      signal.throwIfAborted()
    })
    const { listen, logLines, usage } = createTestApp({ engine })
    const socket = await openSocket(await listen())
    socket.write(postBytes('/v1/generate', { prompt: 'a' }, KEY))
    await started.reaches(1)
    socket.destroy()

    await expect.poll(() => logLines).toMatchObject([{ status: 499, promptTokens: 9, completionTokens: 0 }])
    expect(usage).toMatchObject([{ status: 499, tokensIn: 9 }])
  })

  it('aborts a request that waited behind another on its connection', async () => {
    const { engine, started, aborted } = createObservedEngine(hang)
    const socket = await openSocket(await createTestApp({ engine }).listen())

    const bytes = postBytes('/v1/generate', { prompt: 'a' }, KEY)
    socket.write(bytes + bytes)
    await started.reaches(2)
    socket.destroy()

    await aborted.reaches(2)
  })

  it('lets go of a stream that waited behind another answer with more than the socket takes', async () => {
    const ended = createCounter()
    const { engine, started } = createObservedEngine(async function* (request, signal) {
      try {
        if (request.options.maxNewTokens === 1) yield* hang(request, signal)
        yield sequenceStart()
        // Far beyond what a response buffers before it asks its writer to wait.
        for (let i = 0; i < 100; i++) yield textDelta('x'.repeat(10_000), [i])
        await untilAborted(signal)
      } finally {
        ended.add()
      }
    })
    const { listen, logLines } = createTestApp({ engine })
    const socket = await openSocket(await listen())
    const hanging = postBytes('/v1/generate', { prompt: 'a', max_new_tokens: 1 }, KEY)
    socket.write(hanging + postBytes('/v1/generate/stream', { prompt: 'b', max_new_tokens: 200 }, KEY))
    await started.reaches(2)
    socket.destroy()

    await ended.reaches(2)
    expect(logLines.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('with its tokens counted, streamed or not', async () => {
    const { engine, started } = createObservedEngine(hang)
    const { listen, logLines } = createTestApp({ engine })
    const socket = await openSocket(await listen())

    socket.write(postBytes('/v1/generate/stream', { prompt: 'a' }, KEY))
    await started.reaches(1)
    await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()

    await expect.poll(() => logLines).toHaveLength(1)
    expect(logLines[0]).toMatchObject({
      status: 499,
      promptTokens: 2,
      completionTokens: 1,
      finishReason: null,
    })
  })
})

describe('the model of a request', () => {
  const PLAIN = '/v1/generate'
  const STREAMED = '/v1/generate/stream'

  async function serveModel(script: Script) {
    const { engine, started } = createObservedEngine(script)
    const registry = createRegistry({ openEngine: async () => engine })
    await registry.register('m', { checkpoint: 'x' })
    const unload = () =>
      registry.unload('m').then(
        () => 'unloaded',
        ({ code }: ServiceError) => code,
      )
    return { ...createTestApp({ registry }), started, unload }
  }

  it.each([PLAIN, STREAMED])('is let go of when the client of %s leaves, and not before', async (url) => {
    const { listen, started, unload } = await serveModel(hang)
    const socket = await openSocket(await listen())
    socket.write(postBytes(url, { prompt: 'a' }, KEY))
    await started.reaches(1)
    expect(await unload()).toBe('model_in_use')

    socket.destroy()

    await expect.poll(unload).toBe('unloaded')
  })

  it.each([
    ['an answer', PLAIN, sayOk],
    ['a stream', STREAMED, sayOk],
    ['a refusal', PLAIN, refuse],
    ['a stream that breaks off', STREAMED, breakOff],
  ])('is let go of with the end of %s', async (_, url, script) => {
    const { post, started, unload } = await serveModel(script)

    await post(url, { prompt: 'a' })

    expect(started.count).toBe(1)
    await expect.poll(unload).toBe('unloaded')
  })
})

describe('a client that stays', () => {
  it('does not have its finished request aborted', async () => {
    const signals: AbortSignal[] = []
    const engine = new ScriptedEngine(async function* (_, signal) {
      signals.push(signal)
      yield { type: 'sequence-end', index: 0, finishReason: 'stop', error: null }
    })
    const port = await createTestApp({ engine }).listen()

    const answer = await fetch(`http://127.0.0.1:${port}/v1/generate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: '{"prompt":"a"}',
    })

    expect(answer.status).toBe(200)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  })

  it('may end its side of the connection and still gets no half an answer', async () => {
    const port = await createTestApp().listen()
    const socket = await openSocket(port)
    let received = ''
    socket.on('data', (chunk) => void (received += chunk.toString()))

    socket.write(
      postBytes('/v1/generate/stream', { prompt: 'abc' }, KEY).replace(
        'host: x',
        'host: x\r\nconnection: close',
      ),
    )
    await new Promise((resolve) => socket.once('close', resolve))

    expect(received).toContain('data: [DONE]')
  })
})

describe('a client that reads slowly', () => {
  it('gets everything, in order', async () => {
    const prompt = 'abcdefgh'.repeat(20_000)
    const { listen, post } = createTestApp()
    const socket = await openSocket(await listen())
    const chunks: Buffer[] = []

    socket.pause()
    socket.write(
      postBytes('/v1/generate/stream', { prompt, max_new_tokens: 4096 }, KEY).replace(
        'host: x',
        'host: x\r\nconnection: close',
      ),
    )
    await post('/v1/generate', { prompt: 'meanwhile' })
    socket.on('data', (chunk) => void chunks.push(chunk))
    socket.resume()
    await new Promise((resolve) => socket.once('close', resolve))

    const contents = Buffer.concat(chunks)
      .toString()
      .matchAll(/"content":"(\w*)"/g)
    expect([...contents].map(([, content]) => content).join('')).toBe(prompt.slice(0, 4096))
  })
})
