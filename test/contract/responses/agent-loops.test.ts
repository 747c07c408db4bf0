/** Tools end to end over the Responses API: a tool is called, its result goes back, an answer follows, in each client. */
import { createOpenAI } from '@ai-sdk/openai'
import { Agent, OpenAIProvider, Runner, tool as agentTool } from '@openai/agents'
import { generateText, stepCountIs, streamText, tool as aiTool } from 'ai'
import OpenAI from 'openai'
import { zodResponsesFunction } from 'openai/helpers/zod'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { promptOf } from '../../support/engines/scripted-engine.ts'
import { createWeatherCaller } from '../../support/engines/weather-caller.ts'
import { createTestApp, KEY } from '../../support/servers/test-app.ts'

const WEATHER = z.object({ city: z.string() })
async function serve() {
  const engine = createWeatherCaller({ result: 'sunny in Paris', answer: 'It is 20 °C in Paris.' })
  const baseURL = `http://127.0.0.1:${await createTestApp({ engine }).listen()}/v1`
  return { engine, baseURL, apiKey: KEY }
}

const execute = async ({ city }: z.output<typeof WEATHER>) => `sunny in ${city}`

describe("OpenAI's client", () => {
  const tool = zodResponsesFunction({ name: 'get_weather', parameters: WEATHER })

  async function loop(ask: (input: ResponseInputItem[]) => Promise<OpenAI.Responses.Response>) {
    const input: ResponseInputItem[] = [{ role: 'user', content: 'Weather in Paris?' }]
    const first = await ask(input)
    input.push(...(first.output as ResponseInputItem[]))
    for (const item of first.output) {
      if (item.type !== 'function_call') continue
      const output = await execute(WEATHER.parse(JSON.parse(item.arguments)))
      input.push({ type: 'function_call_output', call_id: item.call_id, output })
    }
    return { first, second: await ask(input) }
  }

  it.each(['plain', 'streamed', 'parsed'])('calls a tool and answers, %s', async (kind) => {
    const { engine, ...options } = await serve()
    const { responses } = new OpenAI({ ...options, maxRetries: 0 })
    const tools = [tool]

    const { first, second } = await loop(async (input) => {
      const body = { model: 'default', input, tools }
      if (kind === 'plain') return await responses.create(body)
      return kind === 'parsed' ? await responses.parse(body) : await responses.stream(body).finalResponse()
    })

    expect(first.output).toMatchObject([
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'I must look.' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'Let me see.' }] },
      { type: 'function_call', name: 'get_weather', arguments: '{"city": "Paris"}', status: 'completed' },
    ])
    expect(first.usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(0)
    expect(second.output_text).toBe('It is 20 °C in Paris.')
    const prompt = promptOf(engine.requests[1])
    expect(prompt).toContain('<think>\nI must look.\n</think>')
    expect(prompt).toContain('Let me see.')
    expect(prompt).toContain('<tool_response>\nsunny in Paris\n</tool_response>')
  })
})

describe('the AI SDK', () => {
  // It warns on the console that it drops reasoning that is not encrypted.
  beforeEach(() => void vi.stubGlobal('AI_SDK_LOG_WARNINGS', false))
  afterEach(() => void vi.unstubAllGlobals())

  const tools = { get_weather: aiTool({ description: 'Weather', inputSchema: WEATHER, execute }) }
  const options = { tools, stopWhen: stepCountIs(3), prompt: 'Weather in Paris?' }

  it('calls a tool and answers, plain and streamed', async () => {
    const { engine: _, ...provider } = await serve()
    const model = createOpenAI(provider)('default')
    const providerOptions = { openai: { store: false } }

    const plain = await generateText({ ...options, model, providerOptions })
    const streamed = streamText({ ...options, model, providerOptions })

    expect(plain.text).toBe('It is 20 °C in Paris.')
    expect(plain.steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output))).toEqual([
      'sunny in Paris',
    ])
    expect(plain.finishReason).toBe('stop')
    expect(await streamed.text).toBe('It is 20 °C in Paris.')
    expect((await streamed.steps).map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
  })

  it('shows what a model thinks, where it asks for a summary', async () => {
    const { engine: _, ...provider } = await serve()
    const model = createOpenAI(provider)('default')
    const providerOptions = { openai: { store: false, forceReasoning: true, reasoningSummary: 'auto' } }

    const plain = await generateText({ ...options, model, providerOptions })
    const streamed = streamText({ ...options, model, providerOptions })

    expect(plain.reasoningText).toBe('Now I know.')
    expect(await streamed.reasoningText).toBe('Now I know.')
  })

  it('is told what is wrong where it takes for granted that responses are stored', async () => {
    const { engine: _, ...provider } = await serve()
    const model = createOpenAI(provider)('default')

    await expect(generateText({ ...options, model, maxRetries: 0 })).rejects.toThrow('nothing is stored here')
  })
})

describe('the Agents SDK', () => {
  const getWeather = agentTool({
    name: 'get_weather',
    description: 'Weather',
    parameters: WEATHER,
    execute,
  })
  const agent = new Agent({ name: 'a', instructions: 'Be short.', model: 'default', tools: [getWeather] })

  it('calls a tool and answers, plain and streamed', async () => {
    const { engine: _, ...options } = await serve()
    const openAIClient = new OpenAI(options)
    const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }), tracingDisabled: true })

    const plain = await runner.run(agent, 'Weather in Paris?')
    const streamed = await runner.run(agent, 'Weather in Paris?', { stream: true })
    await streamed.completed

    expect([plain.finalOutput, streamed.finalOutput]).toEqual([
      'It is 20 °C in Paris.',
      'It is 20 °C in Paris.',
    ])
    expect(plain.newItems.map(({ type }) => type)).toContain('tool_call_output_item')
  })
})
