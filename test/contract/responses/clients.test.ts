/** Clients whose default is the Responses API, as they are: what they send is taken, what they read is there. */
import { createOpenAI } from '@ai-sdk/openai'
import { Agent, OpenAIProvider, Runner } from '@openai/agents'
import { APICallError, generateText, Output, streamText } from 'ai'
import OpenAI, { BadRequestError, NotFoundError, RateLimitError } from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ServiceError } from '../../../src/core/errors.ts'
import type { EngineRequest } from '../../../src/protocol/engine.ts'
import {
  failInTheMiddle,
  hangUntilLeft,
  promptOf,
  say,
  ScriptedEngine,
  sequenceEnd,
} from '../../support/engines/scripted-engine.ts'
import { createTestApp, KEY, type TestAppOptions } from '../../support/servers/test-app.ts'

async function listen(options: TestAppOptions = {}): Promise<string> {
  return `http://127.0.0.1:${await createTestApp(options).listen()}/v1`
}

const createClient = async (options: TestAppOptions = {}) =>
  new OpenAI({ baseURL: await listen(options), apiKey: KEY, maxRetries: 0 })

const createProvider = async (options: TestAppOptions = {}) =>
  createOpenAI({ baseURL: await listen(options), apiKey: KEY })

describe("OpenAI's client", () => {
  it('reads the text of a response', async () => {
    const client = await createClient()

    const response = await client.responses.create({ model: 'default', input: 'hello' })

    expect(response).toMatchObject({ status: 'completed', output_text: 'hello', store: false })
    expect(response.usage).toMatchObject({ input_tokens: 5, output_tokens: 5, total_tokens: 10 })
  })

  it('counts the tokens of an input, instructions among them, and generates nothing', async () => {
    const engine = new ScriptedEngine(
      async function* () {
        yield sequenceEnd()
      },
      { chatTemplate: '{% for m in messages %}{{ m.content }}{% endfor %}' },
    )
    const client = await createClient({ engine })

    const counted = await client.responses.inputTokens.count({ instructions: 'brief', input: 'hello' })

    expect(counted).toMatchObject({ object: 'response.input_tokens', input_tokens: 'briefhello'.length })
    expect(engine.requests).toHaveLength(0)
  })

  it('sends the output of a response back with the next request', async () => {
    const engine = say('one')
    const client = await createClient({ engine })
    const first = await client.responses.create({ model: 'default', instructions: 'i', input: 'a' })

    await client.responses.create({
      model: 'default',
      input: [
        { role: 'user', content: 'a' },
        ...(first.output as ResponseInputItem[]),
        { role: 'user', content: 'b' },
      ],
    })

    expect(engine.requests).toHaveLength(2)
  })

  it('streams events', async () => {
    const client = await createClient()

    const stream = await client.responses.create({ model: 'default', input: 'hi', stream: true })
    let text = ''
    const types = new Set<string>()
    for await (const event of stream) {
      types.add(event.type)
      if (event.type === 'response.output_text.delta') text += event.delta
    }

    expect(text).toBe('hi')
    expect([...types].at(-1)).toBe('response.completed')
  })

  it('gathers a stream into a response', async () => {
    const client = await createClient()

    const stream = client.responses.stream({ model: 'default', input: 'hello' })
    const texts: string[] = []
    stream.on('response.output_text.delta', ({ snapshot }) => texts.push(snapshot))
    const response = await stream.finalResponse()

    expect(response.output_text).toBe('hello')
    expect(texts.at(-1)).toBe('hello')
  })

  it('parses a format of zod', async () => {
    const client = await createClient({ engine: say('{"city":', '"Paris"}') })
    const text = { format: zodTextFormat(z.object({ city: z.string() }), 'place') }

    const plain = await client.responses.parse({ model: 'default', input: 'where?', text })
    const streamed = await client.responses
      .stream({ model: 'default', input: 'where?', text })
      .finalResponse()

    expect([plain.output_parsed, streamed.output_parsed]).toEqual([{ city: 'Paris' }, { city: 'Paris' }])
  })

  it('reads errors', async () => {
    const engine = new ScriptedEngine(async function* () {
      yield* []
      throw new ServiceError('queue_full', { waiting: 9, max: 9 })
    })
    const create = async (client: OpenAI, fields: object = {}) =>
      client.responses.create({ model: 'default', input: 'a', ...fields }).catch((error: unknown) => error)

    const badRequest = await create(await createClient(), { previous_response_id: 'resp_1' })
    expect(badRequest).toBeInstanceOf(BadRequestError)
    expect(badRequest).toMatchObject({ param: 'previous_response_id', code: 'unsupported_value' })
    expect(await create(await createClient(), { model: 'x' })).toBeInstanceOf(NotFoundError)
    expect(await create(await createClient({ engine }))).toBeInstanceOf(RateLimitError)
    const client = await createClient()
    await expect(client.responses.retrieve('resp_1')).rejects.toThrow('this server stores no responses')
    await expect(client.responses.delete('resp_1')).rejects.toThrow(NotFoundError)
  })

  it('reads an error in the middle of a stream', async () => {
    const client = await createClient({ engine: failInTheMiddle() })
    const stream = await client.responses.create({ model: 'default', input: 'a', stream: true })

    const readAll = async () => {
      for await (const _event of stream);
    }

    await expect(readAll()).rejects.toThrow('The engine stopped')
  })

  it('aborts by leaving its loop', async () => {
    const { engine, left } = hangUntilLeft()
    const client = await createClient({ engine })

    for await (const _event of await client.responses.create({ model: 'default', input: 'a', stream: true }))
      break

    await left
  })
})

describe("the AI SDK's OpenAI provider", () => {
  it('generates and streams text', async () => {
    const openai = await createProvider()

    const plain = await generateText({ model: openai('default'), system: 's', prompt: 'hello' })
    const streamed = streamText({ model: openai('default'), prompt: 'hello' })

    expect(plain.text).toBe('hello')
    expect(plain.usage).toMatchObject({ inputTokens: 5, outputTokens: 5 })
    expect(plain.warnings).toEqual([])
    expect(await streamed.text).toBe('hello')
    expect(await streamed.finishReason).toBe('stop')
  })

  it('generates an object', async () => {
    const openai = await createProvider({ engine: say('{"city":', '"Paris"}') })
    const output = Output.object({ schema: z.object({ city: z.string() }) })

    const plain = await generateText({ model: openai('default'), prompt: 'where?', output })
    const streamed = streamText({ model: openai('default'), prompt: 'where?', output })

    expect(plain.output).toEqual({ city: 'Paris' })
    expect(await streamed.output).toEqual({ city: 'Paris' })
  })

  it('reads errors, before and in the middle of a stream', async () => {
    const openai = await createProvider()
    const failing = await createProvider({ engine: failInTheMiddle() })
    const errors: unknown[] = []

    const refused = generateText({ model: openai('x'), prompt: 'a', maxRetries: 0 })
    await expect(refused).rejects.toThrow(APICallError)
    await expect(refused).rejects.toThrow("Model 'x' does not exist.")
    const streamed = streamText({
      model: failing('default'),
      prompt: 'a',
      onError: ({ error }) => void errors.push(error),
    })
    await streamed.consumeStream()

    expect(JSON.stringify(errors)).toContain('The engine stopped')
  })

  it('aborts', async () => {
    const { engine, left } = hangUntilLeft()
    const openai = await createProvider({ engine })
    const controller = new AbortController()

    const streamed = streamText({ model: openai('default'), prompt: 'a', abortSignal: controller.signal })
    for await (const _text of streamed.textStream) controller.abort()

    await left
  })
})

describe('the Agents SDK', () => {
  const createRunner = (client: OpenAI) =>
    new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client }), tracingDisabled: true })
  const agent = new Agent({ name: 'a', instructions: 'Be short.', model: 'default' })

  it('runs an agent, plain and streamed', async () => {
    const runner = createRunner(await createClient({ engine: say('hel', 'lo') }))

    const plain = await runner.run(agent, 'hi')
    const streamed = await runner.run(agent, 'hi', { stream: true })
    await streamed.completed

    expect([plain.finalOutput, streamed.finalOutput]).toEqual(['hello', 'hello'])
  })

  it('goes on with the history of a run', async () => {
    const engine = say('hello')
    const runner = createRunner(await createClient({ engine }))
    const first = await runner.run(agent, 'hi')

    const second = await runner.run(agent, [...first.history, { role: 'user', content: 'again' }])

    expect(second.finalOutput).toBe('hello')
    expect(promptOf(engine.requests[1] as EngineRequest)).toBe('again')
  })

  it('reads an error', async () => {
    const runner = createRunner(await createClient({ engine: failInTheMiddle() }))

    await expect(runner.run(agent, 'hi')).rejects.toThrow('The engine stopped')
  })
})
