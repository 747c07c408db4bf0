/** The tokens of a prompt that were in the KV cache, as OpenAI's clients read them. */
import { describe, expect, it } from 'vitest'
import {
  ScriptedEngine,
  sequenceEnd,
  sequenceStart,
  textDelta,
} from '../../support/engines/scripted-engine.ts'
import { createTestApp } from '../../support/servers/test-app.ts'

/** Of prompts of ten tokens, of which so many were in the cache. */
const createApp = (cachedTokens: number) =>
  createTestApp({
    engine: new ScriptedEngine(async function* ({ prompts, choices = 1 }) {
      for (let index = 0; index < prompts.length * choices; index++) {
        yield { ...sequenceStart(index, 10), cachedTokens }
        yield textDelta('ok', [1], index)
        yield sequenceEnd('stop', index)
      }
    }),
  })

const CHAT = { messages: [{ role: 'user', content: 'a' }] }
const ROUTES = [
  ['/v1/chat/completions', CHAT, 1],
  ['/v1/chat/completions', { ...CHAT, n: 3 }, 1],
  ['/v1/completions', { prompt: 'a' }, 1],
  ['/v1/completions', { prompt: ['a', 'b'], n: 2 }, 2],
] as const

describe.each(ROUTES)('%s of %j', (url, body, prompts) => {
  it('tells each once for its prompt, in the answer and at the end of the stream', async () => {
    const { post } = createApp(7)
    const usage = { prompt_tokens: 10 * prompts, prompt_tokens_details: { cached_tokens: 7 * prompts } }
    expect((await post(url, body)).json().usage).toMatchObject(usage)

    const streamed = await post(url, { ...body, stream: true, stream_options: { include_usage: true } })
    const [last = ''] = streamed.body.split('\n\n').slice(-3)
    expect(JSON.parse(last.slice('data: '.length)).usage).toMatchObject(usage)
  })

  it('says nothing where none were', async () => {
    const { post } = createApp(0)
    expect((await post(url, body)).json().usage).not.toHaveProperty('prompt_tokens_details')
  })
})
