/** LangChain's chat model of OpenAI, as it is: what it sends is taken, what it reads is there. */
import { AIMessageChunk, type BaseMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ServiceError } from '../../../src/core/errors.ts'
import { failInTheMiddle, hangUntilLeft, say, ScriptedEngine } from '../../support/engines/scripted-engine.ts'
import { createWeatherCaller } from '../../support/engines/weather-caller.ts'
import { createTestApp, KEY, type TestAppOptions } from '../../support/servers/test-app.ts'

type Fields = ConstructorParameters<typeof ChatOpenAI>[0]

async function createModel(options: TestAppOptions = {}, fields: Exclude<Fields, string> = {}) {
  const baseURL = `http://127.0.0.1:${await createTestApp(options).listen()}/v1`
  return new ChatOpenAI({
    model: 'default',
    apiKey: KEY,
    configuration: { baseURL },
    maxRetries: 0,
    ...fields,
  })
}

describe("LangChain's chat model", () => {
  it('answers, with its usage', async () => {
    const engine = say('hel', 'lo')
    const model = await createModel(
      { engine },
      { temperature: 0.5, topP: 0.9, maxTokens: 32_000, stop: ['x'] },
    )

    const answer = await model.invoke([new SystemMessage('Be short.'), new HumanMessage('hi')])

    expect(answer.content).toBe('hello')
    expect(answer.usage_metadata).toMatchObject({ input_tokens: 2, output_tokens: 2, total_tokens: 4 })
    expect(answer.response_metadata).toMatchObject({ finish_reason: 'stop' })
    expect(engine.requests[0]?.options).toMatchObject({
      stopStrings: ['x'],
      sampling: { temperature: 0.5, topP: 0.9 },
    })
  })

  it('streams, with its usage', async () => {
    const model = await createModel({ engine: say('hel', 'lo') })

    const texts: string[] = []
    let whole: AIMessageChunk | undefined
    for await (const chunk of await model.stream('hi')) {
      if (chunk.text !== '') texts.push(chunk.text)
      whole = whole === undefined ? chunk : whole.concat(chunk)
    }

    expect(texts).toEqual(['hel', 'lo'])
    expect(whole?.usage_metadata).toMatchObject({ input_tokens: 2, output_tokens: 2, total_tokens: 4 })
  })

  it('reads log probabilities', async () => {
    const model = await createModel({}, { logprobs: true, topLogprobs: 1 })

    const { response_metadata: metadata } = await model.invoke('hi')

    const [first] = (metadata['logprobs'] as { content: { token: string; logprob: number }[] }).content
    expect(first).toMatchObject({ token: 'h', logprob: 0 })
  })

  it('reads structured output, whose schema is the constraint', async () => {
    const engine = say('{"city":', '"Paris"}')
    const model = await createModel({ engine })
    const structured = model.withStructuredOutput(z.object({ city: z.string() }), { method: 'jsonSchema' })

    expect(await structured.invoke('where?')).toEqual({ city: 'Paris' })
    expect(engine.requests[0]?.options.constraint).toMatchObject({
      kind: 'json-schema',
      schema: expect.stringContaining('"city"'),
    })
  })

  it('reads JSON of any shape', async () => {
    const engine = say('{"city":', '"Paris"}')
    const model = await createModel({ engine })
    const structured = model.withStructuredOutput(z.object({ city: z.string() }), { method: 'jsonMode' })

    expect(await structured.invoke('where?')).toEqual({ city: 'Paris' })
    expect(engine.requests[0]?.options.constraint).toMatchObject({ kind: 'json-object' })
  })

  it.each(['plain', 'streamed'])('calls a tool and answers with its result, %s', async (kind) => {
    const engine = createWeatherCaller({ result: 'sunny in Paris', answer: 'It is sunny.' })
    const getWeather = tool(({ city }) => `sunny in ${city}`, {
      name: 'get_weather',
      description: 'Weather',
      schema: z.object({ city: z.string() }),
    })
    const model = (await createModel({ engine })).bindTools([getWeather])
    const messages: BaseMessage[] = [new HumanMessage('Weather in Paris?')]
    const ask = async () => {
      if (kind === 'plain') return await model.invoke(messages)
      let whole = new AIMessageChunk('')
      for await (const chunk of await model.stream(messages)) whole = whole.concat(chunk)
      return whole
    }

    const first = await ask()
    messages.push(first)
    for (const call of first.tool_calls ?? []) messages.push(await getWeather.invoke(call))
    const second = await ask()

    expect(first.tool_calls).toMatchObject([{ name: 'get_weather', args: { city: 'Paris' } }])
    expect(first.text).toBe('Let me see.')
    expect(first.response_metadata).toMatchObject({ finish_reason: 'tool_calls' })
    expect([second.text, second.tool_calls]).toEqual(['It is sunny.', []])
  })

  it('reads structured output from a call that is required', async () => {
    const engine = createWeatherCaller({ result: '', answer: '' })
    const model = await createModel({ engine })
    const structured = model.withStructuredOutput(z.object({ city: z.string() }), {
      name: 'get_weather',
      method: 'functionCalling',
    })

    expect(await structured.invoke('where?')).toEqual({ city: 'Paris' })
  })

  it('answers a batch', async () => {
    const model = await createModel()

    const answers = await model.batch(['one', 'two', 'three'])

    expect(answers.map(({ text }) => text)).toEqual(['one', 'two', 'three'])
  })

  it('reads errors with their sentence', async () => {
    const unknown = await createModel({}, { model: 'x' })
    await expect(unknown.invoke('a')).rejects.toThrow("Model 'x' does not exist.")

    const full = new ScriptedEngine(async function* () {
      yield* []
      throw new ServiceError('queue_full', { waiting: 9, max: 9 })
    })
    await expect((await createModel({ engine: full })).invoke('a')).rejects.toMatchObject({ status: 429 })
  })

  it('reads an error in the middle of a stream', async () => {
    const model = await createModel({ engine: failInTheMiddle() })
    const readAll = async () => {
      for await (const _chunk of await model.stream('a'));
    }

    await expect(readAll()).rejects.toThrow('The engine stopped')
  })

  it('aborts, by its signal and by leaving its loop', async () => {
    const first = hangUntilLeft()
    const controller = new AbortController()
    const aborted = await createModel({ engine: first.engine })
    const readAll = async () => {
      for await (const _chunk of await aborted.stream('a', { signal: controller.signal })) controller.abort()
    }
    await expect(readAll()).rejects.toThrow()
    await first.left

    const second = hangUntilLeft()
    const model = await createModel({ engine: second.engine })
    for await (const chunk of await model.stream('a')) if (chunk.text !== '') break
    await second.left
  })
})
