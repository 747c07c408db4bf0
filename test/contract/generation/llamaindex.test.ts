/** LlamaIndex's LLM of OpenAI, as it is: what it sends is taken, what it reads is there. */
import type { ChatMessage, ToolCall, ToolCallLLMMessageOptions } from '@llamaindex/core/llms'
import { tool } from '@llamaindex/core/tools'
import { OpenAI } from '@llamaindex/openai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { failInTheMiddle, hangUntilLeft, say } from '../../support/engines/scripted-engine.ts'
import { createWeatherCaller } from '../../support/engines/weather-caller.ts'
import { createTestApp, KEY, type TestAppOptions } from '../../support/servers/test-app.ts'
import { until } from '../../support/until.ts'

async function createLlm(options: TestAppOptions = {}, fields: ConstructorParameters<typeof OpenAI>[0] = {}) {
  const baseURL = `http://127.0.0.1:${await createTestApp(options).listen()}/v1`
  return new OpenAI({ model: 'default', apiKey: KEY, baseURL, maxRetries: 0, ...fields })
}

const MESSAGES = [
  { role: 'system' as const, content: 'Be short.' },
  { role: 'user' as const, content: 'hi' },
]

describe("LlamaIndex's LLM", () => {
  it('chats', async () => {
    const engine = say('hel', 'lo')
    const llm = await createLlm({ engine }, { temperature: 0.5, topP: 0.9, maxTokens: 32_000 })

    const { message, raw } = await llm.chat({ messages: MESSAGES })

    expect(message).toMatchObject({ role: 'assistant', content: 'hello' })
    expect(raw).toMatchObject({ usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 } })
    expect(engine.requests[0]?.options.sampling).toMatchObject({ temperature: 0.5, topP: 0.9 })
  })

  it('completes a text, as a chat', async () => {
    const llm = await createLlm()

    expect(await llm.complete({ prompt: 'hello' })).toMatchObject({ text: 'hello' })
  })

  it('streams', async () => {
    const llm = await createLlm({ engine: say('hel', 'lo') })

    const texts: string[] = []
    for await (const { delta } of await llm.chat({ messages: MESSAGES, stream: true })) texts.push(delta)

    expect(texts.filter((text) => text !== '')).toEqual(['hel', 'lo'])
  })

  it('reads structured output, whose schema is the constraint', async () => {
    const engine = say('{"city":', '"Paris"}')
    const llm = await createLlm({ engine })

    const { message } = await llm.chat({
      messages: MESSAGES,
      responseFormat: z.object({ city: z.string() }),
    })

    expect(message.content).toBe('{"city":"Paris"}')
    expect(engine.requests[0]?.options.constraint).toMatchObject({
      kind: 'json-schema',
      schema: expect.stringContaining('"city"'),
    })
  })

  const getWeather = tool({
    name: 'get_weather',
    description: 'Weather',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => `sunny in ${city}`,
  })

  it('calls a tool and answers with its result', async () => {
    const engine = createWeatherCaller({ result: 'sunny in Paris', answer: 'It is sunny.' })
    const llm = await createLlm({ engine })
    const messages: ChatMessage[] = [{ role: 'user', content: 'Weather in Paris?' }]

    const first = await llm.exec({ messages, tools: [getWeather] })
    const second = await llm.exec({ messages: [...messages, ...first.newMessages], tools: [getWeather] })

    expect(first.toolCalls).toMatchObject([{ name: 'get_weather' }])
    expect(first.newMessages.at(-1)?.options).toMatchObject({ toolResult: { result: 'sunny in Paris' } })
    expect(second.newMessages).toMatchObject([{ role: 'assistant', content: 'It is sunny.' }])
  })

  /** By hand: `exec` looks for a call in the first chunk of a stream only. */
  it('calls a tool and answers with its result, streamed', async () => {
    const engine = createWeatherCaller({ result: 'sunny in Paris', answer: 'It is sunny.' })
    const llm = await createLlm({ engine })
    const messages: ChatMessage<ToolCallLLMMessageOptions>[] = [
      { role: 'user', content: 'Weather in Paris?' },
    ]
    const ask = async () => {
      let content = ''
      let toolCall: ToolCall[] = []
      for await (const { delta, options = {} } of await llm.chat({
        messages,
        tools: [getWeather],
        stream: true,
      })) {
        content += delta
        if ('toolCall' in options) toolCall = options.toolCall as ToolCall[]
      }
      return { content, toolCall }
    }

    const { content, toolCall } = await ask()
    const [call] = toolCall
    const result = getWeather.call(call?.input as { city: string }) as string
    messages.push(
      { role: 'assistant', content, options: { toolCall } },
      {
        role: 'user',
        content: result,
        options: { toolResult: { id: call?.id ?? '', result, isError: false } },
      },
    )
    const second = await ask()

    expect(toolCall).toMatchObject([{ name: 'get_weather', input: { city: 'Paris' } }])
    expect([content, second]).toEqual(['Let me see.', { content: 'It is sunny.', toolCall: [] }])
  })

  it('passes what it does not know itself', async () => {
    const engine = say('a')
    const llm = await createLlm({ engine }, { additionalChatOptions: { presence_penalty: 1, stop: ['x'] } })

    await llm.chat({ messages: MESSAGES })

    expect(engine.requests[0]?.options).toMatchObject({
      stopStrings: ['x'],
      sampling: { presencePenalty: 1 },
    })
  })

  it('reads errors with their sentence, before and in the middle of a stream', async () => {
    const unknown = await createLlm({}, { model: 'x' })
    await expect(unknown.chat({ messages: MESSAGES })).rejects.toThrow("Model 'x' does not exist.")

    const failing = await createLlm({ engine: failInTheMiddle() })
    const readAll = async () => {
      for await (const _chunk of await failing.chat({ messages: MESSAGES, stream: true }));
    }
    await expect(readAll()).rejects.toThrow('The engine stopped')
  })

  /** Leaving the loop of a stream is not passed on: LlamaIndex's wrapper never returns the iterator below it. */
  it('aborts by the signal of its own fetch', async () => {
    const { engine, left } = hangUntilLeft()
    const controller = new AbortController()
    const abortableFetch: typeof fetch = (url, init) => fetch(url, { ...init, signal: controller.signal })
    const llm = await createLlm({ engine }, { additionalSessionOptions: { fetch: abortableFetch } })

    const answer = llm.chat({ messages: MESSAGES }).catch((error: unknown) => error)
    await until('the engine has it', () => engine.requests.length > 0)
    controller.abort()

    expect(await answer).toBeInstanceOf(Error)
    await left
  })
})
