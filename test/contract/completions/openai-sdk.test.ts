/** OpenAI's own client against the legacy completions: what it sends is taken, what it reads is there. */
import OpenAI, { BadRequestError } from 'openai'
import { describe, expect, it } from 'vitest'
import { createTestApp, KEY } from '../../support/servers/test-app.ts'

async function createClient(): Promise<OpenAI> {
  const port = await createTestApp().listen()
  return new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: KEY, maxRetries: 0 })
}

describe("OpenAI's client", () => {
  it('completes texts and tokens', async () => {
    const client = await createClient()
    const { choices, usage } = await client.completions.create({
      model: 'default',
      prompt: ['hello', 'you'],
      max_tokens: 4,
      n: 2,
      stop: null,
      suffix: null,
      best_of: 2,
      user: 'me',
    })
    expect(choices.map(({ text, finish_reason }) => [text, finish_reason])).toEqual([
      ['hell', 'length'],
      ['hell', 'length'],
      ['you', 'stop'],
      ['you', 'stop'],
    ])
    expect(usage).toEqual({ prompt_tokens: 8, completion_tokens: 14, total_tokens: 22 })
    const tokens = await client.completions.create({ model: 'default', prompt: [104, 105], echo: true })
    expect(tokens.choices[0]?.text).toBe('hihi')
  })

  it('streams', async () => {
    const client = await createClient()
    const stream = await client.completions.create({
      model: 'default',
      prompt: 'hello',
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    let total: number | undefined
    for await (const chunk of stream) {
      text += chunk.choices[0]?.text ?? ''
      total = chunk.usage?.total_tokens ?? total
    }
    expect([text, total]).toEqual(['hello', 10])
  })

  it('shows why it was refused', async () => {
    const client = await createClient()
    const refused = client.completions.create({ model: 'default', prompt: 'a', suffix: 'b' })
    await expect(refused).rejects.toThrow(BadRequestError)
    await expect(refused).rejects.toMatchObject({
      param: 'suffix',
      message: '400 suffix must be "", but was "b": this route cannot change how the prompt is made.',
    })
  })
})
