/** OpenAI's chat fields: what asks for nothing passes, what would change the answer is refused, never ignored. */
import { describe, expect, it } from 'vitest'
import { ScriptedEngine, sayOk } from '../../support/engines/scripted-engine.ts'
import { createTestApp } from '../../support/servers/test-app.ts'

const URL = '/v1/chat/completions'
const MESSAGES = { messages: [{ role: 'user', content: 'ab' }] }

describe('fields that are not built', () => {
  it.each([
    ['n', [1], [2, 0, '1']],
    ['tools', [[]], [[{ type: 'function' }]]],
    ['tool_choice', ['none', 'auto'], ['required', { type: 'function' }]],
    ['functions', [[]], [[{ name: 'f' }]]],
    ['function_call', ['none', 'auto'], [{ name: 'f' }]],
    ['response_format', [{ type: 'text' }], [{ type: 'json_object' }, 'text']],
    ['logprobs', [false], [true]],
    ['top_logprobs', [0], [1]],
    ['logit_bias', [{}], [{ 50256: -100 }]],
    ['presence_penalty', [0], [0.5]],
    ['frequency_penalty', [0], [-1]],
    ['modalities', [['text']], [['text', 'audio']]],
    ['audio', [], [{ voice: 'x' }]],
    ['reasoning_effort', ['none'], ['high']],
    ['web_search_options', [], [{}]],
  ])('%s passes neutral values only', async (field, neutral, loaded) => {
    const { post } = createTestApp()

    for (const value of [null, ...neutral]) {
      expect([value, (await post(URL, { ...MESSAGES, [field]: value })).statusCode]).toEqual([value, 200])
    }
    for (const value of loaded) {
      const answer = await post(URL, { ...MESSAGES, [field]: value })
      expect([value, answer.statusCode]).toEqual([value, 400])
      expect(answer.headers['x-error-code']).toBe('unsupported_value')
      expect(answer.json().error.param).toBe(field)
      expect(answer.json().detail).toMatch(
        new RegExp(`^${field} must be .*, but was .*: other values are not supported\\.$`),
      )
    }
  })

  it('refuses tool calls in a message', async () => {
    const messages = [{ role: 'assistant', content: 'a', tool_calls: [{ id: 'x' }] }]

    const answer = await createTestApp().post(URL, { messages })

    expect(answer.statusCode).toBe(400)
    expect(answer.json().error.param).toBe('messages[0].tool_calls')
  })
})

describe('fields that are', () => {
  it('joins text parts', async () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]

    const answer = await createTestApp().post(URL, { messages: [{ role: 'user', content }] })

    expect(answer.json().choices[0].message.content).toBe('ab')
  })

  it('refuses parts that are no text', async () => {
    const content = [{ type: 'image_url', image_url: { url: 'x' } }]

    expect((await createTestApp().post(URL, { messages: [{ role: 'user', content }] })).statusCode).toBe(400)
  })

  it('stops at one string as at a list of them', async () => {
    const { post } = createTestApp()
    const messages = [{ role: 'user', content: 'one two' }]

    for (const stop of [' ', [' ']]) {
      expect((await post(URL, { messages, stop })).json().choices[0].message.content).toBe('one')
    }
  })

  it('takes max_completion_tokens for max_tokens', async () => {
    const { post } = createTestApp()

    for (const body of [
      { max_tokens: 1 },
      { max_completion_tokens: 1 },
      { max_tokens: 1, max_completion_tokens: 1 },
    ]) {
      const answer = (await post(URL, { ...MESSAGES, ...body })).json()
      expect(answer.choices[0]).toMatchObject({ message: { content: 'a' }, finish_reason: 'length' })
    }
  })

  it('hands the engine what was asked for', async () => {
    const engine = new ScriptedEngine(sayOk)
    const { post } = createTestApp({ engine })

    await post(URL, {
      ...MESSAGES,
      temperature: 0,
      top_k: 5,
      top_p: 0.5,
      repetition_penalty: 0,
      seed: 7,
      stop: 'x',
      max_tokens: 9,
      priority: 3,
    })

    expect(engine.requests).toEqual([
      {
        reqId: expect.any(String),
        prompts: [{ pieces: ['ab'], addSpecial: false }],
        options: {
          maxNewTokens: 9,
          stopStrings: ['x'],
          sampling: { temperature: 0, topK: 5, topP: 0.5, repetitionPenalty: 1, seed: 7 },
        },
        place: { priorityClass: 2, priority: 3, accountId: 'operator' },
      },
    ])
  })

  it('applies the defaults of the interface', async () => {
    const engine = new ScriptedEngine(sayOk)

    await createTestApp({ engine }).post(URL, MESSAGES)

    expect(engine.requests[0]?.options).toEqual({
      maxNewTokens: 256,
      stopStrings: [],
      sampling: { temperature: 1, topK: 0, topP: 1, repetitionPenalty: 1, seed: null },
    })
  })
})
