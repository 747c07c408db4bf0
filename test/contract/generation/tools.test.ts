/** Tools in `/v1/chat/completions`, whole loops with OpenAI's client: a tool is called, its result goes back, an answer follows. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { chatChunk } from '../../../src/api/dialects/openai-chat/schema.ts'
import { ServiceError } from '../../../src/core/errors.ts'
import type { EngineRequest } from '../../../src/protocol/engine.ts'
import type { ModelInfo } from '../../../src/protocol/model-info.ts'
import {
  piecesOf,
  ScriptedEngine,
  sequenceEnd,
  sequenceStart,
  textDelta,
} from '../../support/engines/scripted-engine.ts'
import { createTestApp, KEY, type TestApp } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const URL = '/v1/chat/completions'

interface Reference {
  readonly templates: readonly { readonly name: string; readonly template: string }[]
}

/** Published ones. */
const { templates }: Reference = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../model/reference/chat-templates.json'), 'utf8'),
)
const templateOf = (name: string): string => templates.find((one) => one.name === name)?.template ?? ''

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const TOOLS = [
  {
    type: 'function' as const,
    function: { name: 'get_weather', description: 'Weather.', parameters: PARAMETERS, strict: true },
  },
]
const ASKED = { role: 'user' as const, content: 'Weather in Köln?' }
const ARGUMENTS = '{"city": "Köln"}'
const HERMES_CALL = `<tool_call>\n{"name": "get_weather", "arguments": ${ARGUMENTS}}\n</tool_call>`

/** An engine that calls a tool until it sees the result. */
function createCaller(call: string, info: Partial<ModelInfo> = {}, pieceLength = 3): ScriptedEngine {
  return new ScriptedEngine(async function* (request) {
    const prompt = promptOf(request)
    const text = prompt.includes('grey') ? 'It is grey.' : call
    yield sequenceStart()
    for (let i = 0; i < text.length; i += pieceLength) yield textDelta(text.slice(i, i + pieceLength), [i])
    yield sequenceEnd('stop')
  }, info)
}

const promptOf = (request?: EngineRequest): string => piecesOf(request?.prompts[0]).join('')

async function createClient(app: TestApp): Promise<OpenAI> {
  return new OpenAI({ baseURL: `http://127.0.0.1:${await app.listen()}/v1`, apiKey: KEY, maxRetries: 0 })
}

/** One server for tests that look at what the engine was asked last. */
const qwen3 = shared(() => {
  const engine = createCaller('x', { chatTemplate: templateOf('qwen3'), canConstrain: true })
  return { engine, app: createTestApp({ engine }) }
})
const passthrough = shared(() => createTestApp())

const FAMILIES: readonly (readonly [string, string, Partial<ModelInfo>])[] = [
  ['Qwen', HERMES_CALL, { chatTemplate: templateOf('qwen2.5') }],
  ['Llama', `{"name": "get_weather", "parameters": ${ARGUMENTS}}`, { chatTemplate: templateOf('llama-3.2') }],
  [
    'Mistral',
    `[TOOL_CALLS] [{"name": "get_weather", "arguments": ${ARGUMENTS}}]`,
    { chatTemplate: templateOf('mistral-7b-v0.3'), specialTexts: ['[TOOL_CALLS]', '[INST]', '[/INST]'] },
  ],
  [
    'Gemma',
    `\`\`\`json\n{"name": "get_weather", "parameters": ${ARGUMENTS}}\n\`\`\``,
    { chatTemplate: templateOf('gemma-3') },
  ],
  [
    'Gemma 4',
    '<|tool_call>call:get_weather{city:<|"|>Köln<|"|>}<tool_call|>',
    { chatTemplate: templateOf('gemma-4'), specialTexts: ['<|tool_call>', '<tool_call|>', '<|"|>'] },
  ],
  [
    'DeepSeek',
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>${ARGUMENTS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    { chatTemplate: templateOf('deepseek-v3.1') },
  ],
  [
    'Phi-4-mini',
    `<|tool_call|>{"name": "get_weather", "arguments": ${ARGUMENTS}}<|/tool_call|>`,
    { chatTemplate: templateOf('phi-4-mini') },
  ],
  [
    'Qwen3-Coder',
    '<tool_call>\n<function=get_weather>\n<parameter=city>\nKöln\n</parameter>\n</function>\n</tool_call>',
    { chatTemplate: templateOf('qwen3-coder') },
  ],
  [
    'a model without tools',
    `<tool_call>{"name": "get_weather", "arguments": ${ARGUMENTS}}</tool_call>`,
    { chatTemplate: null },
  ],
]

describe.each(FAMILIES)('an agent over %s', (_, call, info) => {
  const sharedClient = shared(() => createClient(createTestApp({ engine: createCaller(call, info) })))

  it('calls a tool, sends its result back, and gets an answer', async () => {
    const client = sharedClient()
    const messages: OpenAI.ChatCompletionMessageParam[] = [ASKED]

    const first = (await client.chat.completions.create({ model: 'default', messages, tools: TOOLS }))
      .choices[0]
    expect(first?.finish_reason).toBe('tool_calls')
    expect(first?.message).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: expect.stringMatching(/^call_[0-9a-f]{24}$/),
          type: 'function',
          function: { name: 'get_weather', arguments: ARGUMENTS },
        },
      ],
    })

    if (first) messages.push(first.message)
    const toolCallId = first?.message.tool_calls?.[0]?.id ?? ''
    messages.push({ role: 'tool', tool_call_id: toolCallId, content: 'grey' })
    const second = await client.chat.completions.create({ model: 'default', messages, tools: TOOLS })
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'It is grey.' } })
  })

  it('runs the same loop on a stream', async () => {
    const client = sharedClient()
    const runner = client.chat.completions.runTools({
      model: 'default',
      stream: true,
      messages: [ASKED],
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'Weather.',
            parameters: PARAMETERS,
            parse: JSON.parse,
            function: ({ city }: { city: string }) => (city === 'Köln' ? 'grey' : 'unknown'),
          },
        },
      ],
    })

    expect(await runner.finalContent()).toBe('It is grey.')
    expect(runner.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })
})

describe('a stream', () => {
  it('gives the name of a call first, then its arguments as they come', async () => {
    const app = createTestApp({
      engine: createCaller(`Well.\n${HERMES_CALL}`, { chatTemplate: templateOf('qwen3') }),
    })
    const client = await createClient(app)
    const stream = await client.chat.completions.create({
      ...{ model: 'default', messages: [ASKED], tools: TOOLS, stream: true },
      stream_options: { include_usage: true },
    })
    const chunks: OpenAI.ChatCompletionChunk[] = []
    for await (const chunk of stream) chunks.push(chunk)
    const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])

    expect(deltas[0]).toEqual({
      ...{ index: 0, id: expect.stringMatching(/^call_/), type: 'function' },
      function: { name: 'get_weather', arguments: '' },
    })
    expect(deltas.length).toBeGreaterThan(3)
    expect(deltas.slice(1).map((delta) => Object.keys(delta))).toEqual(
      deltas.slice(1).map(() => ['index', 'function']),
    )
    expect(deltas.map((delta) => delta.function?.arguments).join('')).toBe(ARGUMENTS)
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Well.')
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls')
    // Each token is counted, also where it is read as a call.
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(Math.ceil(`Well.\n${HERMES_CALL}`.length / 3))
  })

  it.each([
    ['required', null],
    [{ type: 'function', function: { name: 'get_weather' } }, null],
    ['auto', ''],
  ] as const)('with the choice %j begins with the content %j', async (tool_choice, content) => {
    const client = await createClient(
      createTestApp({ engine: createCaller(HERMES_CALL, { chatTemplate: templateOf('qwen3') }) }),
    )
    const asked = { model: 'default', messages: [ASKED], tools: TOOLS, tool_choice, stream: true as const }
    const chunks: OpenAI.ChatCompletionChunk[] = []
    for await (const chunk of await client.chat.completions.create(asked)) chunks.push(chunk)

    for (const chunk of chunks) expect(chatChunk.safeParse(chunk).error).toBeUndefined()
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content })
  })

  it('that is cut short in a call ends with its length', async () => {
    const engine = new ScriptedEngine(
      async function* () {
        yield sequenceStart()
        yield textDelta('<tool_call>{"name": "get_weather", "arguments": {"ci', [1])
        yield sequenceEnd('length')
      },
      { chatTemplate: templateOf('qwen3') },
    )
    const answer = await createTestApp({ engine }).post(URL, { messages: [ASKED], tools: TOOLS })

    expect(answer.json().choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { tool_calls: [{ function: { name: 'get_weather', arguments: '{"ci' } }] },
    })
  })
})

describe('an answer that is cut in front of the name of a call', () => {
  const pieces = ['Let me see.', '\n', '<tool_call>', '\n{"na', 'me": "get_']
  const engine = new ScriptedEngine(
    async function* () {
      yield sequenceStart()
      for (const [id, piece] of pieces.entries()) yield textDelta(piece, [id])
      yield sequenceEnd('length')
    },
    { chatTemplate: templateOf('qwen3') },
  )
  const called = TOOLS.map(({ function: { name, parameters } }) => ({ name, input_schema: parameters }))
  const responded = TOOLS.map(({ type, function: one }) => ({ type, ...one }))

  it.each([
    [URL, { messages: [ASKED], tools: TOOLS }],
    ['/v1/messages', { messages: [ASKED], tools: called, max_tokens: 5 }],
    ['/v1/responses', { input: ASKED.content, tools: responded }],
  ])('has nothing of it in its text, plain and streamed: %s', async (url, body) => {
    const { post } = createTestApp({ engine })
    const plain = await post(url, body)
    const streamed = await post(url, { ...body, stream: true })

    for (const answer of [plain, streamed]) {
      expect(answer.statusCode).toBe(200)
      expect(answer.body).toContain('"Let me see."')
      expect(answer.body).toMatch(/"length"|"max_tokens"|"max_output_tokens"/)
      expect(answer.body).not.toContain('tool_call>')
    }
  })

  it('has no text at all where it had to be a call, plain and streamed', async () => {
    const cut = new ScriptedEngine(
      async function* () {
        yield sequenceStart()
        yield textDelta('<tool_call>\n{"na', [1])
        yield sequenceEnd('length')
      },
      { chatTemplate: templateOf('qwen3') },
    )
    const client = await createClient(createTestApp({ engine: cut }))
    const asked = { model: 'default', messages: [ASKED], tools: TOOLS, tool_choice: 'required' as const }

    const { choices } = await client.chat.completions.create(asked)
    expect(choices[0]).toMatchObject({ finish_reason: 'length', message: { content: null } })
    const deltas: unknown[] = []
    for await (const chunk of await client.chat.completions.create({ ...asked, stream: true }))
      deltas.push(chunk.choices[0]?.delta)
    expect(deltas).toEqual([{ role: 'assistant', content: null }, {}])
  })
})

describe('reasoning', () => {
  const answer = '<think>\nHm, so.\n</think>\n\nHello'

  it('is apart from the answer, and its tokens are counted', async () => {
    const { post } = createTestApp({ engine: createCaller(answer, { chatTemplate: templateOf('qwen3') }) })
    const { choices, usage } = (await post(URL, { messages: [ASKED] })).json()

    expect(choices[0].message).toEqual({
      role: 'assistant',
      content: 'Hello',
      reasoning_content: 'Hm, so.',
    })
    expect(usage.completion_tokens).toBe(Math.ceil(answer.length / 3))
    const answerTokens = Math.ceil('\n\nHello'.length / 3)
    expect(usage.completion_tokens_details.reasoning_tokens).toBeGreaterThan(0)
    expect(usage.completion_tokens_details.reasoning_tokens).toBeLessThanOrEqual(
      usage.completion_tokens - answerTokens,
    )
  })

  it('counts its tokens in all choices, and at the end of a stream the same', async () => {
    const engine = new ScriptedEngine(
      async function* ({ choices = 1 }) {
        for (let index = 0; index < choices; index++) {
          yield sequenceStart(index)
          for (const [id, text] of ['<think>', 'Hm', ', so', '.', '</think>', 'Hello'].entries())
            yield textDelta(text, [id], index)
          yield sequenceEnd('stop', index)
        }
      },
      { chatTemplate: templateOf('qwen3') },
    )
    const { post } = createTestApp({ engine })
    const body = { messages: [ASKED], n: 2 }
    const { usage } = (await post(URL, body)).json()
    const streamed = await post(URL, { ...body, stream: true, stream_options: { include_usage: true } })
    const [last = ''] = streamed.body.split('\n\n').slice(-3)

    expect(usage).toMatchObject({ completion_tokens: 12, completion_tokens_details: { reasoning_tokens: 8 } })
    expect(JSON.parse(last.slice('data: '.length)).usage).toEqual(usage)
  })

  it('is not spoken of where there is none', async () => {
    const { post } = createTestApp({ engine: createCaller('Hello', { chatTemplate: templateOf('qwen3') }) })
    const { usage } = (await post(URL, { messages: [ASKED] })).json()
    expect(usage).not.toHaveProperty('completion_tokens_details')
  })

  it('is streamed apart', async () => {
    const { post } = createTestApp({ engine: createCaller(answer, { chatTemplate: templateOf('qwen3') }) })
    const { body } = await post(URL, { messages: [ASKED], stream: true })
    const deltas = [...body.matchAll(/^data: (\{.*)$/gm)].map(
      ([, json]) => JSON.parse(json ?? '').choices[0].delta,
    )

    expect(deltas.map((delta) => delta.reasoning_content ?? '').join('')).toBe('Hm, so.')
    expect(deltas.map((delta) => delta.content ?? '').join('')).toBe('Hello')
  })

  it('stays text where the template has none', async () => {
    const { post } = createTestApp({ engine: createCaller(answer, { chatTemplate: null }) })
    expect((await post(URL, { messages: [ASKED] })).json().choices[0].message.content).toBe(answer)
  })

  it.each([
    [{ reasoning_effort: 'none' }, /<think>\n\n<\/think>\n\n$/],
    [{ chat_template_kwargs: { enable_thinking: false } }, /<think>\n\n<\/think>\n\n$/],
    [{ reasoning_effort: 'high' }, /assistant\n$/],
    [{ reasoning_effort: 'none', chat_template_kwargs: { enable_thinking: true } }, /assistant\n$/],
    [{ enable_thinking: false }, /<think>\n\n<\/think>\n\n$/],
    [{ think: false }, /<think>\n\n<\/think>\n\n$/],
    [{ thinking: { type: 'disabled' } }, /<think>\n\n<\/think>\n\n$/],
    [{ thinking: { type: 'enabled', budget_tokens: 2000 } }, /assistant\n$/],
    [{ reasoning: { effort: 'none' } }, /<think>\n\n<\/think>\n\n$/],
    [{ reasoning: { enabled: false } }, /<think>\n\n<\/think>\n\n$/],
    [{ reasoning: { effort: 'high' } }, /assistant\n$/],
  ])('is switched by %j', async (fields, end) => {
    const { engine, app } = qwen3()
    expect((await app.post(URL, { messages: [ASKED], ...fields })).statusCode).toBe(200)
    expect(promptOf(engine.requests.at(-1))).toMatch(end)
  })
})

describe('a model with a template of its own for tools', () => {
  const info = {
    chatTemplate: "{% for m in messages %}{{ m.role + ': ' + m.content }}{% endfor %}",
    toolTemplate: templateOf('qwen2.5'),
  }

  it('is asked by it where there are tools, and its calls are read', async () => {
    const engine = createCaller(HERMES_CALL, info)
    const answer = await createTestApp({ engine }).post(URL, { messages: [ASKED], tools: TOOLS })
    expect(promptOf(engine.requests[0])).toContain('<tools>\n{"type": "function"')
    expect(answer.json().choices[0].message.tool_calls[0].function.arguments).toBe(ARGUMENTS)
  })

  it('is asked by the usual one where its own is in no format that is known', async () => {
    const toolTemplate = '{% for tool in tools %}{{ tool }}{% endfor %}'
    const engine = createCaller('It is grey.', { ...info, toolTemplate })
    const answer = await createTestApp({ engine }).post(URL, { messages: [ASKED], tools: TOOLS })
    expect([answer.statusCode, promptOf(engine.requests[0])]).toEqual([
      200,
      expect.stringContaining('user: '),
    ])
  })

  it.each([{}, { tools: TOOLS, tool_choice: 'none' }])(
    'is asked by the usual one with %j',
    async (fields) => {
      const engine = createCaller('It is grey.', info)
      await createTestApp({ engine }).post(URL, { messages: [ASKED], ...fields })
      expect(promptOf(engine.requests[0])).toBe(`user: ${ASKED.content}`)
    },
  )
})

describe('what an engine is asked for', () => {
  const createCalled = (info: Partial<ModelInfo>) => {
    const engine = createCaller('x', { canConstrain: true, ...info })
    return { engine, app: createTestApp({ engine }) }
  }
  const requestOf = async (fields: object, info?: Partial<ModelInfo>) => {
    const { engine, app } = info === undefined ? qwen3() : createCalled(info)
    const answer = await app.post(URL, { messages: [ASKED], tools: TOOLS, ...fields })
    expect([answer.statusCode, answer.json().detail]).toEqual([200, undefined])
    return engine.requests.at(-1)
  }
  const tagOf = async (...of: Parameters<typeof requestOf>) => {
    const constraint = (await requestOf(...of))?.options.constraint
    return constraint?.kind === 'structural-tag' ? JSON.parse(constraint.tag).format : constraint
  }
  const TAG = {
    type: 'tag',
    begin: '<tool_call>\n{"name": "get_weather", "arguments": ',
    content: { type: 'json_schema', json_schema: PARAMETERS, field: 'tools[0].function.parameters' },
    end: '}\n</tool_call>',
  }

  it.each([
    [{}, { at_least_one: false, stop_after_first: false }],
    [
      { tool_choice: 'auto', parallel_tool_calls: false },
      { at_least_one: false, stop_after_first: true },
    ],
  ])('with %j is free up to calls by their schema', async (fields, rules) => {
    expect(await tagOf(fields)).toEqual({
      type: 'triggered_tags',
      triggers: ['<tool_call>'],
      tags: [TAG],
      ...rules,
    })
  })

  it.each([{}, { parameters: null }])(
    'calls a function that describes no arguments without any: %j',
    async (given) => {
      const tools = [{ type: 'function', function: { name: 'now', ...given } }]
      expect((await tagOf({ tools })).tags[0].content.json_schema).toEqual({
        type: 'object',
        properties: {},
        additionalProperties: false,
      })
    },
  )

  it.each(['llama-3.2', 'gemma-3'])('leaves JSON that names no tool alone: %s', async (name) => {
    expect(await tagOf({}, { chatTemplate: templateOf(name) })).toMatchObject({
      type: 'triggered_tags',
      triggers: ['{"name": "get_weather"'],
      tags: [{ begin: '{"name": "get_weather", "parameters": ' }],
    })
  })

  it.each([
    [{ tool_choice: 'required' }, { at_least_one: true, stop_after_first: false }],
    [
      { tool_choice: { type: 'function', function: { name: 'get_weather' } } },
      { at_least_one: true, stop_after_first: true },
    ],
  ])('with %j is calls by their schema and nothing else', async (fields, rules) => {
    const calls = {
      type: 'tags_with_separator',
      tags: [{ ...TAG, begin: '\n{"name": "get_weather", "arguments": ' }],
      separator: '\n<tool_call>',
      ...rules,
    }
    expect(await tagOf(fields)).toEqual({
      type: 'sequence',
      elements: [{ type: 'const_string', value: '<tool_call>' }, calls],
    })
  })

  it('is text alone where no tool may be called', async () => {
    const request = await requestOf({ tool_choice: 'none' })
    expect(request?.options.constraint).toBeUndefined()
    expect(promptOf(request)).not.toContain('get_weather')
  })

  it('holds the reasoning that the prompt has begun', async () => {
    const chatTemplate = `${templateOf('qwen3')}{{ '<think>\\n' }}`
    expect(await tagOf({}, { chatTemplate })).toEqual({
      type: 'sequence',
      elements: [
        { type: 'tag', begin: '', content: { type: 'any_text' }, end: '</think>' },
        expect.objectContaining({ type: 'triggered_tags' }),
      ],
    })
  })

  it('shows control tokens that calls are written with', async () => {
    const specialTexts = ['[TOOL_CALLS]', '[INST]']
    const request = await requestOf({}, { chatTemplate: templateOf('mistral-7b-v0.3'), specialTexts })
    expect(request?.options.shownSpecialTexts).toEqual(['[TOOL_CALLS]'])
  })

  it('is nothing that the model cannot do', async () => {
    const request = await requestOf({}, { chatTemplate: templateOf('qwen3'), canConstrain: false })
    expect(request?.options.constraint).toBeUndefined()
  })

  it('is any object where the schema of a tool that is not strict cannot be kept to', async () => {
    const tags: unknown[] = []
    const engine = new ScriptedEngine(
      async function* ({ options: { constraint } }) {
        const tag = constraint?.kind === 'structural-tag' ? JSON.parse(constraint.tag).format.tags[0] : null
        tags.push(tag.content.json_schema)
        if (tag.content.json_schema.properties !== undefined) {
          throw new ServiceError('constraint_invalid', { field: 'constraint', message: 'x' })
        }
        yield sequenceStart()
        yield sequenceEnd('stop')
      },
      { chatTemplate: templateOf('qwen3'), canConstrain: true },
    )
    const { post } = createTestApp({ engine })
    const loose = TOOLS.map((tool) => ({ ...tool, function: { ...tool.function, strict: false } }))

    expect((await post(URL, { messages: [ASKED], tools: loose })).statusCode).toBe(200)
    expect(tags).toEqual([PARAMETERS, { type: 'object' }])
    const strict = await post(URL, { messages: [ASKED], tools: TOOLS })
    expect([strict.statusCode, strict.json().detail]).toEqual([400, 'tools cannot be compiled: x.'])
  })

  it('is kept to of all tools but those that it cannot be kept to', async () => {
    const offered: unknown[] = []
    const engine = new ScriptedEngine(
      async function* ({ options: { constraint } }) {
        const tags: { content: { json_schema: object } }[] =
          constraint?.kind === 'structural-tag' ? JSON.parse(constraint.tag).format.tags : []
        const schemas = tags.map(({ content }) => content.json_schema)
        offered.push(schemas.map((schema) => 'properties' in schema))
        const bad = [1, 3].find((at) => 'properties' in (schemas[at] ?? {}))
        if (bad !== undefined) {
          const part = `tools[${bad}].function.parameters${bad === 3 ? '.properties.n' : ''}`
          throw new ServiceError('constraint_invalid', { field: part, part, message: 'x' })
        }
        yield sequenceStart()
        yield sequenceEnd('stop')
      },
      { chatTemplate: templateOf('qwen3'), canConstrain: true },
    )
    const { post } = createTestApp({ engine })
    const tools = ['a', 'b', 'c', 'd'].map((name) => ({
      type: 'function',
      function: { name, parameters: PARAMETERS },
    }))

    expect((await post(URL, { messages: [ASKED], tools })).statusCode).toBe(200)
    expect(offered).toEqual([
      [true, true, true, true],
      [true, false, true, true],
      [true, false, true, false],
    ])
  })

  it('is nothing more for a chat without tools', async () => {
    const request = await requestOf({ tools: [] })
    expect(Object.keys(request?.options ?? {})).toEqual(['maxNewTokens', 'sampling', 'stopStrings'])
  })
})

describe('a refused schema', () => {
  const createRefusing = (part?: string) =>
    new ScriptedEngine(
      async function* () {
        yield* []
        const params = {
          field: 'The constraint',
          message: 'at /type: x',
          ...(part !== undefined && { part }),
        }
        throw new ServiceError('constraint_invalid', params)
      },
      { chatTemplate: templateOf('qwen3'), canConstrain: true },
    )

  it.each([
    ['tools[1].function.parameters', 'tools[1].function.parameters'],
    [undefined, 'response_format'],
  ])('is named by the body: %s', async (part, name) => {
    const { post } = createTestApp({ engine: createRefusing(part) })
    const body = { messages: [ASKED], tools: TOOLS, response_format: { type: 'json_object' } }
    const { error } = (await post(URL, body)).json()

    expect([error.message, error.param]).toEqual([`${name} cannot be compiled: at /type: x.`, name])
  })
})

describe('a request that cannot be answered', () => {
  const CALL = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
  it.each([
    [{ tool_choice: 'required' }, "tool_choice must be 'none' or 'auto' where there are no tools."],
    [
      { tools: TOOLS, tool_choice: { type: 'function', function: { name: 'g' } } },
      'tool_choice must name one of the tools, but has "g".',
    ],
    [
      { tools: [{ type: 'function', function: { name: 'a b' } }] },
      'tools[0].function.name must be a name of 1 to 128 letters, digits, underscores, dots and hyphens, but was "a b".',
    ],
    [
      { tools: [{ type: 'web_search' }] },
      'tools[0].type must be \'function\', but was "web_search": this server runs no tools of its own.',
    ],
    [{ tools: [{ name: 'f' }] }, 'tools[0].type is required.'],
    [
      { tools: [{ type: 'custom', custom: { name: 'f' } }] },
      "tools[0].type must be 'function', but was \"custom\": only tools of type 'function' are built.",
    ],
    [
      { tools: [{ type: 'function', name: 'f' }] },
      "tools[0].function is required: a function's fields stand below function here.",
    ],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function is required.'],
    [
      { tools: TOOLS, tool_choice: { type: 'function', name: 'get_weather' } },
      "tool_choice.function is required: a function's fields stand below function here.",
    ],
    [{ tools: TOOLS, tool_choice: { type: 'function' } }, 'tool_choice.function is required.'],
    [
      { tools: TOOLS, tool_choice: { type: 'any' } },
      "tool_choice.type must be 'function' or 'allowed_tools', but was \"any\".",
    ],
    [
      { tools: [{ type: 'web_search' }], tool_choice: 'auto' },
      'tools[0].type must be \'function\', but was "web_search": this server runs no tools of its own.',
    ],
    [
      { messages: [{ role: 'user', content: 'a', tool_calls: [CALL] }] },
      "messages[0].tool_calls must be in a message of the role 'assistant', but was in one of 'user'.",
    ],
    [
      { messages: [{ role: 'assistant', content: null }] },
      'messages[0].content must be a string (or an array of text parts), but was null.',
    ],
    [
      { chat_template_kwargs: { messages: [] } },
      'chat_template_kwargs must not have "messages", which this server sets itself.',
    ],
    [
      { chat_template_kwargs: { chat_template: '{{ messages }}' } },
      'chat_template_kwargs must not have "chat_template", which this server sets itself.',
    ],
    [
      { continue_final_message: true },
      "continue_final_message must be false unless the last message is the assistant's and calls no tool, but was true.",
    ],
    [
      { add_generation_prompt: false },
      "add_generation_prompt must be true unless the last message is the assistant's and calls no tool, but was false.",
    ],
    [
      { continue_final_message: true, add_generation_prompt: true },
      'add_generation_prompt must be false where continue_final_message is true, but was true.',
    ],
    [
      { reasoning_effort: 'most' },
      "reasoning_effort must be 'none', 'minimal', 'low', 'medium', 'high', 'xhigh' or 'max', but was \"most\".",
    ],
  ])('%j', async (fields, detail) => {
    const answer = await passthrough().post(URL, { messages: [ASKED], ...fields })
    expect([answer.statusCode, answer.json().detail]).toEqual([400, detail])
  })
})

describe('tools that are not asked for', () => {
  it.each([[[{ type: 'web_search' }]], ['junk'], [[{ type: 'function' }]], [5]])(
    'may be anything: %j',
    async (tools) => {
      const body = { messages: [ASKED], tools, tool_choice: 'none' }

      expect((await qwen3().app.post(URL, body)).statusCode).toBe(200)
    },
  )
})

describe('a function', () => {
  it('may have a name of 128 characters', async () => {
    const tools = [{ type: 'function', function: { name: 'n'.repeat(128) } }]
    const engine = createCaller('Hello.', { chatTemplate: templateOf('qwen3') })

    expect((await createTestApp({ engine }).post(URL, { messages: [ASKED], tools })).statusCode).toBe(200)
  })
})

describe('the last message of the assistant', () => {
  it.each([{ continue_final_message: true }, { add_generation_prompt: false }])(
    'is continued with %j',
    async (fields) => {
      const engine = createCaller('time.', { chatTemplate: templateOf('qwen2.5') })
      const messages = [ASKED, { role: 'assistant', content: 'Once upon a ' }]
      await createTestApp({ engine }).post(URL, { messages, continue_final_message: false, ...fields })

      expect(promptOf(engine.requests[0])).toMatch(/assistant\nOnce upon a $/)
    },
  )
})
