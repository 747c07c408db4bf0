/** What a body of Anthropic's Messages API asks of a generation, and what of it is refused. */
import { describe, expect, it } from 'vitest'
import { validatorCompiler } from '../../schemas/validator.ts'
import { countRequest, messagesRequest } from './schema.ts'

const USER = { role: 'user', content: 'hello' } as const
const BODY = { model: 'm', max_tokens: 16, messages: [USER] }

const ADD = {
  name: 'add',
  description: 'Adds',
  input_schema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
}
const CALL = { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1 } }
const CALLED = { role: 'assistant', content: [CALL] }
const result = (fields: object = {}) => ({ type: 'tool_result', tool_use_id: 'toolu_1', ...fields })

function read(fields: object) {
  const { data, error } = messagesRequest.safeParse({ ...BODY, ...fields })
  if (data === undefined) throw error
  return data
}

const readInput = (fields: object) => {
  const { input } = read(fields).generation
  if (input.kind !== 'chat') throw new Error('a chat was expected')
  return input
}

const readMessages = (...messages: object[]) => readInput({ messages }).messages

/** The sentence of the answer. */
function refusalOf(fields: object): string {
  const validate = validatorCompiler({ schema: messagesRequest, method: 'POST', url: '', httpPart: 'body' })
  const outcome: unknown = validate({ ...BODY, ...fields })
  if (typeof outcome !== 'object' || outcome === null || !('error' in outcome)) return 'passes'
  return outcome.error instanceof Error ? outcome.error.message : 'no error'
}

describe('a request', () => {
  it('asks for a chat, with the defaults of the API', () => {
    expect(read({})).toEqual({
      isStream: false,
      showsThinking: true,
      generation: {
        modelId: 'm',
        input: {
          kind: 'chat',
          messages: [USER],
          fieldNames: { chat: 'messages', textOf: expect.any(Function) },
          continuesLastMessage: false,
          choices: 1,
        },
        maxNewTokens: 16,
        sampling: { temperature: 1, topK: 0, topP: 1, repetitionPenalty: 1, seed: null },
        stopStrings: [],
        numBeams: 1,
        priority: 0,
      },
    })
  })

  it('says how tokens are chosen and where the text ends', () => {
    const { generation } = read({
      temperature: 0.5,
      top_k: 4,
      top_p: 0.9,
      stop_sequences: ['END'],
      seed: 7,
      min_p: 0.1,
      min_tokens: 2,
      priority: 3,
    })

    expect(generation).toMatchObject({
      sampling: { temperature: 0.5, topK: 4, topP: 0.9, seed: 7, minP: 0.1 },
      stopStrings: ['END'],
      endRules: { minTokens: 2 },
      priority: 3,
    })
  })

  it.each([
    [
      { type: 'enabled', budget_tokens: 2048 },
      { enable_thinking: true, thinking: true, thinking_budget: 2048 },
    ],
    [{ type: 'adaptive' }, { enable_thinking: true, thinking: true }],
    [{ type: 'disabled' }, { enable_thinking: false, thinking: false }],
  ])('to think (%j) is a matter of the template', (thinking, templateArguments) => {
    expect(readInput({ thinking }).templateArguments).toEqual(templateArguments)
  })

  it.each(['summarized', 'updates'])('may have its thinking shown (%s)', (display) => {
    expect(read({ thinking: { type: 'adaptive', display } }).showsThinking).toBe(true)
  })

  it('may leave thinking out of the answer, and say how hard to try', () => {
    const thinking = { type: 'adaptive', display: 'omitted' }
    const { showsThinking, generation } = read({ thinking, output_config: { effort: 'high' } })

    expect(showsThinking).toBe(false)
    expect(generation.input).toMatchObject({ templateArguments: { reasoning_effort: 'high' } })
  })

  it.each(['output_config', 'output_format'])('constrains the answer by %s', (field) => {
    const format = { type: 'json_schema', schema: { type: 'object' } }

    const { generation } = read({ [field]: field === 'output_config' ? { format } : format })

    expect(generation).toMatchObject({
      constraint: { kind: 'json-schema', schema: '{"type":"object"}', isStrict: true },
      constraintField: field === 'output_config' ? 'output_config.format' : field,
    })
  })

  it('brings tools, whichever of them must be called', () => {
    expect(readInput({ tools: [ADD] })).toMatchObject({
      tools: [{ name: 'add', description: 'Adds', parameters: ADD.input_schema, strict: false }],
      toolChoice: 'auto',
      allowsParallelToolCalls: true,
    })
    const chosen = { type: 'tool', name: 'add', disable_parallel_tool_use: true }
    expect(readInput({ tools: [{ ...ADD, strict: true }], tool_choice: chosen })).toMatchObject({
      tools: [{ strict: true }],
      toolChoice: { name: 'add' },
      allowsParallelToolCalls: false,
    })
    expect(readInput({ tools: [ADD], tool_choice: { type: 'any' } }).toolChoice).toBe('required')
    expect(readInput({ tools: [ADD], tool_choice: { type: 'none' } }).toolChoice).toBe('none')
  })

  it('may carry what concerns only Anthropic', () => {
    const cache_control = { type: 'ephemeral', ttl: '5m' }
    const fields = {
      cache_control,
      metadata: { user_id: 'u' },
      service_tier: 'auto',
      inference_geo: 'us',
      speed: 'fast',
      diagnostics: { previous_message_id: null },
      user_profile_id: 'p',
      workspace_id: 'w',
      container: null,
      mcp_servers: [],
      system: [{ type: 'text', text: 'Be brief.', cache_control }],
      tools: [
        { ...ADD, type: 'custom', cache_control, eager_input_streaming: true, allowed_callers: ['direct'] },
      ],
    }

    expect(refusalOf(fields)).toBe('passes')
  })
})

describe('a conversation', () => {
  it('has a system prompt, and may have more of them', () => {
    const blocks = [
      { type: 'text', text: 'Be ' },
      { type: 'text', text: 'brief.' },
    ]
    expect(readInput({ system: 'Be brief.' }).messages).toEqual(readInput({ system: blocks }).messages)
    expect(readInput({ system: blocks }).messages).toEqual([{ role: 'system', content: 'Be brief.' }, USER])
    expect(readInput({ system: '' }).messages).toEqual([USER])
    const later = { role: 'system', content: 'Now in French.' }
    expect(readMessages(USER, later)).toEqual([USER, later])
  })

  it("has an assistant's thoughts and calls, and their results as messages of their own", () => {
    const thought = { type: 'thinking', thinking: 'A sum.', signature: 's' }
    const secret = { type: 'redacted_thinking', data: 'x' }
    const text = { type: 'text', text: 'I add.', citations: null }
    const answers = [
      { type: 'text', text: 'Here:' },
      result({ content: [{ type: 'text', text: '2' }] }),
      result({ content: 'overflow', is_error: true }),
      result(),
      { type: 'text', text: 'And ' },
      { type: 'text', text: 'now?' },
    ]

    const { messages, fieldNames } = readInput({
      messages: [
        USER,
        { role: 'assistant', content: [thought, secret, text, CALL] },
        { role: 'user', content: answers },
      ],
    })

    const tool = { role: 'tool', toolCallId: 'toolu_1', name: 'add' }
    expect(messages).toEqual([
      USER,
      {
        role: 'assistant',
        content: 'I add.',
        reasoning: 'A sum.',
        toolCalls: [{ id: 'toolu_1', name: 'add', arguments: '{"a":1}' }],
      },
      { role: 'user', content: 'Here:' },
      { ...tool, content: '2' },
      { ...tool, content: 'Error: overflow' },
      { ...tool, content: '' },
      { role: 'user', content: 'And now?' },
    ])
    expect([0, 2, 3, 4].map((index) => fieldNames?.textOf(index))).toEqual([
      'messages[0].content',
      'messages[2].content',
      'messages[2].content[1].content',
      'messages[2].content[2].content',
    ])
  })

  it('has documents of text in tags, with what is said about them', () => {
    const letter = { type: 'text', media_type: 'text/plain', data: 'Dear Ada,' }
    const question = { type: 'text', text: 'From whom is it?' }
    const told = { type: 'document', source: letter, title: 'A letter', context: 'Found in 1840' }
    const parts = {
      type: 'content',
      content: [
        { type: 'text', text: 'one, ' },
        { type: 'text', text: 'two' },
      ],
    }
    const whole = { type: 'content', content: 'Yours, Charles' }
    const untitled = [parts, whole].map((source) => ({
      type: 'document',
      source,
      citations: { enabled: false },
    }))

    expect(readMessages({ role: 'user', content: [told, question] })).toEqual([
      {
        role: 'user',
        content:
          '<document>\n<source>A letter</source>\n<context>Found in 1840</context>\n' +
          '<document_content>\nDear Ada,\n</document_content>\n</document>\nFrom whom is it?',
      },
    ])
    expect(
      readMessages(USER, CALLED, { role: 'user', content: [result({ content: untitled })] }).at(-1),
    ).toEqual({
      role: 'tool',
      toolCallId: 'toolu_1',
      name: 'add',
      content: ['one, two', 'Yours, Charles']
        .map((text) => `<document>\n<document_content>\n${text}\n</document_content>\n</document>\n`)
        .join(''),
    })
  })

  it('keeps files as they are, and the images of a document in their places', () => {
    const file = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' }
    const image = { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } }
    const drawn = { type: 'content', content: [{ type: 'text', text: 'A drawing: ' }, image] }
    const content = [file, drawn].map((source) => ({ type: 'document', source, title: null }))

    expect(readMessages({ role: 'user', content })[0]?.parts).toMatchObject([
      {
        kind: 'media',
        part: { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } },
        place: '[0]',
      },
      { kind: 'text', text: '<document>\n<document_content>\n' },
      { kind: 'text', text: 'A drawing: ' },
      { kind: 'media', part: { type: 'image_url' }, place: '[1]' },
      { kind: 'text', text: '\n</document_content>\n</document>\n' },
    ])
  })

  it('ends with the beginning of the answer where an assistant speaks last', () => {
    const input = readInput({ messages: [USER, { role: 'assistant', content: 'Once ' }] })

    expect(input.messages.at(-1)).toEqual({ role: 'assistant', content: 'Once ' })
    expect(input.continuesLastMessage).toBe(true)
  })

  it('may be empty of words', () => {
    expect(readMessages({ role: 'user', content: [] })).toEqual([{ role: 'user', content: '' }])
  })
})

describe('refused, by name', () => {
  it.each(['output_config.format', 'output_format'])('a schema for an answer that is begun: %s', (field) => {
    const format = { type: 'json_schema', schema: {} }
    const fields = field === 'output_format' ? { output_format: format } : { output_config: { format } }
    const begun = [USER, { role: 'assistant', content: '{"a":' }]

    expect(refusalOf({ ...fields, messages: begun })).toMatch(
      `${field} cannot be given where the last message is the assistant's, whose text the answer goes on with`,
    )
    expect(refusalOf(fields)).toBe('passes')
  })

  it.each([
    ['no length', { max_tokens: undefined }, 'max_tokens is required.'],
    ['a length of nothing', { max_tokens: 0 }, 'max_tokens must be an integer of at least 1, but was 0.'],
    ['a hot model', { temperature: 1.5 }, 'temperature must be a number between 0 and 1, but was 1.5.'],
    [
      'no messages',
      { messages: [] },
      'messages must be an array of at least 1 message, but was an array of 0 items.',
    ],
    [
      'another role',
      { messages: [{ role: 'tool', content: 'x' }] },
      "messages[0].role must be 'user', 'assistant' or 'system', but was \"tool\".",
    ],
    ['no content', { messages: [{ role: 'user' }] }, 'messages[0].content is required.'],
    [
      'content of no kind',
      { messages: [{ role: 'user', content: 5 }] },
      'messages[0].content must be a string (or an array of content blocks), but was 5.',
    ],
    [
      'a block of no kind',
      { messages: [{ role: 'user', content: ['x'] }] },
      "messages[0].content[0] must be an object of type 'text', 'image', 'document' or 'tool_result', but was \"x\".",
    ],
    [
      'half a character',
      { messages: [{ role: 'user', content: '\ud800' }] },
      'messages[0].content must be valid Unicode, but has a lone surrogate in it.',
    ],
    [
      'an image that is stored',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              { type: 'image', source: { type: 'file', file_id: 'file_1' } },
            ],
          },
        ],
      },
      "messages[0].content[1].source.type must be 'base64' or 'url', but was \"file\": nothing is stored here, so send it as base64.",
    ],
    [
      'a document that is stored',
      {
        messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }],
      },
      "messages[0].content[0].source.type must be 'base64', 'text' or 'content', but was \"file\": nothing is stored here, so send it as base64.",
    ],
    [
      'a document of another kind of text',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'document', source: { type: 'text', media_type: 'text/html', data: '' } }],
          },
        ],
      },
      'messages[0].content[0].source.media_type must be \'text/plain\', but was "text/html".',
    ],
    [
      'citations',
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'document',
                source: { type: 'content', content: 'x' },
                citations: { enabled: true },
              },
            ],
          },
        ],
      },
      'messages[0].content[0].citations.enabled must be false, but was true: this server cites no documents.',
    ],
    [
      'a video in a result',
      { messages: [USER, CALLED, { role: 'user', content: [result({ content: [{ type: 'video' }] })] }] },
      "messages[2].content[0].content[0] must be text, but was a video ('video'): this server reads text only.",
    ],
    [
      'a call of a user',
      { messages: [{ role: 'user', content: [CALL] }] },
      "messages[0].content[0].type must be 'text', 'image', 'document' or 'tool_result', but was \"tool_use\".",
    ],
    [
      'a result of nothing',
      { messages: [USER, { role: 'user', content: [result()] }] },
      "messages[1].content[0].tool_use_id must be the id of a tool_use block before it, but was 'toolu_1'.",
    ],
    [
      'a call without a result',
      { messages: [USER, CALLED] },
      'messages[1] must be followed by a message with the results of its tool_use blocks.',
    ],
    [
      'input that is no object',
      { messages: [USER, { role: 'assistant', content: [{ ...CALL, input: '{}' }] }] },
      'messages[1].content[0].input must be an object, but was "{}".',
    ],
    [
      "a tool of Anthropic's",
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      'tools[0].type must be \'custom\', but was "web_search_20250305": this server has no tools of its own.',
    ],
    [
      "a tool whose schema Anthropic's models know",
      { tools: [{ type: 'bash_20250124', name: 'bash' }] },
      "tools[0].type must be 'custom', but was \"bash_20250124\": its schema is known to Anthropic's models only, so give it as a custom tool with input_schema.",
    ],
    [
      "a tool of OpenAI's",
      { tools: [{ type: 'function', function: { name: 'add' } }] },
      'tools[0].type must be \'custom\', but was "function".',
    ],
    [
      'a document elsewhere',
      { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'url', url: 'x' } }] }] },
      "messages[0].content[0].source.type must be 'base64', 'text' or 'content', but was \"url\": this server fetches no documents.",
    ],
    [
      'a result of a search',
      { messages: [{ role: 'user', content: [{ type: 'search_result', source: 'x' }] }] },
      "messages[0].content[0].type must be 'text', 'image', 'document' or 'tool_result', but was \"search_result\": send it as a document of text.",
    ],
    [
      "a call of a tool of Anthropic's",
      { messages: [USER, { role: 'assistant', content: [{ type: 'server_tool_use', id: 's' }] }] },
      "messages[1].content[0].type must be 'text', 'thinking', 'redacted_thinking' or 'tool_use', but was \"server_tool_use\": this server has no tools of its own.",
    ],
    [
      'a tool that is loaded later',
      {
        messages: [
          USER,
          CALLED,
          { role: 'user', content: [result({ content: [{ type: 'tool_reference', tool_name: 'add' }] })] },
        ],
      },
      "messages[2].content[0].content[0].type must be 'text', 'image' or 'document', but was \"tool_reference\": this server loads no tools later.",
    ],
    [
      "an image of OpenAI's",
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
      "messages[0].content[0] must be text, but was an image ('image_url'): an image is a part of type 'image' here.",
    ],
    ['a tool without a schema', { tools: [{ name: 'add' }] }, 'tools[0].input_schema is required.'],
    [
      'a schema of no object',
      { tools: [{ name: 'add', input_schema: { type: 'string' } }] },
      'tools[0].input_schema.type must be \'object\', but was "string".',
    ],
    [
      'examples of a tool',
      { tools: [{ ...ADD, input_examples: [{ a: 1 }] }] },
      'tools[0].input_examples must be [], but was an array of 1 item: this route cannot show a model examples of a call.',
    ],
    [
      'a tool that is not there',
      { tools: [ADD], tool_choice: { type: 'tool', name: 'sub' } },
      'tool_choice must name one of the tools, but has "sub".',
    ],
    [
      'a call without tools',
      { tool_choice: { type: 'any' } },
      "tool_choice must be of type 'auto' or 'none' where there are no tools.",
    ],
    [
      'a choice of no kind',
      { tools: [ADD], tool_choice: { type: 'some' } },
      "tool_choice.type must be 'auto', 'any', 'tool' or 'none', but was \"some\".",
    ],
    [
      'little thought',
      { thinking: { type: 'enabled', budget_tokens: 5 } },
      'thinking.budget_tokens must be an integer of at least 1024, but was 5.',
    ],
    [
      'a format of no kind',
      { output_config: { format: { type: 'regex' } } },
      'output_config.format.type must be \'json_schema\', but was "regex".',
    ],
    [
      'a container',
      { container: 'c' },
      'container must be null, but was "c": this route cannot run code in a container.',
    ],
    [
      'other servers',
      { mcp_servers: [{ type: 'url' }] },
      'mcp_servers must be [], but was an array of 1 item: this route cannot reach other servers.',
    ],
    [
      'a changed conversation',
      { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      'context_management must be {"edits":[]} or {"edits":[{"type":"clear_thinking_20251015","keep":"all"}]} or [], but was an object: this route cannot shorten a conversation by itself.',
    ],
  ])('%s', (_, fields, sentence) => {
    expect(refusalOf(fields)).toBe(sentence)
  })
})

describe('a count', () => {
  it('takes what a message takes, and needs no length', () => {
    const fields = { ...BODY, tools: [ADD], system: 'Be brief.', temperature: 0, stop_sequences: ['x'] }
    const { max_tokens: _, ...withoutLength } = fields

    const counted = countRequest.parse(withoutLength)

    const fieldNames = { chat: 'messages', textOf: expect.any(Function) }
    expect(counted).toEqual({ modelId: 'm', input: { ...readInput(fields), fieldNames } })
    expect(countRequest.safeParse({ ...withoutLength, messages: [USER, CALLED] }).success).toBe(false)
  })
})
