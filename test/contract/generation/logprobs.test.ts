/** `logprobs` and `top_logprobs` of a chat: OpenAI's fields and answers, plain and streamed, of the text alone. */
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { chatChunk, chatCompletion } from '../../../src/api/dialects/openai-chat/schema.ts'
import { OutputGuard } from '../../../src/guards/output/output-guard.ts'
import type { ChosenLogprob, EngineEvent } from '../../../src/protocol/engine-events.ts'
import { ScriptedEngine, sequenceEnd, sequenceStart } from '../../support/engines/scripted-engine.ts'
import { eventData } from '../../support/net/event-data.ts'
import { createTestApp, KEY, type TestAppOptions } from '../../support/servers/test-app.ts'

const URL = '/v1/chat/completions'
const BODY = { messages: [{ role: 'user', content: 'ab' }], logprobs: true, top_logprobs: 2 }
const SECRET = `sk-svc-${'0123456789abcdef'.repeat(4)}`

interface WireToken {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[]
}

interface WireChoice {
  readonly index: number
  readonly message?: { readonly content: string }
  readonly delta?: { readonly content?: string }
  readonly logprobs?: { readonly content: readonly (WireToken & { top_logprobs: WireToken[] })[] } | null
}

const tokenOf = (tokenId: number, bytes: Uint8Array | string) => ({
  tokenId,
  logprob: -tokenId,
  bytes: [...Buffer.from(bytes)],
})
const chosen = (tokenId: number, bytes: Uint8Array | string): ChosenLogprob => ({
  ...tokenOf(tokenId, bytes),
  top: [tokenOf(90, 'alt'), tokenOf(tokenId, bytes)],
})
const delta = (text: string, logprobs: readonly ChosenLogprob[], index = 0): EngineEvent => ({
  type: 'text-delta',
  index,
  text,
  tokenIds: logprobs.map(({ tokenId }) => tokenId),
  logprobs,
})

const EURO = Buffer.from('€')

/** Two answers: one with a character of two tokens, one that a stop string has cut within a token. */
const twoAnswers = () =>
  new ScriptedEngine(async function* () {
    yield sequenceStart(0, 9)
    yield sequenceStart(1, 9)
    yield delta('Hi ', [chosen(1, 'Hi ')], 0)
    yield delta('', [], 0)
    yield delta('x', [], 1)
    yield delta('€', [chosen(2, EURO.subarray(0, 1)), chosen(3, EURO.subarray(1))], 0)
    yield sequenceEnd('length', 0)
    yield delta('y', [chosen(4, 'xy\n')], 1)
    yield sequenceEnd('stop', 1)
  })

async function chat(body: object, options: TestAppOptions) {
  const answer = await createTestApp(options).post(URL, body)
  expect(answer.statusCode).toBe(200)
  expect(chatCompletion.safeParse(answer.json()).error).toBeUndefined()
  return answer.json<{ choices: WireChoice[]; usage: { completion_tokens: number } }>()
}

async function stream(body: object, options: TestAppOptions): Promise<{ choices: WireChoice[] }[]> {
  const answer = await createTestApp(options).post(URL, { ...body, stream: true })
  const data = eventData(answer.body)
  const chunks = data.slice(0, -1).map((one): unknown => JSON.parse(one))
  for (const chunk of chunks) expect(chatChunk.safeParse(chunk).error).toBeUndefined()
  return chunks as { choices: WireChoice[] }[]
}

describe('a chat that asks for log probabilities', () => {
  it('gets them for each token of each answer', async () => {
    const { choices, usage } = await chat({ ...BODY, n: 2 }, { engine: twoAnswers() })

    const alternative = { token: 'alt', logprob: -90, bytes: [...Buffer.from('alt')] }
    const token = (text: string, logprob: number, bytes: Uint8Array) => {
      const one = { token: text, logprob, bytes: [...bytes] }
      return { ...one, top_logprobs: [alternative, one] }
    }
    expect(choices.map(({ logprobs }) => logprobs)).toEqual([
      {
        content: [
          token('Hi ', -1, Buffer.from('Hi ')),
          token('\ufffd', -2, EURO.subarray(0, 1)),
          token('\ufffd\ufffd', -3, EURO.subarray(1)),
        ],
        refusal: null,
      },
      { content: [token('xy\n', -4, Buffer.from('xy\n'))], refusal: null },
    ])
    expect(usage.completion_tokens).toBe(4)
  })

  it('gets in a stream just those of the plain answer, each chunk with those of its text', async () => {
    const plain = await chat({ ...BODY, n: 2 }, { engine: twoAnswers() })
    const chunks = await stream({ ...BODY, n: 2 }, { engine: twoAnswers() })

    for (const { index, message, logprobs } of plain.choices) {
      const own = chunks.flatMap(({ choices }) => choices).filter((choice) => choice.index === index)
      expect(own.map((choice) => choice.delta?.content ?? '').join('')).toBe(message?.content)
      expect(own.flatMap((choice) => choice.logprobs?.content ?? [])).toEqual(logprobs?.content)
      expect(own.at(0)?.logprobs).toEqual({ content: [], refusal: null })
      expect(own.at(-1)?.logprobs).toBeNull()
    }
  })

  it('asks the engine for as many of the likeliest as it wants, and for none', async () => {
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart()
      yield sequenceEnd()
    })
    const app = createTestApp({ engine })
    await app.post(URL, BODY)
    await app.post(URL, { ...BODY, top_logprobs: null })
    await app.post(URL, { messages: BODY.messages, logprobs: false, top_logprobs: 0 })

    expect(engine.requests.map(({ options }) => options.topLogprobs)).toEqual([2, 0, undefined])
  })

  it('gets an empty list for an empty answer', async () => {
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart()
      yield sequenceEnd()
    })
    const { choices } = await chat(BODY, { engine })

    expect(choices[0]?.logprobs).toEqual({ content: [], refusal: null })
  })

  it('gets from the passthrough model tokens that are certain', async () => {
    const { choices } = await chat(BODY, {})

    const one = (token: string) => ({ token, logprob: 0, bytes: [...Buffer.from(token)] })
    expect(choices[0]?.logprobs?.content).toEqual(
      ['a', 'b'].map((token) => ({ ...one(token), top_logprobs: [one(token)] })),
    )
  })

  it('gets none of what the output guard took out of the answer', async () => {
    const outputGuard = new OutputGuard({ secrets: [] })
    const messages = [{ role: 'user', content: `It is ${SECRET}` }]
    const plain = await chat({ ...BODY, messages, max_tokens: 100 }, { outputGuard })
    const chunks = await stream({ ...BODY, messages, max_tokens: 100 }, { outputGuard })

    const streamed = chunks.flatMap(({ choices }) =>
      choices.flatMap(({ logprobs }) => logprobs?.content ?? []),
    )
    expect(plain.choices[0]?.message?.content).toBe('It is ')
    expect(plain.choices[0]?.logprobs?.content.map(({ token }) => token).join('')).toBe('It is ')
    expect(streamed).toEqual(plain.choices[0]?.logprobs?.content)
  })
})

describe('a chat that does not', () => {
  it.each([
    {},
    { logprobs: false },
    { logprobs: null, top_logprobs: null },
    { logprobs: false, top_logprobs: 0 },
  ])('has no such field: %j', async (fields) => {
    const { choices } = await chat({ messages: BODY.messages, ...fields }, {})
    const chunks = await stream({ messages: BODY.messages, ...fields }, {})

    expect(choices[0]).not.toHaveProperty('logprobs')
    for (const chunk of chunks) expect(chunk.choices[0]).not.toHaveProperty('logprobs')
  })

  it.each([
    [{ top_logprobs: 3 }, 'top_logprobs must be 0 where logprobs is not true, but was 3.'],
    [{ logprobs: false, top_logprobs: 1 }, 'top_logprobs must be 0 where logprobs is not true, but was 1.'],
    [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs must be an integer between 0 and 20, but was 21.'],
    [{ logprobs: true, top_logprobs: -1 }, 'top_logprobs must be an integer between 0 and 20, but was -1.'],
    [{ logprobs: true, top_logprobs: 1.5 }, 'top_logprobs must be an integer between 0 and 20, but was 1.5.'],
    [{ logprobs: 5 }, 'logprobs must be true or false, but was 5.'],
  ])('is refused where the fields are wrong: %j', async (fields, detail) => {
    const answer = await createTestApp().post(URL, { messages: BODY.messages, ...fields })

    expect([answer.statusCode, answer.json<{ detail: string }>().detail]).toEqual([400, detail])
  })
})

describe("OpenAI's client", () => {
  it('reads them, and gathers those of a stream', async () => {
    const port = await createTestApp().listen()
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: KEY, maxRetries: 0 })
    const body = {
      model: 'default',
      messages: [{ role: 'user' as const, content: 'hé' }],
      logprobs: true,
      top_logprobs: 1,
    }

    const plain = await client.chat.completions.create(body)
    const gathered = await client.chat.completions.stream(body).finalChatCompletion()

    const content = plain.choices[0]?.logprobs?.content ?? []
    expect(Buffer.from(content.flatMap(({ bytes }) => bytes ?? [])).toString('utf8')).toBe('hé')
    expect(gathered.choices[0]?.logprobs).toEqual(plain.choices[0]?.logprobs)
  })
})
