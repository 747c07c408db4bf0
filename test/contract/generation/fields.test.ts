/** Every bound of every field: the lowest and highest value pass, what lies outside or has another type is 400. */
import { describe, expect, it } from 'vitest'
import { createTestApp } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const testApp = shared(() => createTestApp())

interface Row {
  readonly field: string
  readonly good: readonly unknown[]
  /** Values with what the sentence says of them. */
  readonly bad: readonly (readonly [value: unknown, shown: string])[]
  readonly rule: string
}

const TRUE_OR_FALSE_BAD = [
  [0, '0'],
  ['true', '"true"'],
] as const

const TOP_P: Row = {
  field: 'top_p',
  good: [0, 0.5, 1],
  bad: [
    [-0.01, '-0.01'],
    [1.01, '1.01'],
    ['1', '"1"'],
  ],
  rule: 'a number between 0 and 1',
}

const TOP_K: Row = {
  field: 'top_k',
  good: [-1, 0, 1, 50, 2_147_483_647],
  bad: [
    [-2, '-2'],
    [1.5, '1.5'],
    ['1', '"1"'],
    [2_147_483_648, '2147483648'],
  ],
  rule: 'an integer between -1 and 2147483647',
}

const PRIORITY: Row = {
  field: 'priority',
  good: [-100, 0, 100],
  bad: [
    [-101, '-101'],
    [101, '101'],
    [0.5, '0.5'],
    ['high', '"high"'],
  ],
  rule: 'an integer between -100 and 100',
}

const SEED: Row = {
  field: 'seed',
  good: [null, 0, 42, -1, Number.MAX_SAFE_INTEGER, 2 ** 63 - 1, -(2 ** 63)],
  bad: [
    [1.5, '1.5'],
    ['42', '"42"'],
    [1e19, '10000000000000000000'],
  ],
  rule: 'an integer between -9223372036854776000 and 9223372036854776000',
}

const REPETITION_PENALTY: Row = {
  field: 'repetition_penalty',
  good: [0, 1, 1.2, 10],
  bad: [
    [-0.1, '-0.1'],
    [10.1, '10.1'],
    [[], 'an array of 0 items'],
  ],
  rule: 'a number between 0 and 10',
}

const PENALTY: Omit<Row, 'field'> = {
  good: [null, 0, -2, 0.5, 2],
  bad: [
    [-2.01, '-2.01'],
    [2.01, '2.01'],
    ['1', '"1"'],
    [true, 'true'],
  ],
  rule: 'a number between -2 and 2',
}

/** The same on all routes. */
const SAMPLING_ROWS: readonly Row[] = [
  {
    field: 'min_p',
    good: [null, 0, 0.05, 1],
    bad: [
      [-0.01, '-0.01'],
      [1.01, '1.01'],
      ['0.1', '"0.1"'],
    ],
    rule: 'a number between 0 and 1',
  },
  { field: 'presence_penalty', ...PENALTY },
  { field: 'frequency_penalty', ...PENALTY },
  {
    field: 'logit_bias',
    good: [null, {}, [], { 0: -100, 255: 100 }, Object.fromEntries(Array(256).fill(0).entries())],
    bad: [
      [1, '1'],
      ['65', '"65"'],
      [[[65, 1]], 'an array of 1 item'],
    ],
    rule: 'an object of at most 300 token ids, each with a number',
  },
  {
    field: 'min_tokens',
    good: [null, 0, 1, 256],
    bad: [
      [-1, '-1'],
      [0.5, '0.5'],
      ['1', '"1"'],
    ],
    rule: 'an integer of at least 0',
  },
  { field: 'ignore_eos', good: [null, true, false], bad: TRUE_OR_FALSE_BAD, rule: 'true or false' },
  {
    field: 'stop_token_ids',
    good: [null, [], [0, 255], Array(64).fill(1)],
    bad: [
      [7, '7'],
      [Array(65).fill(1), 'an array of 65 items'],
    ],
    rule: 'an array of 0 to 64 token ids',
  },
]

const GENERATE_ROWS: readonly Row[] = [
  ...SAMPLING_ROWS,
  {
    field: 'max_new_tokens',
    good: [1, 4096],
    bad: [
      [0, '0'],
      [4097, '4097'],
      [1.5, '1.5'],
      ['10', '"10"'],
      [null, 'null'],
      [true, 'true'],
    ],
    rule: 'an integer between 1 and 4096',
  },
  { field: 'do_sample', good: [true, false], bad: TRUE_OR_FALSE_BAD, rule: 'true or false' },
  {
    field: 'temperature',
    good: [0.01, 1, 5],
    bad: [
      [0, '0'],
      [0.009, '0.009'],
      [9, '9'],
      ['hot', '"hot"'],
      [{}, 'an object'],
      [null, 'null'],
    ],
    rule: 'a number between 0.01 and 5',
  },
  TOP_K,
  TOP_P,
  REPETITION_PENALTY,
  {
    field: 'num_beams',
    good: [1, 8],
    bad: [
      [0, '0'],
      [9, '9'],
      [2.5, '2.5'],
    ],
    rule: 'an integer between 1 and 8',
  },
  {
    field: 'stop_strings',
    good: [null, [], ['x'], Array(16).fill('x'), ['😀'.repeat(256)]],
    bad: [
      ['x', '"x"'],
      [Array(17).fill('x'), 'an array of 17 items'],
    ],
    rule: 'an array of 0 to 16 strings',
  },
  {
    field: 'model',
    good: [null, 'default'],
    bad: [
      [7, '7'],
      [['default'], 'an array of 1 item'],
    ],
    rule: 'a string of 0 to 1024 characters',
  },
  SEED,
  PRIORITY,
]

const CHAT_ROWS: readonly Row[] = [
  {
    field: 'n',
    good: [null, 1, 2, 64],
    bad: [
      [0, '0'],
      [65, '65'],
      [1.5, '1.5'],
      ['2', '"2"'],
    ],
    rule: 'an integer between 1 and 64',
  },
  ...SAMPLING_ROWS,
  {
    field: 'max_tokens',
    good: [null, 1, 8192, 32_000, 1e20],
    bad: [
      [0, '0'],
      [-1, '-1'],
      [1.5, '1.5'],
      ['10', '"10"'],
    ],
    rule: 'an integer of at least 1',
  },
  {
    field: 'max_completion_tokens',
    good: [null, 1, 8192, 32_000],
    bad: [
      [0, '0'],
      [-1, '-1'],
      [1.5, '1.5'],
    ],
    rule: 'an integer of at least 1',
  },
  {
    field: 'temperature',
    good: [null, 0, 5],
    bad: [
      [-0.1, '-0.1'],
      [5.1, '5.1'],
      ['hot', '"hot"'],
    ],
    rule: 'a number between 0 and 5',
  },
  { ...TOP_K, good: [null, ...TOP_K.good] },
  { ...TOP_P, good: [null, ...TOP_P.good] },
  { ...REPETITION_PENALTY, good: [null, ...REPETITION_PENALTY.good] },
  { field: 'stream', good: [null, false], bad: TRUE_OR_FALSE_BAD, rule: 'true or false' },
  {
    field: 'stop',
    good: [null, 'x', [], ['x'], Array(16).fill('x')],
    bad: [
      [7, '7'],
      [Array(17).fill('x'), 'an array of 17 items'],
    ],
    rule: 'a',
  },
  SEED,
  { ...PRIORITY, good: [null, ...PRIORITY.good] },
  { field: 'model', good: [null, 'default'], bad: [[7, '7']], rule: 'a string of 0 to 1024 characters' },
]

const PROMPT = { prompt: 'ab' }
const PROMPTS = { prompts: ['ab'] }
const MESSAGES = { messages: [{ role: 'user', content: 'ab' }] }

const ROUTES = [
  { url: '/v1/generate', base: PROMPT, rows: GENERATE_ROWS },
  {
    url: '/v1/generate/stream',
    base: PROMPT,
    rows: GENERATE_ROWS.map((row) => (row.field === 'num_beams' ? { ...row, good: [1] } : row)),
  },
  { url: '/v1/generate/batch', base: PROMPTS, rows: GENERATE_ROWS },
  { url: '/v1/generate/continuous-batch', base: PROMPTS, rows: GENERATE_ROWS },
  { url: '/v1/chat/completions', base: MESSAGES, rows: CHAT_ROWS },
]

describe.each(ROUTES)('POST $url', ({ url, base, rows }) => {
  it.each(rows)('checks $field', async ({ field, good, bad, rule }) => {
    const { post } = testApp()

    for (const value of good) {
      const answer = await post(url, { ...base, [field]: value })
      expect([value, answer.statusCode]).toEqual([value, 200])
    }
    for (const [value, shown] of bad) {
      const answer = await post(url, { ...base, [field]: value })
      expect([value, answer.statusCode]).toEqual([value, 400])
      expect(answer.headers['x-error-code']).toBe('invalid_request')
      const { detail } = answer.json<{ detail: string }>()
      expect(detail).toContain(`${field} must be ${rule}`)
      expect(detail.endsWith(`, but was ${shown}.`)).toBe(true)
    }
  })

  it('ignores fields nobody knows', async () => {
    const body = JSON.stringify({ ...base, unknown: { deep: [1] } }).replace(
      '{',
      '{"__proto__":{"prompt":1},',
    )
    const { call } = testApp()

    const answer = await call({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      payload: body,
    })

    expect(answer.statusCode).toBe(200)
  })

  it('refuses a number too large for JSON numbers', async () => {
    const field = url.includes('chat') ? 'max_tokens' : 'max_new_tokens'
    const payload = JSON.stringify(base).replace('{', `{"${field}":1e999,`)
    const { call } = testApp()

    const answer = await call({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      payload,
    })

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toMatch(/, but was Infinity\.$/)
  })

  it.each([
    ['null', null],
    ['an array', []],
    ['a string', 'prompt'],
    ['a number', 1],
  ])('refuses %s as a body', async (_, body) => {
    const { call } = testApp()
    const payload = JSON.stringify(body)

    const answer = await call({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      payload,
    })

    expect(answer.statusCode).toBe(400)
  })
})

describe('required fields', () => {
  it.each([
    ['/v1/generate', 'prompt'],
    ['/v1/generate/stream', 'prompt'],
    ['/v1/generate/batch', 'prompts'],
    ['/v1/generate/continuous-batch', 'prompts'],
    ['/v1/chat/completions', 'messages'],
  ])('%s without %s, or without a body, names it', async (url, field) => {
    const { post, call } = testApp()

    for (const answer of [await post(url, {}), await call({ method: 'POST', url })]) {
      expect(answer.statusCode).toBe(400)
      expect(answer.json().detail).toBe(`${field} is required.`)
    }
  })
})

describe('sentences', () => {
  it.each([
    [
      '/v1/chat/completions',
      { ...MESSAGES, logit_bias: Object.fromEntries(Array(301).fill(0).entries()) },
      'logit_bias must be an object of at most 300 token ids, each with a number, but has 301.',
    ],
    [
      '/v1/chat/completions',
      { ...MESSAGES, logit_bias: { 65: 1, '6.5': 1 } },
      'logit_bias must have token ids as keys, but has "6.5".',
    ],
    [
      '/v1/chat/completions',
      { ...MESSAGES, logit_bias: { 65: 101 } },
      'logit_bias.65 must be a number between -100 and 100, but was 101.',
    ],
    [
      '/v1/generate',
      { prompt: 'a', logit_bias: { 65: 1, 256: 1 } },
      "logit_bias must hold token ids between 0 and 255, those of model 'default', but has 256.",
    ],
    [
      '/v1/chat/completions',
      { ...MESSAGES, stop_token_ids: [255, 256] },
      "stop_token_ids must hold token ids between 0 and 255, those of model 'default', but has 256.",
    ],
    [
      '/v1/generate',
      { prompt: 'a', stop_token_ids: [1, -1] },
      'stop_token_ids[1] must be an integer between 0 and 2147483647, but was -1.',
    ],
    [
      '/v1/generate/batch',
      { prompts: ['a'], max_new_tokens: 5, min_tokens: 6 },
      'min_tokens must be at most 5, the tokens of the whole answer, but was 6.',
    ],
    [
      '/v1/chat/completions',
      { ...MESSAGES, min_tokens: 257 },
      'min_tokens must be at most 256, the tokens of the whole answer, but was 257.',
    ],
    ['/v1/generate', { prompt: 1 }, 'prompt must be a string, but was 1.'],
    ['/v1/generate', { prompt: null }, 'prompt must be a string, but was null.'],
    ['/v1/generate', { prompt: ['a'] }, 'prompt must be a string, but was an array of 1 item.'],
    [
      '/v1/generate',
      { prompt: 'a', stop_strings: ['x', ''] },
      'stop_strings[1] must be a string of 1 to 256 characters, but was "".',
    ],
    [
      '/v1/generate',
      { prompt: 'a', stop_strings: ['x'.repeat(257)] },
      `stop_strings[0] must be a string of 1 to 256 characters, but was "${'x'.repeat(64)}…".`,
    ],
    ['/v1/generate/stream', { prompt: 'a', num_beams: 2 }, 'num_beams must be 1 on a stream, but was 2.'],
    [
      '/v1/generate/batch',
      { prompts: [] },
      'prompts must be an array of 1 to 64 strings, but was an array of 0 items.',
    ],
    [
      '/v1/generate/batch',
      { prompts: Array(65).fill('a') },
      'prompts must be an array of 1 to 64 strings, but was an array of 65 items.',
    ],
    ['/v1/generate/batch', { prompts: 'a' }, 'prompts must be an array of 1 to 64 strings, but was "a".'],
    ['/v1/generate/batch', { prompts: ['a', 7] }, 'prompts[1] must be a string, but was 7.'],
    [
      '/v1/chat/completions',
      { messages: [] },
      'messages must be an array of at least 1 message, but was an array of 0 items.',
    ],
    [
      '/v1/chat/completions',
      { messages: [{ role: 'function', content: 'a' }] },
      "messages[0].role must be 'system', 'developer', 'user', 'assistant' or 'tool', but was \"function\".",
    ],
    ['/v1/chat/completions', { messages: [{ role: 'user' }] }, 'messages[0].content is required.'],
    [
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: null }] },
      'messages[0].content must be a string (or an array of text parts), but was null.',
    ],
    [
      '/v1/chat/completions',
      { messages: ['hi'] },
      'messages[0] must be an object with role and content, but was "hi".',
    ],
    [
      '/v1/chat/completions',
      { ...MESSAGES, stop: '' },
      'stop[0] must be a string of 1 to 256 characters, but was "".',
    ],
    [
      '/v1/chat/completions',
      { ...MESSAGES, stream_options: true },
      'stream_options must be an object, but was true.',
    ],
    [
      '/v1/chat/completions',
      { ...MESSAGES, max_tokens: 5, max_completion_tokens: 6 },
      'max_completion_tokens must be the same as max_tokens (5) where both are given, but was 6.',
    ],
  ])('%s %j', async (url, body, detail) => {
    const answer = await testApp().post(url, body)

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toBe(detail)
  })

  it("name the field in OpenAI's error object too", async () => {
    const answer = await testApp().post('/v1/chat/completions', { ...MESSAGES, temperature: 9 })

    expect(answer.json()).toEqual({
      detail: 'temperature must be a number between 0 and 5, but was 9.',
      error: {
        message: 'temperature must be a number between 0 and 5, but was 9.',
        type: 'invalid_request_error',
        param: 'temperature',
        code: 'invalid_request',
      },
    })
  })
})

describe('Unicode', () => {
  it.each([
    ['/v1/generate', '{"prompt":"a\\ud800"}', 'prompt'],
    ['/v1/generate', '{"prompt":"a","stop_strings":["\\udc00"]}', 'stop_strings[0]'],
    ['/v1/generate/batch', '{"prompts":["a","\\ud83d"]}', 'prompts[1]'],
    ['/v1/chat/completions', '{"messages":[{"role":"user","content":"\\ud800"}]}', 'messages[0].content'],
  ])('%s refuses a lone surrogate', async (url, payload, field) => {
    const { call } = testApp()

    const answer = await call({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      payload,
    })

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toBe(`${field} must be valid Unicode, but has a lone surrogate in it.`)
  })

  it('takes a surrogate pair written as escapes', async () => {
    const { call } = testApp()
    const headers = { 'content-type': 'application/json' }

    const answer = await call({
      method: 'POST',
      url: '/v1/generate',
      headers,
      payload: '{"prompt":"\\ud83d\\ude00"}',
    })

    expect(answer.json().generated_text).toBe('😀')
  })
})

describe('JSON', () => {
  it('takes 1.0 for an integer and the last of two equal keys', async () => {
    const { call } = testApp()
    const payload = '{"prompt":"first","max_new_tokens":2.0,"prompt":"second"}'
    const headers = { 'content-type': 'application/json; charset=utf-8' }

    const answer = await call({ method: 'POST', url: '/v1/generate', headers, payload })

    expect(answer.json()).toMatchObject({ generated_text: 'se' })
  })
})
