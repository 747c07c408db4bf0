/**
 * The table of fields that other servers read: on every route that generates, what would change the answer is refused unless
 * its value asks for nothing, and what is harmless passes. The light server refuses the same.
 */
import { describe, expect, it } from 'vitest'
import { UNBUILT_FIELDS } from '../../../src/net/requests/other-fields/generation.ts'
import { HARMLESS_FIELDS } from '../../../src/net/requests/other-fields/harmless.ts'
import { createTestLightServer } from '../../support/servers/light-server.ts'
import { createTestApp } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const testApp = shared(() => createTestApp())
const lightPort = shared(async () => (await createTestLightServer().server.listen()).port)

type Post = (fields: object) => Promise<{ status: number; code: unknown; detail: string }>

const SAMPLING_FIELDS = [
  'min_p',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'min_tokens',
  'ignore_eos',
  'stop_token_ids',
]
const CONSTRAINT_FIELDS = [
  'response_format',
  'structured_outputs',
  'guided_json',
  'guided_regex',
  'guided_choice',
  'guided_grammar',
  'grammar',
  'ebnf',
  'json_schema',
  'regex',
  'choice',
  'structural_tag',
]
const GENERATE_FIELDS = [
  ...CONSTRAINT_FIELDS,
  ...SAMPLING_FIELDS,
  'max_new_tokens',
  'do_sample',
  'repetition_penalty',
  'num_beams',
  'stop_strings',
  'seed',
  'priority',
]
const COMPLETION_FIELDS = [
  ...CONSTRAINT_FIELDS,
  'n',
  'best_of',
  'echo',
  'logprobs',
  ...SAMPLING_FIELDS,
  'max_tokens',
  'repetition_penalty',
  'stream',
  'stream_options',
  'stop',
  'seed',
  'priority',
]
const CHAT_FIELDS = [
  ...CONSTRAINT_FIELDS,
  'n',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning_effort',
  'reasoning',
  'thinking',
  'think',
  'enable_thinking',
  'verbosity',
  'chat_template_kwargs',
  'continue_final_message',
  'add_generation_prompt',
  'logprobs',
  'top_logprobs',
  ...SAMPLING_FIELDS,
  'max_tokens',
  'max_completion_tokens',
  'repetition_penalty',
  'stream',
  'stream_options',
  'stop',
  'seed',
  'priority',
]
const RESPONSES_FIELDS = [
  ...CONSTRAINT_FIELDS,
  ...SAMPLING_FIELDS,
  'repetition_penalty',
  'stop',
  'seed',
  'priority',
  'max_output_tokens',
  'top_logprobs',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'chat_template_kwargs',
  'instructions',
  'stream',
  'stream_options',
]
const MESSAGES_FIELDS = [
  ...SAMPLING_FIELDS,
  'repetition_penalty',
  'max_tokens',
  'stop_sequences',
  'system',
  'thinking',
  'chat_template_kwargs',
  'tools',
  'tool_choice',
  'output_config',
  'output_format',
  'stream',
  'seed',
  'priority',
]

function postFull(url: string, base: object): Post {
  return async (fields) => {
    const answer = await testApp().post(url, { ...base, ...fields })
    const { statusCode: status, headers } = answer
    const detail = status === 200 ? '' : answer.json<{ detail: string }>().detail
    return { status, code: headers['x-error-code'], detail }
  }
}

const postLight: Post = async (fields) => {
  const answer = await fetch(`http://127.0.0.1:${lightPort()}/v1/generate`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-svc-0123', 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'ab', ...fields }),
  })
  const { detail } = (await answer.json()) as { detail?: string }
  return { status: answer.status, code: answer.headers.get('x-error-code'), detail: String(detail) }
}

const ROUTES: readonly (readonly [name: string, post: Post, read: readonly string[]])[] = [
  ['/v1/generate', postFull('/v1/generate', { prompt: 'ab' }), GENERATE_FIELDS],
  ['/v1/generate/stream', postFull('/v1/generate/stream', { prompt: 'ab' }), [...GENERATE_FIELDS, 'stream']],
  ['/v1/generate/batch', postFull('/v1/generate/batch', { prompts: ['ab'] }), GENERATE_FIELDS],
  [
    '/v1/generate/continuous-batch',
    postFull('/v1/generate/continuous-batch', { prompts: ['ab'] }),
    GENERATE_FIELDS,
  ],
  [
    '/v1/chat/completions',
    postFull('/v1/chat/completions', { messages: [{ role: 'user', content: 'ab' }] }),
    CHAT_FIELDS,
  ],
  ['/v1/responses', postFull('/v1/responses', { input: 'ab' }), RESPONSES_FIELDS],
  ['/v1/responses/input_tokens', postFull('/v1/responses/input_tokens', { input: 'ab' }), RESPONSES_FIELDS],
  ['/v1/completions', postFull('/v1/completions', { prompt: 'ab' }), COMPLETION_FIELDS],
  [
    '/v1/messages',
    postFull('/v1/messages', { max_tokens: 16, messages: [{ role: 'user', content: 'ab' }] }),
    MESSAGES_FIELDS,
  ],
  [
    '/v1/messages/count_tokens',
    postFull('/v1/messages/count_tokens', { messages: [{ role: 'user', content: 'ab' }] }),
    MESSAGES_FIELDS,
  ],
  ['/v1/generate of the light server', postLight, ['max_new_tokens']],
]

/** Asks for something in every field. */
const LOADED = { any: 'thing' }

describe.each(ROUTES)('%s', (_, post, read) => {
  const unbuilt = [...UNBUILT_FIELDS].filter(([field]) => !read.includes(field))

  it('refuses what would change the answer, and says what it is', async () => {
    for (const [field] of unbuilt) {
      const { status, code, detail } = await post({ [field]: LOADED })
      expect([field, status, code]).toEqual([field, 400, 'unsupported_value'])
      expect(detail).toMatch(
        new RegExp(
          `^${field} must be .+, but was an object: (this route cannot .+|it is called [\\w.]+ here)\\.$`,
        ),
      )
    }
  })

  it('takes values that ask for nothing, all fields at once', async () => {
    const values = unbuilt.map(([field, { neutral }]) => [field, [null, ...neutral]] as const)
    const rounds = Math.max(...values.map(([, { length }]) => length))
    for (let round = 0; round < rounds; round++) {
      const fields = values.map(([field, some]) => [field, some[round % some.length]])
      expect(await post(Object.fromEntries(fields))).toMatchObject({ status: 200 })
    }
  })

  it('ignores what is harmless', async () => {
    const harmless = HARMLESS_FIELDS.filter((name) => !read.includes(name))
    const fields = Object.fromEntries(harmless.map((field) => [field, LOADED]))
    expect(await post(fields)).toMatchObject({ status: 200 })
  })
})

describe('sentences', () => {
  const chat = postFull('/v1/chat/completions', { messages: [{ role: 'user', content: 'ab' }] })
  const generate = postFull('/v1/generate', { prompt: 'ab' })
  const responses = postFull('/v1/responses', { input: 'ab' })
  const completions = postFull('/v1/completions', { prompt: 'ab' })
  const messages = postFull('/v1/messages', {
    max_tokens: 16,
    messages: [{ role: 'user', content: 'ab' }],
  })

  it.each([
    [
      'a constraint',
      postLight,
      { grammar: 'root ::= "x"' },
      'grammar must be "", but was "root ::= \\"x\\"": this route cannot constrain the answer.',
    ],
    [
      'a number',
      generate,
      { n: 2 },
      'n must be 1, but was 2: this route cannot give several answers to a prompt.',
    ],
    [
      'a name of another server',
      generate,
      { max_tokens: 5 },
      'max_tokens must be null, but was 5: it is called max_new_tokens here.',
    ],
    [
      'a name of another route',
      chat,
      { stop_strings: ['x'] },
      'stop_strings must be [], but was an array of 1 item: it is called stop here.',
    ],
    [
      "a name inside another dialect's field",
      responses,
      { reasoning_effort: 'high' },
      'reasoning_effort must be "none", but was "high": it is called reasoning.effort here.',
    ],
    [
      'a constraint by another name',
      messages,
      { response_format: { type: 'json_object' } },
      'response_format must be {"type":"text"}, but was an object: it is called output_config.format here.',
    ],
    [
      'thinking by another name',
      responses,
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      'thinking must be {"type":"disabled"}, but was an object: it is called chat_template_kwargs.enable_thinking here.',
    ],
    [
      "a bound of OpenRouter's",
      chat,
      { reasoning: { max_tokens: 2000 } },
      'reasoning.max_tokens must be null, but was 2000: this route cannot bound how much a model thinks.',
    ],
    [
      "a number of llama-server's",
      completions,
      { n_probs: 3 },
      'n_probs must be 0, but was 3: it is called logprobs here.',
    ],
    [
      'a stream where there is none',
      generate,
      { stream: true },
      'stream must be false, but was true: this route cannot stream.',
    ],
    [
      'a field of a field',
      responses,
      { stream: true, stream_options: { continuous_usage_stats: true } },
      'stream_options.continuous_usage_stats must be false, but was true: this route cannot send usage in every chunk.',
    ],
  ])('%s', async (_, post, fields, detail) => {
    expect(await post(fields)).toEqual({ status: 400, code: 'unsupported_value', detail })
  })
})

describe('names that every object has', () => {
  it.each(['constructor', 'toString', 'hasOwnProperty', '__proto__'])('%s is unknown', async (field) => {
    const { call } = testApp()

    const answer = await call({
      method: 'POST',
      url: '/v1/chat/completions',
      headers: { 'content-type': 'application/json' },
      payload: `{"messages":[{"role":"user","content":"ab"}],"${field}":{"n":2}}`,
    })

    expect(answer.statusCode).toBe(200)
  })
})
