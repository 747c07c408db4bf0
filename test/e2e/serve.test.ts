/** The main job, as a stranger would try it: the built program with a small Llama, over HTTP. */
import { describe, expect, it } from 'vitest'
import OpenAI from 'openai'
import { lengthOf } from '../support/length-of.ts'
import {
  KEY,
  post,
  readStream,
  startDemoServer,
  streamChunks,
  type RunningServerProcess,
} from '../support/servers/server-process.ts'
import { shared } from '../support/shared.ts'

interface Generated {
  readonly generated_text: string
  readonly token_ids: readonly number[]
  readonly completion_tokens: number
  readonly finish_reason: string
}

const greedy = (prompt: string, max_new_tokens = 48) => ({ prompt, max_new_tokens, do_sample: false })

async function generate(server: RunningServerProcess, body: object): Promise<Generated> {
  const response = await post(server, '/v1/generate', { body })
  expect(response.status).toBe(200)
  return (await response.json()) as Generated
}

describe('sluice serve with the small Llama', () => {
  const demoServer = shared(() => startDemoServer())

  it('streams the text that it answers plainly', async () => {
    const plain = await generate(demoServer(), greedy('Once upon a time'))
    const streamed = await readStream(
      await post(demoServer(), '/v1/generate/stream', { body: greedy('Once upon a time') }),
    )
    expect(streamed).toEqual({ text: plain.generated_text, finishReason: plain.finish_reason, error: null })
    expect(plain.completion_tokens).toBe(plain.token_ids.length)
  })

  it('repeats itself with a seed, and not without', async () => {
    const body = { prompt: 'Once upon a time', max_new_tokens: 40, temperature: 1.5 }
    const seeded = [
      await generate(demoServer(), { ...body, seed: 7 }),
      await generate(demoServer(), { ...body, seed: 7 }),
    ]
    expect(seeded[0]?.token_ids).toEqual(seeded[1]?.token_ids)
    const other = await generate(demoServer(), { ...body, seed: 8 })
    expect(other.token_ids).not.toEqual(seeded[0]?.token_ids)
  })

  it('answers in role and stops by itself, through the official OpenAI client', async () => {
    const client = new OpenAI({ baseURL: `${demoServer().address}/v1`, apiKey: KEY, maxRetries: 0 })
    const messages = [{ role: 'user' as const, content: 'Who are you?' }]
    const plain = await client.chat.completions.create({ model: 'default', messages, temperature: 0 })
    expect(plain.model).toBe('small-llama')
    expect(plain.choices[0]?.finish_reason).toBe('stop')
    let streamed = ''
    const stream = await client.chat.completions.create({
      model: 'small-llama',
      messages,
      temperature: 0,
      stream: true,
    })
    for await (const chunk of stream) streamed += chunk.choices[0]?.delta.content ?? ''
    expect(streamed).toBe(plain.choices[0]?.message.content)
    expect(streamed).not.toBe('')
  })

  it('never reads special tokens in what a user wrote', async () => {
    const count = async (content: string): Promise<number> => {
      const body = { messages: [{ role: 'user', content }], max_tokens: 1 }
      const response = await post(demoServer(), '/v1/chat/completions', { body })
      return ((await response.json()) as { usage: { prompt_tokens: number } }).usage.prompt_tokens
    }
    // As special tokens these would be two; as text they are many. No role is in them, which the prompt guard would refuse.
    expect((await count('</s></s>')) - (await count(''))).toBeGreaterThan(4)
  })

  it('answers every prompt of a batch, each as if alone', async () => {
    const prompts = ['Once upon a time', 'The little dog', 'Lily was']
    const alone = await Promise.all(prompts.map((prompt) => generate(demoServer(), greedy(prompt, 6))))
    for (const route of ['/v1/generate/batch', '/v1/generate/continuous-batch']) {
      const body = { prompts, max_new_tokens: 6, do_sample: false }
      const batch = (await (await post(demoServer(), route, { body })).json()) as {
        results: (Generated & { index: number })[]
      }
      expect(batch.results.map(({ index }) => index)).toEqual([0, 1, 2])
      expect(batch.results.map(({ completion_tokens }) => completion_tokens)).toEqual(
        alone.map(({ completion_tokens }) => completion_tokens),
      )
    }
  })

  it('searches with beams beside streams, in a batch too, and drops a search whose client leaves', async () => {
    const body = { max_new_tokens: 40, do_sample: false, num_beams: 8 }
    const alone = await generate(demoServer(), { ...body, prompt: 'One rainy day, Mira' })
    expect(alone.completion_tokens).toBe(alone.token_ids.length)

    const leaving = new AbortController()
    const left = post(demoServer(), '/v1/generate', {
      body: { ...body, prompt: 'Once upon a time', max_new_tokens: 400, stop_strings: ['never said'] },
      signal: leaving.signal,
    })
    const streams = Array.from({ length: 8 }, async (_, i) =>
      readStream(
        await post(demoServer(), '/v1/generate/stream', { body: greedy(`Story ${i}. Once upon a time`) }),
      ),
    )
    const batch = post(demoServer(), '/v1/generate/batch', {
      body: { ...body, prompts: ['One rainy day, Mira', 'Hello', 'One rainy day, Mira'] },
    })
    leaving.abort()
    await expect(left).rejects.toThrow()
    for (const { error, finishReason } of await Promise.all(streams)) {
      expect([error, finishReason]).toEqual([null, expect.stringMatching('stop|length')])
    }
    const { results } = (await (await batch).json()) as { results: Generated[] }
    expect([results[0]?.token_ids, results[2]?.token_ids]).toEqual([alone.token_ids, alone.token_ids])
  })

  const STREAM_TOKENS = lengthOf({ test: 8, soak: 24 })

  it('finishes 32 parallel streams on 8 slots', async () => {
    const streams = Array.from({ length: 32 }, async (_, i) =>
      readStream(
        await post(demoServer(), '/v1/generate/stream', {
          body: greedy(`Story number ${i}:`, STREAM_TOKENS),
        }),
      ),
    )
    const results = await Promise.all(streams)
    expect(results.every(({ finishReason }) => finishReason === 'length' || finishReason === 'stop')).toBe(
      true,
    )
  })

  it('lets a late request join the running batch: its first token comes before the earlier one ends', async () => {
    const body = { prompt: 'Once upon a time', max_new_tokens: 1500, temperature: 5, seed: 3 }
    const leaving = new AbortController()
    const early = await post(demoServer(), '/v1/generate/stream', { body, signal: leaving.signal })
    let isLateHere = false
    const joinLate = async (): Promise<void> => {
      const response = await post(demoServer(), '/v1/generate/stream', { body: greedy('The', 2) })
      for await (const _ of streamChunks(response)) isLateHere = true
    }
    let late: Promise<void> | null = null
    let cameBeforeItsEnd = false
    for await (const _ of streamChunks(early)) {
      late ??= joinLate()
      cameBeforeItsEnd = isLateHere
      if (cameBeforeItsEnd) break
    }
    leaving.abort()
    await late
    expect(cameBeforeItsEnd).toBe(true)
  })

  it('refuses a prompt longer than the context with both numbers', async () => {
    for (const repeats of [2500, 100_000]) {
      const response = await post(demoServer(), '/v1/generate', { body: greedy('cat '.repeat(repeats)) })
      expect(response.status).toBe(400)
      expect(((await response.json()) as { detail: string }).detail).toMatch(
        /maximum context length is 2048 tokens, but the prompt is (?:at least )?\d+ tokens long/,
      )
    }
  })
})
