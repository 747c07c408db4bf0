import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  chatEnd,
  chatEvent,
  FaultyUpstream,
  openStream,
  sayPieces,
} from '../../../test/support/upstream/faulty-upstream.ts'
import { systemClock } from '../../core/clock.ts'
import { withResolvers } from '../../core/concurrency/with-resolvers.ts'
import { SecretText } from '../../core/text/secret-text.ts'
import { SequenceFold } from '../../generation/events/sequence-fold.ts'
import type { Chat } from '../../protocol/chat.ts'
import type { EmbeddingRequest, EngineRequest } from '../../protocol/engine.ts'
import type { AnswerEvent } from '../../protocol/engine-events.ts'
import { RemoteEngine, type RemoteEngineOptions } from './remote-engine.ts'

const MINUTE_MS = 60_000
const TIMEOUTS = { connectMs: MINUTE_MS, firstByteMs: MINUTE_MS, betweenMs: MINUTE_MS }

const open = (endpoints: readonly string[], more: Partial<RemoteEngineOptions> = {}) =>
  RemoteEngine.open({
    ...{ modelId: 'm', endpoints, apiKey: null, model: null, clock: systemClock, timeouts: TIMEOUTS },
    ...more,
  })

const chat = (content = 'hi', more: Partial<EngineRequest> = {}): EngineRequest => ({
  reqId: 'r',
  prompts: [],
  chat: { messages: [{ role: 'user', content }] },
  options: {
    maxNewTokens: 16,
    sampling: { temperature: 1, topK: 0, topP: 1, repetitionPenalty: 1, seed: null },
    stopStrings: [],
  },
  place: { priorityClass: 0, priority: 0, accountId: 'a' },
  ...more,
})

async function run(
  engine: RemoteEngine,
  request: EngineRequest | EmbeddingRequest = chat(),
  signal = new AbortController().signal,
) {
  const fold = new SequenceFold()
  for await (const events of engine.generate(request, signal)) for (const event of events) fold.add(event)
  return fold.finish()
}

/** What is given to a client that leaves once it may. */
async function leave(
  engine: RemoteEngine,
  request: EngineRequest | EmbeddingRequest,
  mayLeave: (given: readonly AnswerEvent[]) => boolean,
): Promise<readonly AnswerEvent[]> {
  const client = new AbortController()
  const given: AnswerEvent[] = []
  const reading = (async () => {
    for await (const events of engine.generate(request, client.signal)) given.push(...events)
  })()
  await expect.poll(() => mayLeave(given)).toBe(true)
  client.abort()
  await expect(reading).rejects.toThrow()
  return given
}

/** What is given before an answer fails, and its error. */
async function fail(engine: RemoteEngine, request: EngineRequest | EmbeddingRequest) {
  const given: AnswerEvent[] = []
  const reading = (async () => {
    const { signal } = new AbortController()
    for await (const events of engine.generate(request, signal)) given.push(...events)
  })()
  const error: unknown = await reading.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return { given, error }
}

/** The prompt tokens of each start; false for what is none. */
const startsIn = (given: readonly AnswerEvent[]) =>
  given.map((event) => event.type === 'sequence-start' && [event.index, event.promptTokens])

const tokensIn = (given: readonly AnswerEvent[]) =>
  given.flatMap((event) => (event.type === 'text-delta' ? event.tokenIds : [])).length

const textIn = (given: readonly AnswerEvent[]) =>
  given.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')

/** Asks both an upstream and one that answers. */
async function expectAnswersOfAnother(bad: FaultyUpstream): Promise<void> {
  await using good = await FaultyUpstream.start(sayPieces('ok'))
  const engine = await open([bad.url, good.url])

  // Which endpoint a conversation asks first depends on their ports.
  let conversations = 0
  while (conversations < 8 || bad.calls.length === 0)
    expect((await run(engine, chat(`number ${conversations++}`))).text).toBe('ok')

  expect(good.calls).toHaveLength(conversations)
  await engine.close()
}

/** Gives what ends the last wait for an upstream as if its minute were over. Other timers run on: undici's serve all tests of the process. */
function holdSilence(): () => void {
  const start = globalThis.setTimeout
  let onSilence = (): void => {}
  const hold = (callback: () => void, ms?: number, ...given: []) => {
    if (ms === MINUTE_MS) onSilence = callback
    return start(callback, ms, ...given)
  }
  const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation(hold)
  onTestFinished(() => timers.mockRestore())
  return () => onSilence()
}

describe('a remote engine', () => {
  it('sends a chat as it is, and gives its answer with the tokens that the upstream tells', async () => {
    await using upstream = await FaultyUpstream.start(sayPieces('a', 'b'))
    const engine = await open([upstream.url], { apiKey: new SecretText('upstream-key') })
    const tools = [{ name: 'f', description: null, parameters: { type: 'object' }, strict: false }]
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const asked = { chat: { messages: [{ role: 'user' as const, content: 'hi' }], tools }, traceparent }
    const request = chat('hi', asked)

    expect(await run(engine, request)).toMatchObject({ text: 'ab', promptTokens: 7, finishReason: 'stop' })
    expect((await run(engine)).tokenIds).toHaveLength(5)

    expect(upstream.calls[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer upstream-key', traceparent },
      body: {
        model: 'up',
        messages: [{ role: 'user', content: 'hi' }],
        max_tokens: 16,
        tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      },
    })
    expect(engine.info()).toMatchObject({ engine: 'openai', maxSeqLen: 512, takesChats: true })
    await engine.close()
  })

  it('tells at the end how much of the prompt its upstream found in a cache', async () => {
    await using upstream = await FaultyUpstream.start((response) => {
      const usage = { prompt_tokens: 7, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 4 } }
      openStream(response)
      response.end(chatEvent({ content: 'a' }) + chatEnd(usage))
    })
    const engine = await open([upstream.url])
    const all: AnswerEvent[] = []
    for await (const events of engine.generate(chat(), new AbortController().signal)) all.push(...events)

    expect(all.at(-1)).toMatchObject({ type: 'sequence-end', cachedTokensCorrection: 4 })
    await engine.close()
  })

  it('counts a piece as a token where the upstream tells none', async () => {
    await using upstream = await FaultyUpstream.start((response) => {
      openStream(response)
      response.end(chatEvent({ content: 'a' }) + chatEvent({ content: 'b' }) + chatEnd(null))
    })
    const engine = await open([upstream.url])

    const { tokenIds, promptTokens } = await run(engine)

    expect(tokenIds).toHaveLength(2)
    expect(promptTokens).toBe(1)
    await engine.close()
  })

  it('counts tools, calls, thoughts and images of a prompt that an upstream has not counted', async () => {
    await using upstream = await FaultyUpstream.start((response) => {
      openStream(response)
      response.end(chatEvent({ content: 'a' }) + chatEnd(null))
    })
    const engine = await open([upstream.url])
    const text = 'x'.repeat(4000)
    const media = { kind: 'media', part: { type: 'image_url' }, name: 'an image', place: '[0]' } as const
    const counted = async (given: Partial<Chat>) => {
      const messages = [{ role: 'user' as const, content: '?' }]
      const { promptTokens } = await run(engine, { ...chat(), chat: { messages, ...given } })
      return Math.round(promptTokens / 1000)
    }
    const message = { role: 'assistant' as const, content: '' }
    const tool = { name: 'f', description: text, parameters: {}, strict: false }
    expect(await counted({ tools: [tool] })).toBe(1)
    expect(await counted({ templateArguments: { documents: [text] } })).toBe(1)
    expect(await counted({ messages: [{ ...message, reasoning: text }] })).toBe(1)
    const call = { id: 'c', name: 'f', arguments: text }
    expect(await counted({ messages: [{ ...message, toolCalls: [call] }] })).toBe(1)
    expect(await counted({ messages: [{ role: 'user', content: '', parts: [media, media] }] })).toBe(2)
    await engine.close()
  })

  it('reads reasoning and calls', async () => {
    await using upstream = await FaultyUpstream.start((response) => {
      openStream(response)
      const call = (more: object) => chatEvent({ tool_calls: [{ index: 0, ...more }] })
      response.write(
        chatEvent({ reasoning: 'so' }) + call({ id: 'c1', function: { name: 'f', arguments: '' } }),
      )
      response.end(call({ function: { arguments: '{}' } }) + chatEnd())
    })
    const engine = await open([upstream.url])

    expect(await run(engine)).toMatchObject({
      reasoning: 'so',
      toolCalls: [{ id: 'c1', name: 'f', arguments: '{}' }],
    })
    await engine.close()
  })

  it('tells calls of one index apart by their ids, whole or in pieces', async () => {
    await using upstream = await FaultyUpstream.start((response) => {
      openStream(response)
      const call = (id: string, more: object) => ({ index: 0, id, function: more })
      const whole = (id: string, name: string) => call(id, { name, arguments: `{"of":"${id}"}` })
      response.write(chatEvent({ tool_calls: [whole('c1', 'f')] }))
      response.write(chatEvent({ tool_calls: [whole('c2', 'g'), call('c3', { name: 'f', arguments: '{' })] }))
      response.write(chatEvent({ tool_calls: [{ index: 0, function: { arguments: '"a":' } }] }))
      response.end(chatEvent({ tool_calls: [call('c3', { arguments: '1}' })] }) + chatEnd())
    })
    const engine = await open([upstream.url])

    expect((await run(engine)).toolCalls).toEqual([
      { id: 'c1', name: 'f', arguments: '{"of":"c1"}' },
      { id: 'c2', name: 'g', arguments: '{"of":"c2"}' },
      { id: 'c3', name: 'f', arguments: '{"a":1}' },
    ])
    await engine.close()
  })

  it('joins a character that comes in two halves', async () => {
    await using upstream = await FaultyUpstream.start(async (response) => {
      openStream(response)
      const bytes = Buffer.from(chatEvent({ content: 'é€😀' }))
      for (const byte of bytes) {
        response.write(Buffer.of(byte))
        await sleep(1)
      }
      response.end(chatEnd())
    })
    const engine = await open([upstream.url])

    expect((await run(engine)).text).toBe('é€😀')
    await engine.close()
  })

  it.each([
    ['dies in the middle', (response) => response.destroy()],
    ['ends without an end of the text', (response) => response.end()],
    ['ends in half a character', (response) => response.end(Buffer.of(0x64, 0x61, 0xe2, 0x82))],
    ['sends what is no UTF-8', (response) => response.end(Buffer.of(0x64, 0xff, 0xff))],
    ['sends what is no JSON', (response) => response.end('data: {"choices\n\n')],
    ['sends an error', (response) => response.end('data: {"error":{"message":"out of memory"}}\n\n')],
  ] satisfies [string, (response: ServerResponse) => unknown][])(
    'fails an answer whose upstream %s',
    async (_, fail) => {
      await using upstream = await FaultyUpstream.start(async (response) => {
        openStream(response)
        response.write(chatEvent({ content: 'a' }))
        await sleep(20)
        fail(response)
      })
      const engine = await open([upstream.url])

      await expect(run(engine)).rejects.toMatchObject({ code: 'engine_failed' })

      expect(upstream.calls).toHaveLength(1)
      await engine.close()
    },
  )

  it('fails an answer whose upstream is silent for too long', async () => {
    await using upstream = await FaultyUpstream.start((response) => {
      openStream(response)
      response.write(chatEvent({ content: 'a' }))
    })
    const engine = await open([upstream.url], { timeouts: { ...TIMEOUTS, betweenMs: 20 } })

    await expect(run(engine)).rejects.toMatchObject({ code: 'engine_failed' })

    expect(upstream.calls).toHaveLength(1)
    await engine.close()
  })

  it('fails an answer that is shorter than it says', async () => {
    await using upstream = await FaultyUpstream.start((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': 10_000 })
      response.write(chatEvent({ content: 'a' }))
      setTimeout(() => response.socket?.end(), 20)
    })
    const engine = await open([upstream.url])

    await expect(run(engine)).rejects.toMatchObject({ code: 'engine_failed' })
    await engine.close()
  })

  it.each([
    ['dies', (response) => response.destroy()],
    ['fails', (response) => response.writeHead(500).end('{}')],
    ['is full', (response) => response.writeHead(429).end('{}')],
    [
      'opens an answer and dies',
      (response) => (openStream(response), response.flushHeaders(), response.destroy()),
    ],
  ] satisfies [string, (response: ServerResponse) => unknown][])(
    'tries another endpoint where one %s before the first byte',
    async (_, fail) => {
      await using bad = await FaultyUpstream.start((response) => void fail(response))
      await expectAnswersOfAnother(bad)
    },
  )

  it('tries another endpoint where one does not answer in time', async () => {
    const endSilence = holdSilence()
    await using silent = await FaultyUpstream.start(() => endSilence())
    await expectAnswersOfAnother(silent)
  })

  it('passes on that the upstream is full, and when to come back', async () => {
    await using upstream = await FaultyUpstream.start((response) => {
      response.writeHead(429, { 'retry-after': '17' }).end('{"error":{"message":"slow down"}}')
    })
    const engine = await open([upstream.url])

    await expect(run(engine)).rejects.toMatchObject({ code: 'upstream_busy', retryAfterSeconds: 17 })
    await engine.close()
  })

  it.each([
    [400, '{"error":{"message":"no tools"}}', 'upstream_refused', 'no tools'],
    [401, '{"error":{"message":"key sk-1"}}', 'engine_unavailable', "does not take this server's key"],
    [503, '<html>', 'engine_unavailable', 'status 503'],
  ])('passes on a refusal with %d', async (...[status, body, code, words]) => {
    await using upstream = await FaultyUpstream.start((response) => void response.writeHead(status).end(body))
    const engine = await open([upstream.url])

    await expect(run(engine)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words) as string,
    })
    await engine.close()
  })

  it('reads no more of a refusal than it may pass on', async () => {
    let written = 0
    await using upstream = await FaultyUpstream.start(async (response, { closed }) => {
      response.writeHead(400)
      const piece = Buffer.alloc(65_536, 'x')
      while (!response.destroyed && written < 1000) {
        written++
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed])
      }
      response.end()
    })
    const engine = await open([upstream.url])

    await expect(run(engine)).rejects.toMatchObject({ code: 'upstream_refused' })

    await upstream.calls[0]?.closed
    expect(written).toBeLessThan(400)
    await engine.close()
  })

  it('asks for as many tokens as the context leaves where it has no room for those asked for', async () => {
    await using upstream = await FaultyUpstream.start((response, call) => {
      if (call.body['max_tokens'] === undefined) return sayPieces('ok')(response, call)
      response.writeHead(400).end('{"error":{"message":"max_tokens=16 cannot be greater than 8"}}')
    })
    const engine = await open([upstream.url])

    expect((await run(engine)).text).toBe('ok')
    await engine.close()
  })

  it('ends an answer at the limit that it could not tell its upstream, which is left then', async () => {
    await using upstream = await FaultyUpstream.start((response, { body }) => {
      const refusal = "This model's maximum context length is 8 tokens. max_tokens is too large: 2"
      if ('max_tokens' in body)
        return void response.writeHead(400).end(JSON.stringify({ error: { message: refusal } }))
      openStream(response)
      for (const text of ['a', 'b', 'c', 'd']) response.write(chatEvent({ content: text }))
    })
    const engine = await open([upstream.url])
    const options = { ...chat().options, maxNewTokens: 2 }

    const answer = await run(engine, chat('hi', { options }))

    expect(answer).toMatchObject({ text: 'ab', finishReason: 'length' })
    expect(answer.tokenIds).toHaveLength(2)
    await upstream.calls[1]?.closed
    await engine.close()
  })

  it('asks once where there is no limit that could be left out', async () => {
    await using upstream = await FaultyUpstream.start((response) => {
      response.writeHead(400).end('{"error":"This model\'s maximum context length is 8 tokens."}')
    })
    const engine = await open([upstream.url])
    const options = { ...chat().options, maxNewTokens: Infinity }

    await expect(run(engine, chat('hi', { options }))).rejects.toMatchObject({
      code: 'context_length_exceeded',
    })
    expect(upstream.calls).toHaveLength(1)
    await engine.close()
  })

  it('ends each of several choices at that limit, whatever else comes of them', async () => {
    await using upstream = await FaultyUpstream.start((response, { body }) => {
      if ('max_tokens' in body) return void response.writeHead(400).end('{"error":"maximum context length"}')
      openStream(response)
      const choice = (index: number, content: string) => chatEvent({ content }, { index })
      const other = (index: number) => choice(index, 'x') + choice(index, 'y') + choice(index, 'z')
      response.end(other(0) + chatEvent({}, { finish_reason: 'stop' }) + other(1) + chatEnd())
    })
    const engine = await open([upstream.url])
    const request = chat('hi', { choices: 2, options: { ...chat().options, maxNewTokens: 2 } })
    const folds = [new SequenceFold(), new SequenceFold()]
    for await (const events of engine.generate(request, new AbortController().signal))
      for (const event of events) folds[event.index]?.add(event)

    for (const fold of folds) {
      const answer = fold.finish()
      expect(answer).toMatchObject({ text: 'xy', finishReason: 'length' })
      expect(answer.tokenIds).toHaveLength(2)
    }
    await engine.close()
  })

  it.each<[string, Partial<EngineRequest>]>([
    ['a chat', {}],
    ['a prompt', { chat: undefined, prompts: [{ pieces: ['once'], addSpecial: true }] } as object],
  ])(
    'tells the limit of %s under the name that its upstream reads, at once from then on',
    async (_, more) => {
      await using upstream = await FaultyUpstream.start((response, call) => {
        if (call.path === '/v1/completions') return void response.writeHead(404).end('{}')
        if (!('max_tokens' in call.body)) return sayPieces('ok')(response, call)
        const message =
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        const error = { message, type: 'invalid_request_error', param: 'max_tokens' }
        response.writeHead(400).end(JSON.stringify({ error }))
      })
      const engine = await open([upstream.url])

      expect((await run(engine, chat('hi', more))).text).toBe('ok')
      expect((await run(engine, chat('hi', more))).text).toBe('ok')

      const chats = upstream.calls.filter(({ path }) => path === '/v1/chat/completions')
      expect(chats.map(({ body }) => [body['max_tokens'], body['max_completion_tokens']])).toEqual([
        [16, undefined],
        [undefined, 16],
        [undefined, 16],
      ])
      await engine.close()
    },
  )

  it.each([
    ['max_tokens must be at least 1, got 0'],
    ["'max_tokens' cannot be used together with 'max_completion_tokens'"],
  ])('passes on a refusal that only names the limit: %s', async (message) => {
    await using upstream = await FaultyUpstream.start((response) => {
      response.writeHead(400).end(JSON.stringify({ error: { message } }))
    })
    const engine = await open([upstream.url])

    await expect(run(engine)).rejects.toMatchObject({ code: 'upstream_refused' })
    expect(upstream.calls).toHaveLength(1)
    await engine.close()
  })

  describe('whose upstream has another model in the place of its first', () => {
    const answerOnly = async (status: number) => {
      const upstream = await FaultyUpstream.start((response, call) => {
        const { model } = call.body
        const error = { message: `The model '${String(model)}' does not exist.` }
        if (model !== upstream.model.id) return void response.writeHead(status).end(JSON.stringify({ error }))
        if (call.path !== '/v1/embeddings') return sayPieces('ok')(response, call)
        response.end(JSON.stringify({ data: [{ index: 0, embedding: [1] }] }))
      })
      return upstream
    }

    it.each([404, 400])('asks for that one when the first is refused with %d', async (status) => {
      await using upstream = await answerOnly(status)
      const engine = await open([upstream.url])
      upstream.model.id = 'next'

      expect((await run(engine)).text).toBe('ok')
      expect((await run(engine)).text).toBe('ok')

      expect(upstream.calls.map(({ body }) => body['model'])).toEqual(['up', 'next', 'next'])
      const { reqId, place } = chat()
      upstream.model.id = 'last'
      await run(engine, { reqId, place, prompts: [{ pieces: ['a'], addSpecial: true }] })
      expect(upstream.calls.at(-1)?.body['model']).toBe('last')
      await engine.close()
    })

    it('asks once for a model that it is given, or that its upstream still lists', async () => {
      await using upstream = await FaultyUpstream.start((response) => {
        response.writeHead(404).end('{"error":{"message":"The model does not exist."}}')
      })
      for (const model of [null, 'given']) {
        const engine = await open([upstream.url], { model })
        await expect(run(engine)).rejects.toMatchObject({ code: 'upstream_refused' })
        await engine.close()
      }

      expect(upstream.calls.map(({ body }) => body['model'])).toEqual(['up', 'given'])
    })

    it('reads it when its endpoint has come back', async () => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
      onTestFinished(() => void vi.useRealTimers())
      await using upstream = await answerOnly(404)
      const health: boolean[] = []
      const engine = await open([upstream.url], { onHealth: (_url, isHealthy) => health.push(isHealthy) })
      upstream.health = 503
      vi.advanceTimersByTime(5000)
      await expect.poll(() => health).toEqual([true, false])
      Object.assign(upstream, { health: 200, model: { id: 'next', max_model_len: 1024 } })

      vi.advanceTimersByTime(5000)
      await expect.poll(() => engine.info().maxSeqLen).toBe(1024)

      expect((await run(engine)).text).toBe('ok')
      expect(upstream.calls.map(({ body }) => body['model'])).toEqual(['next'])
      await engine.close()
    })
  })

  it('ends the request at the upstream when its client leaves', async () => {
    await using upstream = await FaultyUpstream.start((response) => {
      openStream(response)
      response.write(chatEvent({ content: 'a' }))
    })
    const engine = await open([upstream.url])
    const client = new AbortController()
    const events = engine.generate(chat(), client.signal)
    await events.next()

    const next = events.next()
    client.abort()

    expect(tokensIn((await next).value ?? [])).toBe(1)
    await expect(events.next()).rejects.toThrow()
    await upstream.calls[0]?.closed
    await engine.close()
  })

  describe('left before its first event', () => {
    const text = 'x'.repeat(400)
    const prompts = Array.from({ length: 5 }, () => ({ pieces: [text], addSpecial: true }))
    const { reqId, place, options } = chat(text)

    it.each<{ name: string; request: EngineRequest | EmbeddingRequest; calls: number; count: number }>([
      { name: 'a chat of two choices', request: chat(text, { choices: 2 }), calls: 1, count: 2 },
      { name: 'a batch', request: { reqId, place, options, prompts }, calls: 5, count: 5 },
      { name: 'embeddings', request: { reqId, place, prompts }, calls: 1, count: 5 },
    ])('counts the prompts of $name', async ({ request, calls, count }) => {
      await using upstream = await FaultyUpstream.start(() => {})
      const engine = await open([upstream.url])

      const given = await leave(engine, request, () => upstream.calls.length === calls)

      expect(startsIn(given)).toEqual(Array.from({ length: count }, (_one, index) => [index, 100]))
      await engine.close()
    })

    it('counts its prompt also behind a first byte that is no event', async () => {
      const responses: ServerResponse[] = []
      await using upstream = await FaultyUpstream.start((response) => {
        openStream(response)
        response.write(': wait\n\n', () => responses.push(response))
      })
      const engine = await open([upstream.url])

      const given = await leave(engine, chat(text), () => responses.length === 1)

      expect(startsIn(given)).toEqual([[0, 100]])
      await engine.close()
    })
  })

  it('counts every piece that a client was given before it left', async () => {
    await using upstream = await FaultyUpstream.start((response) => {
      openStream(response)
      for (const content of ['a', 'b', 'c']) response.write(chatEvent({ content }))
    })
    const engine = await open([upstream.url])

    const given = await leave(engine, chat(), (events) => textIn(events) === 'abc')

    expect(tokensIn(given)).toBe(3)
    await engine.close()
  })

  describe('whose answer breaks off before its first event', () => {
    const text = 'x'.repeat(400)
    const prompts = Array.from({ length: 3 }, () => ({ pieces: [text], addSpecial: true }))
    const { reqId, place, options } = chat(text)
    const breakOff = (response: ServerResponse, { path }: { readonly path: string }): void => {
      openStream(response)
      const begun = path === '/v1/embeddings' || path === '/v1/rerank' ? '{"data": [' : ': wait\n\n'
      response.write(begun, () => response.destroy())
    }

    it.each<{ name: string; request: EngineRequest | EmbeddingRequest; count: number }>([
      { name: 'a chat of two choices', request: chat(text, { choices: 2 }), count: 2 },
      { name: 'a batch', request: { reqId, place, options, prompts }, count: 3 },
      { name: 'embeddings', request: { reqId, place, prompts }, count: 3 },
    ])('counts the prompts of $name that its upstream has read', async ({ request, count }) => {
      await using upstream = await FaultyUpstream.start(breakOff)
      const engine = await open([upstream.url])

      const { given, error } = await fail(engine, request)

      expect(error).toMatchObject({ code: 'engine_failed' })
      // Those of a batch come in any order.
      const counted = Array.from({ length: count }, (_one, index) => [index, 100])
      expect(startsIn(given)).toHaveLength(count)
      expect(startsIn(given)).toEqual(expect.arrayContaining(counted))
      await engine.close()
    })

    it('fails alone in a batch of which something has begun', async () => {
      await using upstream = await FaultyUpstream.start((response, call) =>
        call.body['prompt'] === text ? breakOff(response, call) : sayPieces('ok')(response, call),
      )
      const engine = await open([upstream.url])
      const mixed = [...prompts.slice(1), { pieces: ['y'], addSpecial: true }]

      const { given, error } = await fail(engine, { reqId, place, options, prompts: mixed })

      expect(error).toBeNull()
      const ends = given.flatMap((event) =>
        event.type === 'sequence-end' ? [[event.index, event.error?.code ?? event.finishReason]] : [],
      )
      expect(Object.fromEntries(ends)).toEqual({ 0: 'engine_failed', 1: 'engine_failed', 2: 'stop' })
      await engine.close()
    })

    it('counts a vector that is missing as a prompt that was read', async () => {
      await using upstream = await FaultyUpstream.start((response) => void response.end('{"data": []}'))
      const engine = await open([upstream.url])

      const { given } = await fail(engine, { reqId, place, prompts })

      expect(startsIn(given)).toEqual([0, 1, 2].map((index) => [index, 100]))
      await engine.close()
    })

    it.each<{ name: string; toRequest: (content: string) => EngineRequest | EmbeddingRequest }>([
      { name: 'a chat', toRequest: (content) => chat(content) },
      {
        name: 'an embedding',
        toRequest: (content) => ({ reqId, place, prompts: [{ pieces: [content], addSpecial: true }] }),
      },
    ])('counts $name once that another endpoint was asked for first', async ({ toRequest }) => {
      await using dead = await FaultyUpstream.start((response) => {
        openStream(response)
        response.flushHeaders()
        response.destroy()
      })
      await using other = await FaultyUpstream.start(breakOff)
      const engine = await open([dead.url, other.url])

      // Which endpoint is asked first depends on their ports.
      for (let asked = 0; asked < 8 || dead.calls.length === 0; asked++) {
        const { given } = await fail(engine, toRequest(`${asked}`.padEnd(400, 'x')))
        expect(startsIn(given)).toEqual([[0, 100]])
      }
      await engine.close()
    })

    it('counts nothing of a request that its upstream has refused', async () => {
      await using upstream = await FaultyUpstream.start((response) => void response.writeHead(500).end('{}'))
      const engine = await open([upstream.url])

      for (const request of [chat(text), { reqId, place, prompts }])
        expect((await fail(engine, request)).given).toEqual([])
      await engine.close()
    })
  })

  it('reads no faster than its client', async () => {
    let written = 0
    await using upstream = await FaultyUpstream.start(async (response, { closed }) => {
      openStream(response)
      const piece = chatEvent({ content: 'x'.repeat(65_536) })
      while (!response.destroyed && written < 4000) {
        written++
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed])
      }
    })
    const engine = await open([upstream.url])
    const events = engine.generate(chat(), new AbortController().signal)
    await events.next()
    await sleep(300)

    expect(written).toBeLessThan(400)
    await events.return()
    await engine.close()
  })

  it('keeps a conversation on one endpoint, and leaves one that fails alone', async () => {
    await using one = await FaultyUpstream.start(sayPieces('1'))
    await using other = await FaultyUpstream.start(sayPieces('2'))
    const engine = await open([one.url, other.url])
    const texts = new Set<string>()
    for (let turn = 0; turn < 6; turn++) texts.add((await run(engine, chat('the same beginning'))).text)

    expect(texts.size).toBe(1)
    expect(engine.status()).toEqual({ state: 'ready', replicas: { all: 2, ready: 2 } })
    await engine.close()
  })

  it('refuses work while no endpoint is up', async () => {
    const engine = await open(['http://127.0.0.1:9'])

    await expect(run(engine)).rejects.toMatchObject({
      code: 'engine_unavailable',
      message: expect.stringContaining('none of its endpoints is up') as string,
    })
    expect(engine.status()).toEqual({ state: 'restarting', replicas: { all: 1, ready: 0 } })
    await engine.close()
  })

  it('takes every address of a name as an endpoint', async () => {
    await using upstream = await FaultyUpstream.start(sayPieces('ok'))
    const { port } = new URL(upstream.url)
    const resolve = (name: string) => Promise.resolve(name === 'model.internal' ? ['127.0.0.1'] : [])
    const engine = await open([`dns+http://model.internal:${port}`], { resolve })

    expect((await run(engine)).text).toBe('ok')
    expect(upstream.calls[0]?.headers.host).toBe(`model.internal:${port}`)
    await engine.close()
  })

  it('ends what an address runs that its name has no more, when it closes', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const asked = withResolvers<void>()
    await using upstream = await FaultyUpstream.start((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      asked.resolve()
    })
    const addresses = ['127.0.0.1']
    const resolve = () => Promise.resolve(addresses)
    const engine = await open([`dns+http://model.internal:${new URL(upstream.url).port}`], { resolve })

    const running = run(engine)
    running.catch(() => {})
    await asked.promise
    addresses.splice(0, 1, '127.0.0.2')
    await vi.advanceTimersByTimeAsync(10_000)
    await engine.close()
    await expect(running).rejects.toMatchObject({ code: 'shutting_down' })
  })

  it('runs prompts over completions, or as a chat where the upstream has none', async () => {
    await using upstream = await FaultyUpstream.start((response, call) => {
      if (call.path === '/v1/completions') return void response.writeHead(404).end('{}')
      return sayPieces('ok')(response, call)
    })
    const engine = await open([upstream.url])
    const request = { ...chat(), prompts: [{ pieces: ['once'], addSpecial: true }] }
    const { chat: _chat, ...prompts } = request

    expect((await run(engine, prompts)).text).toBe('ok')
    expect((await run(engine, prompts)).text).toBe('ok')
    expect(upstream.calls.map(({ path }) => path)).toEqual([
      '/v1/completions',
      '/v1/chat/completions',
      '/v1/chat/completions',
    ])
    await engine.close()
  })

  it('refuses a batch of which nothing has begun as a whole, and else its prompts alone', async () => {
    let refuses = (_prompt: unknown): boolean => true
    await using upstream = await FaultyUpstream.start((response, call) => {
      if (!refuses(call.body['prompt'])) return sayPieces('ok')(response, call)
      response.writeHead(429, { 'retry-after': '7' }).end('{}')
    })
    const engine = await open([upstream.url])
    const { reqId, place, options } = chat()
    const prompts = ['a', 'b'].map((text) => ({ pieces: [text], addSpecial: true }))
    const ends = async () => {
      const all: AnswerEvent[] = []
      const signal = new AbortController().signal
      for await (const events of engine.generate({ reqId, place, options, prompts }, signal))
        all.push(...events)
      return all.flatMap((event) =>
        event.type === 'sequence-end' ? [[event.index, event.error?.code ?? event.finishReason]] : [],
      )
    }

    await expect(ends()).rejects.toMatchObject({ code: 'upstream_busy', retryAfterSeconds: 7 })

    refuses = (prompt) => prompt === 'a'
    expect(Object.fromEntries(await ends())).toEqual({ 0: 'upstream_busy', 1: 'stop' })
    await engine.close()
  })

  it('takes vectors as numbers or as base64, and fails where one is missing', async () => {
    const floats = Buffer.from(Float32Array.of(0.5, -1).buffer).toString('base64')
    let data: readonly object[] = [
      { index: 1, embedding: floats },
      { index: 0, embedding: [1, 2] },
    ]
    await using upstream = await FaultyUpstream.start((response) => {
      response.end(JSON.stringify({ data, usage: { prompt_tokens: 9 } }))
    })
    const engine = await open([upstream.url])
    const { reqId, place } = chat()
    const prompts = ['a', 'b'].map((text) => ({ pieces: [text], addSpecial: true }))
    const embed = async () => {
      const signal = new AbortController().signal
      const all: AnswerEvent[] = []
      const request = { reqId, place, prompts, dimensions: 2 }
      for await (const events of engine.generate(request, signal)) all.push(...events)
      return all
    }

    const events = await embed()

    const vectors = events.flatMap((event) => (event.type === 'sequence-end' ? [event.vector] : []))
    expect(vectors).toEqual([Buffer.from(Float32Array.of(1, 2).buffer).toString('base64'), floats])
    expect(events[0]).toMatchObject({ promptTokens: 9 })
    expect(upstream.calls[0]).toMatchObject({
      path: '/v1/embeddings',
      body: { input: ['a', 'b'], dimensions: 2 },
    })

    data = data.slice(1)
    await expect(embed()).rejects.toMatchObject({ code: 'engine_failed' })
    await engine.close()
  })

  it.each([
    { name: 'embeddings', more: {}, each: 100 },
    { name: 'a ranking, whose query is read with each text', more: { query: 'y'.repeat(40) }, each: 110 },
  ])('counts the texts of $name where the upstream tells no tokens', async ({ more, each }) => {
    await using upstream = await FaultyUpstream.start((response, { path }) => {
      const data = [0, 1].map((index) => ({ index, embedding: [1], relevance_score: 1 }))
      response.end(JSON.stringify(path === '/v1/rerank' ? { results: data } : { data }))
    })
    const engine = await open([upstream.url])
    const { reqId, place } = chat()
    const prompts = [0, 1].map(() => ({ pieces: ['x'.repeat(400)], addSpecial: true }))
    const request = { reqId, place, prompts, ...more }

    const { given, error } = await fail(engine, request)
    const stalled = await FaultyUpstream.start(() => {})
    onTestFinished(() => stalled[Symbol.asyncDispose]())
    const waiting = await open([stalled.url])
    const left = await leave(waiting, request, () => stalled.calls.length === 1)

    expect(error).toBeNull()
    const counted = [0, 1].map((index) => [index, each])
    expect(startsIn(given.filter(({ type }) => type === 'sequence-start'))).toEqual(counted)
    expect(startsIn(left)).toEqual(counted)
    await waiting.close()
    await engine.close()
  })

  it('never shows its key', () => {
    const secret = new SecretText('upstream-key')

    expect(`${String(secret)} ${JSON.stringify({ secret })}`).not.toContain('upstream-key')
  })
})
