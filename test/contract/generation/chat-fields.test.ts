/** OpenAI's chat fields: what asks for nothing passes, what would change the answer is refused, never ignored. */
import { describe, expect, it } from 'vitest'
import {
  ScriptedEngine,
  sayOk,
  sequenceEnd,
  sequenceStart,
  textDelta,
  piecesOf,
} from '../../support/engines/scripted-engine.ts'
import { createTestApp, createTierAuthenticator } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const URL = '/v1/chat/completions'
const MESSAGES = { messages: [{ role: 'user', content: 'ab' }] }

/** For whatever needs no engine of its own. */
const passthrough = shared(() => createTestApp())

describe('fields that are not built', () => {
  it.each([
    ['best_of', [1], [2, 0, '1']],
    ['functions', [[]], [[{ name: 'f' }]]],
    ['function_call', ['none', 'auto'], [{ name: 'f' }]],
    ['modalities', [['text']], [['text', 'audio']]],
    ['audio', [], [{ voice: 'x' }]],
    ['web_search_options', [], [{}]],
    ['typical_p', [0, 1], [0.5]],
    ['stop_regex', [[], ''], ['x']],
    ['lora', [[]], [[{ id: 0, scale: 1 }]]],
  ])('%s passes neutral values only', async (field, neutral, loaded) => {
    const { post } = passthrough()

    for (const value of [null, ...neutral]) {
      expect([value, (await post(URL, { ...MESSAGES, [field]: value })).statusCode]).toEqual([value, 200])
    }
    for (const value of loaded) {
      const answer = await post(URL, { ...MESSAGES, [field]: value })
      expect([value, answer.statusCode]).toEqual([value, 400])
      expect(answer.headers['x-error-code']).toBe('unsupported_value')
      expect(answer.json().error.param).toBe(field)
      expect(answer.json().detail).toMatch(
        new RegExp(`^${field} must be .*, but was .*: (this route cannot .*|it is called .* here)\\.$`),
      )
    }
  })

  it('names what replaces the fields that OpenAI has deprecated', async () => {
    const { post } = passthrough()
    const sentenceOf = async (body: object) => (await post(URL, { ...MESSAGES, ...body })).json().detail

    expect(await sentenceOf({ functions: [{ name: 'f' }] })).toBe(
      'functions must be [], but was an array of 1 item: it is called tools here.',
    )
    expect(await sentenceOf({ function_call: { name: 'f' } })).toBe(
      'function_call must be "none" or "auto", but was an object: it is called tool_choice here.',
    )
    expect(
      await sentenceOf({ messages: [{ role: 'assistant', content: 'a', function_call: { name: 'f' } }] }),
    ).toBe('messages[0].function_call must be null, but was an object: it is called tool_calls here.')
  })
})

describe('fields that are', () => {
  it('joins text parts', async () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]

    const answer = await passthrough().post(URL, { messages: [{ role: 'user', content }] })

    expect(answer.json().choices[0].message.content).toBe('ab')
  })

  it.each([
    ['image_url', "an image ('image_url'): model 'default' reads text only."],
    ['input_image', "an image ('input_image'): an image is a part of type 'image_url' here."],
    ['document', "a file ('document'): a file is a part of type 'file' here."],
    ['input_audio', "audio ('input_audio'): model 'default' reads text only."],
    ['video_url', "a video ('video_url'): model 'default' reads text only."],
    ['file', "a file ('file'): model 'default' reads text only."],
  ])('names a part that is no text: %s', async (type, problem) => {
    const content = [
      { type: 'text', text: 'a' },
      { type, [type]: { url: 'x' } },
    ]

    const answer = await passthrough().post(URL, { messages: [{ role: 'user', content }] })

    expect(answer.statusCode).toBe(400)
    expect(answer.json().error).toMatchObject({
      message: `messages[0].content[1] must be text, but was ${problem}`,
      param: 'messages[0].content[1]',
      code: 'unsupported_value',
    })
  })

  it.each([
    [{ type: 'toString' }, ".type must be 'text' or 'refusal', but was \"toString\"."],
    [{ text: 'a' }, '.type is required.'],
    ['a', " must be an object of type 'text' or 'refusal', but was \"a\"."],
    [null, " must be an object of type 'text' or 'refusal', but was null."],
    [{ type: 'text', text: 5 }, '.text must be a string, but was 5.'],
  ])('refuses a part of no known type by its name: %j', async (part, problem) => {
    const content = [{ type: 'text', text: 'a' }, part]
    const answer = await passthrough().post(URL, { messages: [{ role: 'user', content }] })

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toBe(`messages[0].content[1]${problem}`)
  })

  it('refuses content that is neither text nor parts', async () => {
    const answer = await passthrough().post(URL, { messages: [{ role: 'user', content: 5 }] })

    expect(answer.json().detail).toBe(
      'messages[0].content must be a string (or an array of text parts), but was 5.',
    )
  })

  it.each([
    [{ content: null, refusal: 'no' }, 'no'],
    [{ content: [{ type: 'refusal', refusal: 'no' }] }, 'no'],
    [{ content: 'yes', refusal: null }, 'yes'],
    [{ content: null, reasoning_content: 'hm' }, ''],
  ])('reads what an assistant said or declined elsewhere: %j', async (said, content) => {
    const chatTemplate = "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }} {% endfor %}"
    const engine = new ScriptedEngine(sayOk, { chatTemplate })
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', ...said },
    ]

    const answer = await createTestApp({ engine }).post(URL, { messages })

    expect(answer.statusCode).toBe(200)
    expect(piecesOf(engine.requests[0]?.prompts[0]).join('')).toBe(`[user] hi [assistant] ${content} `)
  })

  it('takes the role developer for system', async () => {
    const chatTemplate = "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }} {% endfor %}"
    const engine = new ScriptedEngine(sayOk, { chatTemplate })
    const messages = [
      { role: 'developer', content: 'be brief' },
      { role: 'user', content: 'hi' },
    ]

    await createTestApp({ engine }).post(URL, { messages })

    expect(piecesOf(engine.requests[0]?.prompts[0]).join('')).toBe('[system] be brief [user] hi ')
  })

  it.each([
    { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'none' },
    { functions: [{ name: 'f' }], function_call: 'none' },
  ])('takes tools that it is told not to call: %j', async (fields) => {
    expect((await passthrough().post(URL, { ...MESSAGES, ...fields })).statusCode).toBe(200)
  })

  it('takes top_k -1 for none', async () => {
    const engine = new ScriptedEngine(sayOk)
    const { post } = createTestApp({ engine })

    await post(URL, { ...MESSAGES, top_k: -1 })
    await post('/v1/generate', { prompt: 'a', top_k: -1 })
    await post('/v1/generate/batch', { prompts: ['a'], top_k: -1 })

    expect(engine.requests.map(({ options }) => options.sampling.topK)).toEqual([0, 0, 0])
  })

  it('stops at one string as at a list of them', async () => {
    const { post } = passthrough()
    const messages = [{ role: 'user', content: 'one two' }]

    for (const stop of [' ', [' ']]) {
      expect((await post(URL, { messages, stop })).json().choices[0].message.content).toBe('one')
    }
  })

  it('takes max_completion_tokens for max_tokens', async () => {
    const { post } = passthrough()

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

  it.each([
    [URL, MESSAGES],
    ['/v1/generate', { prompt: 'a' }],
    ['/v1/generate/batch', { prompts: ['a'] }],
  ])('hands the engine the sampling options of other servers: %s', async (url, base) => {
    const engine = new ScriptedEngine(sayOk)
    const { post } = createTestApp({ engine })

    await post(url, {
      ...base,
      min_p: 0.1,
      presence_penalty: 0.5,
      frequency_penalty: -1,
      logit_bias: { 7: -100, 3: 2 },
    })

    const asked = {
      minP: 0.1,
      presencePenalty: 0.5,
      frequencyPenalty: -1,
      logitBias: [
        [3, 2],
        [7, -100],
      ],
    }
    expect(engine.requests[0]?.options.sampling).toMatchObject(asked)
  })

  it.each([
    [URL, MESSAGES],
    ['/v1/generate', { prompt: 'a' }],
    ['/v1/generate/continuous-batch', { prompts: ['a'] }],
  ])('hands the engine where an answer may end: %s', async (url, base) => {
    const engine = new ScriptedEngine(sayOk)
    const { post } = createTestApp({ engine })

    await post(url, { ...base, min_tokens: 3 })
    await post(url, { ...base, ignore_eos: true, stop_token_ids: [7, 9] })
    await post(url, { ...base, min_tokens: 0, ignore_eos: null, stop_token_ids: [] })

    expect(engine.requests.map(({ options }) => options.endRules)).toEqual([
      { minTokens: 3, ignoresEndTokens: false, stopTokenIds: [] },
      { minTokens: 0, ignoresEndTokens: true, stopTokenIds: [7, 9] },
      undefined,
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

describe('max_tokens above what is allowed', () => {
  /** Starts with a prompt of 96 tokens in a context of 4096. */
  const startLong = () =>
    new ScriptedEngine(async function* () {
      yield sequenceStart(0, 96)
      yield textDelta('ok', [1])
      yield sequenceEnd('length')
    })

  it.each([
    ['enterprise', 32_000, 4000],
    ['enterprise', 4001, 4000],
    ['enterprise', 4000, undefined],
    ['pro', 8192, 4000],
    ['free', 4000, 2048],
    ['free', 1e20, 2048],
    ['free', 2048, undefined],
  ] as const)('is lowered: tier %s asks for %d and gets %s', async (tier, asked, applied) => {
    const authenticator = createTierAuthenticator(tier)

    for (const fields of [
      { max_tokens: asked },
      { max_completion_tokens: asked },
      { max_tokens: asked, stream: true },
    ]) {
      const { post } = createTestApp({ engine: startLong(), authenticator })
      const answer = await post(URL, { ...MESSAGES, ...fields })
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['x-max-tokens-applied']).toBe(applied?.toString())
    }
  })

  it('is lowered to one token where the prompt fills the context', async () => {
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart(0, 4096)
      yield textDelta('a', [1])
      yield sequenceEnd('length')
    })

    const answer = await createTestApp({ engine }).post(URL, { ...MESSAGES, max_tokens: 5 })

    expect(answer.headers['x-max-tokens-applied']).toBe('1')
  })

  it('changes nothing for max_new_tokens, which ends with the context and without a header', async () => {
    const answer = await createTestApp({ engine: startLong() }).post('/v1/generate', {
      prompt: 'a',
      max_new_tokens: 4096,
    })

    expect(answer.headers['x-max-tokens-applied']).toBeUndefined()
  })
})

describe('a chat that names no number of tokens', () => {
  it.each([
    [256, 'enterprise', 256, undefined],
    [1000, 'enterprise', 1000, undefined],
    [4000, 'free', 2048, '2048'],
    ['context', 'enterprise', 8192, undefined],
    ['context', 'free', 2048, undefined],
  ] as const)('gets the default %s: tier %s, %i tokens', async (defaultMaxTokens, tier, applied, header) => {
    const engine = new ScriptedEngine(sayOk)
    const { post } = createTestApp({
      engine,
      defaultMaxTokens,
      authenticator: createTierAuthenticator(tier),
    })

    const answer = await post(URL, { ...MESSAGES, max_tokens: null })

    expect(engine.requests[0]?.options.maxNewTokens).toBe(applied)
    expect(answer.headers['x-max-tokens-applied']).toBe(header)
  })
})
