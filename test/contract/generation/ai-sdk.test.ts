/** The AI SDK with its provider of OpenAI-compatible servers, which speaks chat completions. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ServiceError } from '../../../src/core/errors.ts'
import { failInTheMiddle, hangUntilLeft, say, ScriptedEngine } from '../../support/engines/scripted-engine.ts'
import { createWeatherCaller } from '../../support/engines/weather-caller.ts'
import { createTestApp, KEY, type TestAppOptions } from '../../support/servers/test-app.ts'

const OPTIONS = { includeUsage: true, supportsStructuredOutputs: true } as const

async function createModel(options: TestAppOptions = {}, modelId = 'default') {
  const baseURL = `http://127.0.0.1:${await createTestApp(options).listen()}/v1`
  const sluice = createOpenAICompatible({ name: 'sluice', baseURL, apiKey: KEY, ...OPTIONS })
  return sluice(modelId)
}

describe("the AI SDK's OpenAI-compatible provider", () => {
  it('generates text, with its usage and without a warning', async () => {
    const engine = say('hel', 'lo')
    const model = await createModel({ engine })

    const result = await generateText({
      model,
      system: 'Be short.',
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'user', content: [{ type: 'text', text: 'c' }] },
      ],
      maxOutputTokens: 32_000,
      temperature: 0.5,
      topP: 0.9,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      stopSequences: ['x'],
      seed: 3,
    })

    expect(result).toMatchObject({ text: 'hello', finishReason: 'stop', warnings: [] })
    expect(result.usage).toMatchObject({ inputTokens: 2, outputTokens: 2, totalTokens: 4 })
    expect(engine.requests[0]?.options).toMatchObject({
      stopStrings: ['x'],
      sampling: { temperature: 0.5, topP: 0.9, presencePenalty: 0.1, frequencyPenalty: 0.2, seed: 3 },
    })
  })

  it('passes what it does not know itself', async () => {
    const engine = say('a')
    const model = await createModel({ engine })

    await generateText({ model, prompt: 'a', providerOptions: { sluice: { min_p: 0.2, top_k: 7 } } })

    expect(engine.requests[0]?.options.sampling).toMatchObject({ minP: 0.2, topK: 7 })
  })

  it('streams text, with its usage', async () => {
    const model = await createModel({ engine: say('hel', 'lo') })

    const result = streamText({ model, prompt: 'hi' })
    const texts: string[] = []
    for await (const text of result.textStream) texts.push(text)

    expect(texts).toEqual(['hel', 'lo'])
    expect(await result.finishReason).toBe('stop')
    expect(await result.usage).toMatchObject({ inputTokens: 2, outputTokens: 2, totalTokens: 4 })
  })

  it('generates an object, whose schema is the constraint', async () => {
    const engine = say('{"city":', '"Paris"}')
    const model = await createModel({ engine })
    const output = Output.object({ schema: z.object({ city: z.string() }) })

    const plain = await generateText({ model, prompt: 'where?', output })
    const streamed = streamText({ model, prompt: 'where?', output })

    expect([plain.output, await streamed.output]).toEqual([{ city: 'Paris' }, { city: 'Paris' }])
    expect(plain.warnings).toEqual([])
    for (const { options } of engine.requests) {
      expect(options.constraint).toMatchObject({
        kind: 'json-schema',
        schema: expect.stringContaining('"city"'),
      })
    }
  })

  it('calls a tool and answers with its result, plain and streamed', async () => {
    const engine = createWeatherCaller({ result: 'sunny in Paris', answer: 'It is sunny.' })
    const model = await createModel({ engine })
    const getWeather = tool({
      description: 'Weather',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `sunny in ${city}`,
    })
    const options = {
      model,
      tools: { get_weather: getWeather },
      stopWhen: stepCountIs(3),
      prompt: 'Weather?',
    }

    const plain = await generateText(options)
    const streamed = streamText(options)

    expect([plain.text, await streamed.text]).toEqual(['It is sunny.', 'It is sunny.'])
    for (const steps of [plain.steps, await streamed.steps]) {
      expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
      expect(steps.map(({ reasoningText }) => reasoningText)).toEqual(['I must look.', 'Now I know.'])
      expect(steps[0]).toMatchObject({
        text: 'Let me see.',
        toolCalls: [{ toolName: 'get_weather', input: { city: 'Paris' } }],
        toolResults: [{ output: 'sunny in Paris' }],
      })
    }
    expect(plain.warnings).toEqual([])
  })

  it('asks for a tool that must be called', async () => {
    const engine = createWeatherCaller({ result: '', answer: '' })
    const model = await createModel({ engine })
    const getWeather = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: async () => 'sunny',
    })

    const { toolCalls } = await generateText({
      model,
      tools: { get_weather: getWeather },
      toolChoice: { type: 'tool', toolName: 'get_weather' },
      prompt: 'Weather?',
    })

    expect(toolCalls).toMatchObject([{ toolName: 'get_weather', input: { city: 'Paris' } }])
  })

  it('reads errors with their sentence, and tries those again that may pass', async () => {
    const unknown = generateText({ model: await createModel({}, 'x'), prompt: 'a' })
    await expect(unknown).rejects.toThrow(APICallError)
    await expect(unknown).rejects.toMatchObject({
      message: "Model 'x' does not exist.",
      statusCode: 404,
      isRetryable: false,
    })

    const full = new ScriptedEngine(async function* () {
      yield* []
      throw new ServiceError('queue_full', { waiting: 9, max: 9 })
    })
    const refused = generateText({ model: await createModel({ engine: full }), prompt: 'a', maxRetries: 0 })
    await expect(refused).rejects.toMatchObject({ statusCode: 429, isRetryable: true })
  })

  it('reads an error in the middle of a stream', async () => {
    const errors: unknown[] = []
    const model = await createModel({ engine: failInTheMiddle() })
    const result = streamText({ model, prompt: 'a', onError: ({ error }) => void errors.push(error) })

    await result.consumeStream()

    expect(JSON.stringify(errors)).toContain('The engine stopped')
  })

  it('aborts', async () => {
    const { engine, left } = hangUntilLeft()
    const controller = new AbortController()
    const model = await createModel({ engine })

    const result = streamText({ model, prompt: 'a', abortSignal: controller.signal })
    for await (const _text of result.textStream) controller.abort()

    await left
  })
})
