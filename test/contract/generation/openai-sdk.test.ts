/** OpenAI's own client against the chat endpoint: what it sends is taken, what it reads is there. */
import OpenAI, { AuthenticationError, BadRequestError, NotFoundError, RateLimitError } from 'openai'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import { failInTheMiddle, hangUntilLeft, ScriptedEngine } from '../../support/engines/scripted-engine.ts'
import { createTestApp, KEY, type TestAppOptions } from '../../support/servers/test-app.ts'

async function createClient(options: TestAppOptions = {}, apiKey = KEY): Promise<OpenAI> {
  const port = await createTestApp(options).listen()
  return new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey, maxRetries: 0 })
}

const MESSAGES = [{ role: 'user' as const, content: 'hello' }]

describe("OpenAI's client", () => {
  it('chats', async () => {
    const client = await createClient()

    const completion = await client.chat.completions.create({
      model: 'default',
      messages: MESSAGES,
      stop: null,
      seed: 1,
    })

    expect(completion.choices[0]?.message).toEqual({ role: 'assistant', content: 'hello' })
    expect(completion.usage?.total_tokens).toBe(10)
  })

  it('streams', async () => {
    const client = await createClient()

    const stream = await client.chat.completions.create({
      model: 'default',
      messages: MESSAGES,
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    let usage: number | undefined
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      usage = chunk.usage?.total_tokens ?? usage
    }

    expect([text, usage]).toEqual(['hello', 10])
  })

  it('gathers a stream into a completion', async () => {
    const client = await createClient()

    const completion = await client.chat.completions
      .stream({ model: 'default', messages: MESSAGES })
      .finalChatCompletion()

    expect(completion.choices[0]).toMatchObject({ message: { content: 'hello' }, finish_reason: 'stop' })
  })

  it('gathers a stream of several answers, with the sampling options it knows', async () => {
    const client = await createClient()

    const completion = await client.chat.completions
      .stream({
        model: 'default',
        messages: MESSAGES,
        n: 3,
        presence_penalty: 0.5,
        frequency_penalty: -0.5,
        logit_bias: { '104': 5 },
        stream_options: { include_usage: true },
      })
      .finalChatCompletion()

    const answers = completion.choices.map(({ index, message, finish_reason }) => [
      index,
      message.content,
      finish_reason,
    ])
    expect(answers).toEqual([0, 1, 2].map((index) => [index, 'hello', 'stop']))
    expect(completion.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 15 })
  })

  it('lists and reads models', async () => {
    const client = await createClient()

    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['default'])
    expect((await client.models.retrieve('default')).owned_by).toBe('sluice')
    await expect(client.models.retrieve('org/name')).rejects.toThrow("404 Model 'org/name' does not exist.")
  })

  it('reads errors', async () => {
    const queueFull = new ScriptedEngine(async function* () {
      yield* []
      throw new ServiceError('queue_full', { waiting: 9, max: 9 })
    })
    const chat = async (client: OpenAI, fields: object = {}) =>
      client.chat.completions.create({ model: 'default', messages: MESSAGES, ...fields }).then(
        () => null,
        (error: unknown) => error,
      )

    const badRequest = await chat(await createClient(), { temperature: 9 })
    expect(badRequest).toBeInstanceOf(BadRequestError)
    expect(badRequest).toMatchObject({
      message: '400 temperature must be a number between 0 and 5, but was 9.',
      param: 'temperature',
      code: 'invalid_request',
      requestID: expect.any(String),
    })
    expect(await chat(await createClient(), { model: 'x' })).toBeInstanceOf(NotFoundError)
    expect(await chat(await createClient({}, 'wrong'))).toBeInstanceOf(AuthenticationError)
    expect(await chat(await createClient({ engine: queueFull }))).toBeInstanceOf(RateLimitError)
  })

  it('reads from an error that the prompt is too long, and how long it may be', async () => {
    const engine = new ScriptedEngine(async function* () {
      const error = { code: 'context_length_exceeded', params: { given: 5000, max: 4096 } } as const
      yield { type: 'sequence-end', index: 0, finishReason: 'error', error }
    })
    const client = await createClient({ engine })

    await expect(
      client.chat.completions.create({ model: 'default', messages: MESSAGES }),
    ).rejects.toMatchObject({
      status: 400,
      message: "400 This model's maximum context length is 4096 tokens, but the prompt is 5000 tokens long.",
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
      param: 'messages',
    })
  })

  it('reads an error in the middle of a stream', async () => {
    const engine = failInTheMiddle()
    const client = await createClient({ engine })
    const stream = await client.chat.completions.create({
      model: 'default',
      messages: MESSAGES,
      stream: true,
    })

    const read = async () => {
      for await (const _chunk of stream);
    }

    await expect(read()).rejects.toThrow('The engine stopped')
  })

  it('aborts by leaving its loop', async () => {
    const { engine, left } = hangUntilLeft()
    const client = await createClient({ engine })

    const stream = await client.chat.completions.create({
      model: 'default',
      messages: MESSAGES,
      stream: true,
    })
    for await (const _chunk of stream) break

    await left
  })
})
