/** `/tokenize` and `/detokenize`, at the root and under `/v1/`: shapes, bounds, what they cost. */
import { describe, expect, it } from 'vitest'
import { sayOk, ScriptedEngine } from '../../support/engines/scripted-engine.ts'
import { createTestApp, type TestApp } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const testApp = shared(() => createTestApp())
const tokensOf = (text: string) => [...Buffer.from(text)]

const TEMPLATE =
  '{% for m in messages %}<{{ m.content }}>{% endfor %}' +
  '{% if add_generation_prompt %}{{ mood or reasoning_effort }}{{ verbosity }}>{% endif %}'

async function problem(url: string, body: object, app: TestApp = testApp()) {
  const answer = await app.post(url, body)
  return [answer.statusCode, answer.headers['x-error-code'], answer.json().error?.message]
}

describe.each(['', '/v1'])('under "%s"', (prefix) => {
  it('a text becomes its tokens, and they the text again', async () => {
    const app = createTestApp()
    const answer = await app.post(`${prefix}/tokenize`, { model: 'default', prompt: 'hé' })
    expect(answer.json()).toEqual({
      count: 3,
      max_model_len: null,
      tokens: tokensOf('hé'),
      token_strs: null,
    })
    const back = await app.post(`${prefix}/detokenize`, { tokens: tokensOf('hé') })
    expect([back.statusCode, back.json()]).toEqual([200, { prompt: 'hé' }])
    expect(answer.headers['x-ratelimit-limit-requests']).toBeDefined()
    expect(app.usage).toEqual([])
  })
})

describe('a request for tokens', () => {
  it('may ask for their texts, and for those of a chat', async () => {
    const texts = await testApp().post('/tokenize', { prompt: 'ab', return_token_strs: true })
    expect(texts.json().token_strs).toEqual(['a', 'b'])
    const messages = [{ role: 'user', content: 'hi' }]
    const chat = await testApp().post('/tokenize', { messages, add_generation_prompt: true })
    expect(chat.json().tokens).toEqual(tokensOf('hi'))
    expect((await testApp().post('/tokenize', { prompt: '', add_special_tokens: false })).json().count).toBe(
      0,
    )
  })

  it.each([
    ['/tokenize', {}, 'prompt or messages is required.'],
    [
      '/tokenize',
      { prompt: 'a', messages: [{ role: 'user', content: 'a' }] },
      'prompt must not be given beside messages.',
    ],
    ['/tokenize', { prompt: 5 }, 'prompt must be a string, but was 5.'],
    ['/detokenize', {}, 'tokens is required.'],
    ['/detokenize', { tokens: 'a' }, 'tokens must be an array of token ids, but was "a".'],
    [
      '/detokenize',
      { tokens: [1, 256] },
      "tokens[1] must be a token id between 0 and 255, one of model 'default', but was 256.",
    ],
  ])('%s %j is refused', async (url, body, sentence) => {
    expect(await problem(url, body)).toEqual([400, 'invalid_request', sentence])
  })

  it.each([
    ['/tokenize', { messages: [{ role: 'user', content: 'a' }], add_special_tokens: true }, /add_special/],
    [
      '/tokenize',
      { messages: [{ role: 'user', content: 'a' }], tools: [{}] },
      /^tools\[0\]\.type is required/,
    ],
    ['/tokenize', { content: 'a' }, /^content must be null, but was "a": it is called prompt here\.$/],
    ['/tokenize', { prompt: 'a', with_pieces: true }, /it is called return_token_strs here\.$/],
    ['/tokenize', { prompt: 'a', add_special: false }, /it is called add_special_tokens here\.$/],
    ['/tokenize', { prompt: 'a', parse_special: false }, /cannot read special tokens as text\.$/],
  ])('%s %j is not built', async (url, body, sentence) => {
    expect(await problem(url, body)).toEqual([400, 'unsupported_value', expect.stringMatching(sentence)])
  })

  it('renders a chat as a chat with the same fields does', async () => {
    const app = createTestApp({ engine: new ScriptedEngine(sayOk, { chatTemplate: TEMPLATE }) })
    const textOf = async (body: object) => {
      const { tokens } = (await app.post('/tokenize', body)).json<{ tokens?: number[] }>()
      return Buffer.from(tokens ?? []).toString()
    }
    const messages = [{ role: 'user', content: 'a' }]
    const answered = [...messages, { role: 'assistant', content: 'bc' }]
    const tools = [{ type: 'function', function: { name: 'f' } }]

    expect(await textOf({ messages })).toBe('<a>>')
    expect(await textOf({ messages, tools })).toMatch(/"name":"f".*<a>>$/s)
    expect(await textOf({ messages, chat_template_kwargs: { mood: 'glad' } })).toBe('<a>glad>')
    expect(await textOf({ messages, reasoning_effort: 'high', verbosity: 'low' })).toBe('<a>highlow>')
    expect(await textOf({ messages: answered, continue_final_message: true })).toBe('<a><bc')
    expect(await textOf({ messages, add_generation_prompt: false })).toBe('<a>')
    expect(await textOf({ messages: answered, add_generation_prompt: false })).toBe('<a><bc>')
    const both = { messages: answered, add_generation_prompt: true, continue_final_message: true }
    expect(await problem('/tokenize', both)).toEqual([
      400,
      'invalid_request',
      expect.stringMatching(/^add_generation_prompt must be false where continue_final_message is true/),
    ])
  })

  it('is bounded by the context', async () => {
    const app = createTestApp({ engine: new ScriptedEngine(sayOk, { maxSeqLen: 4, maxTokenBytes: 1 }) })
    const sentence = expect.stringContaining('maximum context length is 4 tokens')
    expect(await problem('/tokenize', { prompt: 'abcde' }, app)).toEqual([
      400,
      'context_length_exceeded',
      sentence,
    ])
    expect(await problem('/detokenize', { tokens: [1, 2, 3, 4, 5] }, app)).toEqual([
      400,
      'context_length_exceeded',
      sentence,
    ])
    expect((await app.post('/tokenize', { prompt: 'abcd' })).json()).toMatchObject({
      count: 4,
      max_model_len: 4,
    })
  })
})
