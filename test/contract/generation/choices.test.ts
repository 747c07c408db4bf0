/** `n` of a chat: several answers to one prompt, plain and streamed, whose prompt is sent and counted once. */
import { describe, expect, it } from 'vitest'
import { chatChunk } from '../../../src/api/dialects/openai-chat/schema.ts'
import { ServiceError } from '../../../src/core/errors.ts'
import {
  ScriptedEngine,
  sequenceEnd,
  sequenceStart,
  textDelta,
} from '../../support/engines/scripted-engine.ts'
import { eventData } from '../../support/net/event-data.ts'
import { createTestApp, type TestAppOptions } from '../../support/servers/test-app.ts'

const URL = '/v1/chat/completions'
const BODY = { messages: [{ role: 'user', content: 'ab' }], n: 3 }
const USAGE = { prompt_tokens: 9, completion_tokens: 6, total_tokens: 15 }

/** Three sequences that run beside each other and end in another order. */
const interleaved = () =>
  new ScriptedEngine(async function* () {
    yield sequenceStart(0, 9)
    yield textDelta('a', [1], 0)
    yield sequenceStart(1, 9)
    yield sequenceStart(2, 9)
    yield textDelta('b', [2], 0)
    yield textDelta('x', [3], 2)
    yield sequenceEnd('length', 2)
    yield textDelta('', [4], 1)
    yield sequenceEnd('stop', 0)
    yield textDelta('é', [5, 6], 1)
    yield sequenceEnd('stop', 1)
  })

async function stream(body: object, options: TestAppOptions) {
  const app = createTestApp(options)
  const answer = await app.post(URL, { ...body, stream: true })
  const data = eventData(answer.body)
  return { chunks: data.slice(0, -1).map((one) => JSON.parse(one)), last: data.at(-1), usage: app.usage }
}

describe('a plain answer', () => {
  it('has a choice for each sequence, in order, and counts the prompt once', async () => {
    const engine = interleaved()
    const { post, usage } = createTestApp({ engine })

    const answer = (await post(URL, BODY)).json()

    const choice = (index: number, content: string, finish_reason: string) => ({
      index,
      message: { role: 'assistant', content },
      finish_reason,
    })
    expect(answer.choices).toEqual([
      choice(0, 'ab', 'stop'),
      choice(1, 'é', 'stop'),
      choice(2, 'x', 'length'),
    ])
    expect(answer.usage).toEqual(USAGE)
    expect(usage).toMatchObject([{ status: 200, tokensIn: 9, tokensOut: 6 }])
  })

  it('asks the engine for one prompt', async () => {
    const engine = interleaved()

    await createTestApp({ engine }).post(URL, BODY)

    expect(engine.requests).toMatchObject([{ prompts: [{ pieces: ['ab'] }], choices: 3 }])
  })

  it('is an error where one sequence fails', async () => {
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart(0)
      throw new ServiceError('engine_failed')
    })

    expect((await createTestApp({ engine }).post(URL, BODY)).statusCode).toBe(500)
  })
})

describe('a stream', () => {
  it('begins and ends each choice, tells their deltas apart, and has the usage once, at the end', async () => {
    const body = { ...BODY, stream_options: { include_usage: true } }
    const { chunks, last, usage } = await stream(body, { engine: interleaved() })

    for (const chunk of chunks) expect(chatChunk.safeParse(chunk).error).toBeUndefined()
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    expect(chunks.filter((chunk) => chunk.usage !== null)).toEqual([chunks.at(-1)])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: USAGE })
    expect(last).toBe('[DONE]')
    const choices = chunks.slice(0, -1).map((chunk) => chunk.choices[0])
    expect(choices.map(({ index }) => index)).toEqual([0, 0, 1, 2, 0, 2, 2, 0, 1, 1])
    for (const [index, text, reason] of [
      [0, 'ab', 'stop'],
      [1, 'é', 'stop'],
      [2, 'x', 'length'],
    ] as const) {
      const own = choices.filter((choice) => choice.index === index)
      expect(own[0]).toEqual({ index, delta: { role: 'assistant', content: '' }, finish_reason: null })
      expect(own.map(({ delta }) => delta.content ?? '').join('')).toBe(text)
      expect(own.at(-1).finish_reason).toBe(reason)
      expect(own.slice(0, -1).every(({ finish_reason }) => finish_reason === null)).toBe(true)
    }
    expect(usage).toMatchObject([{ tokensIn: 9, tokensOut: 6 }])
  })

  it('says what the plain answer says, of the passthrough model too', async () => {
    const { chunks } = await stream(BODY, {})

    const choices = chunks.map((chunk) => chunk.choices[0])
    for (const index of [0, 1, 2]) {
      const own = choices.filter((choice) => choice.index === index)
      expect(own.map(({ delta }) => delta.content ?? '').join('')).toBe('ab')
      expect(own.at(-1).finish_reason).toBe('stop')
    }
  })
})

describe('the queue', () => {
  it('takes all choices or none', async () => {
    const { post } = createTestApp({ maxQueue: 4 })

    const answers = await Promise.all([64, 64, 64].map((n) => post(URL, { ...BODY, n })))

    expect(answers.map(({ statusCode }) => statusCode)).toContain(429)
  })
})
