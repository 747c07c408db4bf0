/** Tools end to end over the Messages API: a tool is called, its result goes back, an answer follows. */
import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import { promptOf } from '../../support/engines/scripted-engine.ts'
import { createWeatherCaller } from '../../support/engines/weather-caller.ts'
import { createTestApp, KEY } from '../../support/servers/test-app.ts'

const createEngine = () => createWeatherCaller({ result: 'sunny', answer: 'It is sunny in Paris.' })

const TOOLS: Anthropic.Tool[] = [
  {
    name: 'get_weather',
    description: 'The weather of a city',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
]

describe('a loop with a tool', () => {
  it.each(['plain', 'streamed'])('%s', async (kind) => {
    const engine = createEngine()
    const port = await createTestApp({ engine }).listen()
    const client = new Anthropic({ baseURL: `http://127.0.0.1:${port}`, apiKey: KEY, maxRetries: 0 })
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Weather in Paris?' }]
    const ask = () => {
      const request = { model: 'default', max_tokens: 512, tools: TOOLS, messages }
      return kind === 'plain'
        ? client.messages.create(request)
        : client.messages.stream(request).finalMessage()
    }

    const first = await ask()
    const call = first.content.find((block) => block.type === 'tool_use')
    messages.push(
      { role: 'assistant', content: first.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'sunny' }] },
    )
    const second = await ask()

    expect(first.content).toMatchObject([
      { type: 'thinking', thinking: expect.stringContaining('I must look.'), signature: 'unsigned' },
      { type: 'text', text: expect.stringContaining('Let me see.') },
      { type: 'tool_use', name: 'get_weather', input: { city: 'Paris' } },
    ])
    expect(first.stop_reason).toBe('tool_use')
    expect(second.content.at(-1)).toMatchObject({ type: 'text', text: 'It is sunny in Paris.' })
    expect(second.stop_reason).toBe('end_turn')
    const [asked, answered] = engine.requests.map(promptOf)
    expect(asked).toContain('"get_weather"')
    expect(answered).toContain('I must look.')
    expect(answered).toContain('{"name": "get_weather", "arguments": {"city":')
  })

  it('without thinking where it is not to be shown', async () => {
    const { post } = createTestApp({ engine: createEngine() })
    const thinking = { type: 'adaptive', display: 'omitted' }
    const body = {
      max_tokens: 512,
      tools: TOOLS,
      thinking,
      messages: [{ role: 'user', content: 'Weather?' }],
    }

    const { content } = (await post('/v1/messages', body)).json<Anthropic.Message>()
    const streamed = await post('/v1/messages', { ...body, stream: true })

    expect(content.map(({ type }) => type)).toEqual(['text', 'tool_use'])
    expect(streamed.body).not.toContain('thinking')
  })
})
