/** The two streams: their frames, that they say what the plain answer says, and how they end. */
import { getDefaultHighWaterMark } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { StartSilenceTimer } from '../../../src/api/silence-timer.ts'
import { chatChunk } from '../../../src/api/dialects/openai-chat/schema.ts'
import { streamChunk } from '../../../src/api/dialects/generate/schema.ts'
import { ServiceError } from '../../../src/core/errors.ts'
import type { EngineEvent } from '../../../src/protocol/engine-events.ts'
import {
  ScriptedEngine,
  sayOk,
  sequenceEnd,
  sequenceStart,
  textDelta,
} from '../../support/engines/scripted-engine.ts'
import { eventData } from '../../support/net/event-data.ts'
import { createTestApp, KEY, type TestAppOptions } from '../../support/servers/test-app.ts'

const PROMPT = 'Grüße, 世界 😀!'
const MESSAGES = { messages: [{ role: 'user', content: PROMPT }] }

async function stream(url: string, payload: object, options: TestAppOptions = {}) {
  const answer = await createTestApp(options).post(url, payload)
  const data = eventData(answer.body)
  const chunks = data.slice(0, -1).map((one) => JSON.parse(one))
  return { answer, last: data.at(-1), chunks, doneCount: data.filter((one) => one === '[DONE]').length }
}

describe('POST /v1/generate/stream', () => {
  it('sends chunks with text, finish reason and usage so far, and ends with [DONE]', async () => {
    const { answer, chunks, last } = await stream('/v1/generate/stream', { prompt: 'ab' })

    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    })
    const usage = (completion: number) => ({
      prompt_tokens: 2,
      completion_tokens: completion,
      total_tokens: 2 + completion,
    })
    expect(chunks).toEqual([
      { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }], usage: usage(1) },
      { choices: [{ index: 0, delta: { content: 'b' }, finish_reason: null }], usage: usage(2) },
      { choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop' }], usage: usage(2) },
    ])
    expect(last).toBe('[DONE]')
  })

  it.each([
    { prompt: PROMPT },
    { prompt: PROMPT, max_new_tokens: 9 },
    { prompt: PROMPT, stop_strings: ['世'] },
    { prompt: '' },
    { prompt: 'a"\\\n\u2028\0' },
  ])('says what the plain answer says: %j', async (body) => {
    const plain = (await createTestApp().post('/v1/generate', body)).json()

    const { chunks, doneCount } = await stream('/v1/generate/stream', body)

    expect(chunks.map((chunk) => chunk.choices[0].delta.content).join('')).toBe(plain.generated_text)
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: plain.finish_reason }],
      usage: { prompt_tokens: plain.prompt_tokens, completion_tokens: plain.completion_tokens },
    })
    expect(chunks.filter((chunk) => chunk.choices[0].finish_reason !== null)).toHaveLength(1)
    expect(doneCount).toBe(1)
    for (const chunk of chunks) expect(streamChunk.parse(chunk)).toEqual(chunk)
  })
})

describe('POST /v1/chat/completions with stream', () => {
  it('sends role, content, finish reason, and no usage unless asked', async () => {
    const { chunks, last } = await stream('/v1/chat/completions', {
      messages: [{ role: 'user', content: 'ab' }],
      stream: true,
    })

    expect(last).toBe('[DONE]')
    expect(chunks.map((chunk) => chunk.choices[0])).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
      { index: 0, delta: { content: 'a' }, finish_reason: null },
      { index: 0, delta: { content: 'b' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'stop' },
    ])
    const [{ id }] = chunks
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({
        id,
        object: 'chat.completion.chunk',
        created: 1_700_000_000,
        model: 'default',
      })
      expect(chunk).not.toHaveProperty('usage')
      expect(chatChunk.parse(chunk)).toEqual(chunk)
    }
  })

  it('sends usage in a chunk of its own when asked', async () => {
    const { chunks } = await stream('/v1/chat/completions', {
      ...MESSAGES,
      stream: true,
      stream_options: { include_usage: true },
    })

    const bytes = Buffer.byteLength(PROMPT)
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: bytes, completion_tokens: bytes, total_tokens: 2 * bytes },
    })
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
    for (const chunk of chunks) expect(chatChunk.parse(chunk)).toEqual(chunk)
  })

  it('sends the usage so far in every chunk when asked', async () => {
    const options = { include_usage: true, continuous_usage_stats: true }
    const { chunks } = await stream('/v1/chat/completions', {
      ...MESSAGES,
      stream: true,
      stream_options: options,
    })

    const counts = chunks.map(({ usage }) => usage.completion_tokens)
    const bytes = Buffer.byteLength(PROMPT)
    expect([counts[0], counts.at(-1)]).toEqual([0, bytes])
    expect(counts).toEqual(counts.toSorted((one, other) => one - other))
    for (const chunk of chunks) {
      expect(chunk.usage).toMatchObject({ prompt_tokens: bytes, prompt_tokens_details: { cached_tokens: 0 } })
      expect(chatChunk.parse(chunk)).toEqual(chunk)
    }
  })

  it.each([{}, { max_tokens: 9 }, { stop: '世' }])('says what the plain answer says: %j', async (fields) => {
    const plain = (await createTestApp().post('/v1/chat/completions', { ...MESSAGES, ...fields })).json()

    const { chunks } = await stream('/v1/chat/completions', { ...MESSAGES, ...fields, stream: true })

    const text = chunks.map((chunk) => chunk.choices[0].delta.content ?? '').join('')
    expect(text).toBe(plain.choices[0].message.content)
    expect(chunks.at(-1).choices[0].finish_reason).toBe(plain.choices[0].finish_reason)
  })
})

describe('an error after the head', () => {
  const failAfterText = (end: () => EngineEvent) =>
    new ScriptedEngine(async function* () {
      yield sequenceStart()
      yield textDelta('a', [1])
      yield end()
    })
  const engines = [
    failAfterText(() => {
      throw new ServiceError('engine_failed')
    }),
    failAfterText(() => ({
      type: 'sequence-end',
      index: 0,
      finishReason: 'error',
      error: { code: 'engine_failed', params: {} },
    })),
  ]

  it.each([
    ['/v1/generate/stream', { prompt: 'a' }, engines[0]],
    ['/v1/generate/stream', { prompt: 'a' }, engines[1]],
    ['/v1/chat/completions', { ...MESSAGES, stream: true }, engines[0]],
    ['/v1/chat/completions', { ...MESSAGES, stream: true }, engines[1]],
  ])('%s is one event and then [DONE]', async (url, body, engine) => {
    const { answer, chunks, doneCount, last } = await stream(
      url,
      body,
      engine === undefined ? {} : { engine },
    )

    expect(answer.statusCode).toBe(200)
    const id = String(answer.headers['x-request-id'])
    const detail = `The engine stopped while it worked on this request. Try again. Request id: ${id}`
    expect(chunks.at(-1)).toEqual({
      error: { message: detail, type: 'server_error', param: null, code: 'engine_failed' },
      detail,
    })
    expect(last).toBe('[DONE]')
    expect(doneCount).toBe(1)
  })

  it('hides what nobody was meant to see', async () => {
    const engine = failAfterText(() => {
      throw new Error('secret')
    })

    const { answer, chunks } = await stream('/v1/generate/stream', { prompt: 'a' }, { engine })

    expect(answer.body).not.toContain('secret')
    expect(chunks.at(-1).error.code).toBe('internal_error')
  })
})

describe('a silence', () => {
  /** Runs out whenever the test says so. */
  function createManualTimer() {
    const timers: { onSilence: () => void; silenceMs: number; refreshes: number; isStopped: boolean }[] = []
    const startSilenceTimer: StartSilenceTimer = (onSilence, silenceMs) => {
      const timer = { onSilence, silenceMs, refreshes: 0, isStopped: false }
      timers.push(timer)
      return { refresh: () => void timer.refreshes++, stop: () => void (timer.isStopped = true) }
    }
    return { timers, startSilenceTimer }
  }

  it('of 15 s is a comment, which opens the answer when it still waits in the queue', async () => {
    const { timers, startSilenceTimer } = createManualTimer()
    const engine = new ScriptedEngine(async function* (request) {
      await Promise.resolve()
      timers[0]?.onSilence()
      yield* sayOk(request)
    })

    const answer = await createTestApp({ engine, startSilenceTimer }).post('/v1/generate/stream', {
      prompt: 'a',
    })

    expect(answer.body).toMatch(/^: ping\n\ndata: /)
    expect(eventData(answer.body).at(-1)).toBe('[DONE]')
    expect(timers).toHaveLength(1)
    expect(timers[0]).toMatchObject({ silenceMs: 15_000, isStopped: true })
  })

  it('begins anew with every event', async () => {
    const { timers, startSilenceTimer } = createManualTimer()
    const seen: number[] = []
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart()
      yield textDelta('a', [1])
      seen.push(timers[0]?.refreshes ?? -1)
      yield textDelta('b', [2])
      seen.push(timers[0]?.refreshes ?? -1)
      yield sequenceEnd()
    })

    await createTestApp({ engine, startSilenceTimer }).post('/v1/generate/stream', { prompt: 'a' })

    expect(seen).toEqual([1, 2])
  })

  it('whose comment must be read first cuts nobody off who has read it', async () => {
    const { timers, startSilenceTimer } = createManualTimer()
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart()
      yield textDelta('x'.repeat(getDefaultHighWaterMark(false) - 1000), [1])
      for (let i = 0; i < 200; i++) timers[0]?.onSilence()
      yield textDelta('y', [2])
      yield sequenceEnd()
    })
    const port = await createTestApp({ engine, startSilenceTimer }).listen()

    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const url = `http://127.0.0.1:${port}/v1/generate/stream`
    const body = await (await fetch(url, { method: 'POST', headers, body: '{"prompt":"a"}' })).text()

    expect(body).toContain('y')
    const deadlines = timers.filter(({ silenceMs }) => silenceMs === 30_000)
    expect(deadlines.map(({ isStopped }) => isStopped)).toEqual([true])
  })

  it('that ended in an error is an event, for the head has gone out', async () => {
    const { timers, startSilenceTimer } = createManualTimer()
    const engine = new ScriptedEngine(async function* () {
      await Promise.resolve()
      timers[0]?.onSilence()
      yield* []
      throw new ServiceError('engine_failed')
    })

    const answer = await createTestApp({ engine, startSilenceTimer }).post('/v1/generate/stream', {
      prompt: 'a',
    })

    expect(answer.statusCode).toBe(200)
    const data = eventData(answer.body)
    expect(data).toHaveLength(2)
    expect(JSON.parse(data[0] ?? '')).toMatchObject({ error: { code: 'engine_failed' } })
  })
})

describe('a stream of more than a connection buffers', () => {
  it.each([
    ['/v1/generate/stream', { prompt: 'a' }],
    ['/v1/chat/completions', { ...MESSAGES, stream: true }],
    ['/v1/responses', { input: 'a', stream: true }],
  ])('ends: %s', async (url, body) => {
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart()
      for (let token = 0; token < 100; token++) yield textDelta('x'.repeat(1000), [token])
      yield sequenceEnd()
    })

    const answer = await createTestApp({ engine }).post(url, body)

    expect(answer.body.match(/x/g)?.length).toBeGreaterThanOrEqual(100_000)
    expect(eventData(answer.body).at(-1)).toMatch(/^\[DONE\]$|"response.completed"/)
  })
})
