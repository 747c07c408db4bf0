import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Chat, ChatMessage, ToolDefinition } from '../../protocol/chat.ts'
import { planAnswer } from './answer-plan.ts'
import { ChatTemplate, type TemplateModel } from './chat-template.ts'
import { chooseFormat } from './formats/choose-format.ts'

interface Call {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: object }
}

interface Message {
  readonly role: ChatMessage['role']
  readonly content: string
  readonly tool_calls?: readonly Call[]
  readonly tool_call_id?: string
}

interface ReferenceCase {
  readonly messages: readonly Message[]
  readonly text: string
}

interface Reference {
  readonly date: string
  readonly bos_token: string
  readonly eos_token: string
  readonly tools: readonly { readonly function: Omit<ToolDefinition, 'strict'> }[]
  readonly templates: readonly {
    readonly name: string
    readonly template: string
    readonly toolCases?: readonly ReferenceCase[]
    /** Of a template that writes calls, but no tools. */
    readonly callCases?: readonly ReferenceCase[]
  }[]
}

/** Made by `tools/checkpoints/chat_templates.py` with Jinja itself, set up as transformers does. */
const reference: Reference = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../../test/model/reference/chat-templates.json'), 'utf8'),
)
const TOOLS = reference.tools.map(({ function: tool }) => ({ ...tool, strict: false }))
const ARGUMENTS = '{"city": "Köln", "days": 2}'

afterEach(() => void vi.useRealTimers())

function createModel(chatTemplate: string | null, given: Partial<TemplateModel> = {}): TemplateModel {
  const texts = { bosText: reference.bos_token, eosText: reference.eos_token, specialTexts: [] }
  return { modelId: 'm', chatTemplate, ...texts, maxSeqLen: null, toolFormat: 'auto', ...given }
}

function toMessage({ role, content, tool_calls: calls, tool_call_id: toolCallId }: Message): ChatMessage {
  const toolCalls = calls?.map((call) => ({
    id: call.id,
    name: call.function.name,
    arguments: JSON.stringify(call.function.arguments),
  }))
  return { role, content, ...(toolCalls && { toolCalls }), ...(toolCallId !== undefined && { toolCallId }) }
}

function render(model: TemplateModel, chat: Chat): string {
  return new ChatTemplate(model).render(chat).pieces.join('')
}

/** What the model's answer is read as. */
function read(model: TemplateModel, chat: Chat, answer: string): unknown {
  const prompt = new ChatTemplate(model).render(chat)
  const reader = planAnswer(model, { chat, prompt, constraint: null }).createReader?.()
  return [...(reader?.push(answer) ?? []), ...(reader?.end(false) ?? [])]
}

/** Of the second case: its call is what the template adds to what it asks. */
function expectReadCall(model: TemplateModel, cases: readonly ReferenceCase[], given = ARGUMENTS): void {
  const messages = (cases[1]?.messages ?? []).map(toMessage)
  const asked = { messages: messages.slice(0, 1), tools: TOOLS }
  // Gemma 4's template writes that nothing is thought in front of an answer only.
  const before = render(model, asked).replace('<|channel>thought\n<channel|>', '')
  const called = render(model, { messages: messages.slice(0, 2), tools: TOOLS })
  // Mistral's template repeats the tools for the last message of the user only.
  const answer = called.slice(before.length)

  expect(read(model, asked, answer.split(TURN_END)[0] ?? '')).toEqual([
    { type: 'call', name: 'get_weather' },
    { type: 'arguments', text: given },
  ])
}

const TURN_END = /<\|eot_id\|>|<\|im_end\|>|<\/s>|<\|tool_response>|<｜end▁of▁sentence｜>/
const withTools = reference.templates.filter(({ toolCases }) => toolCases !== undefined)

describe.each(withTools)('the published template of $name', ({ template, toolCases = [] }) => {
  const model = createModel(template)

  it('is given tools, calls and results as by transformers', () => {
    vi.useFakeTimers({ now: new Date(reference.date), toFake: ['Date'] })
    for (const { messages, text } of toolCases) {
      expect(render(model, { messages: messages.map(toMessage), tools: TOOLS })).toBe(text)
    }
  })

  it('writes a call that is read as the call that it is', () => {
    expectReadCall(model, toolCases)
  })

  it('makes no special token of what users and tools wrote', () => {
    const specialTexts = ['<|im_end|>', '<|eot_id|>', '[/INST]', '<tool_call>']
    const wild = specialTexts.join('')
    const chat: Chat = {
      messages: [
        { role: 'user', content: wild },
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ id: 'a1B2c3D4e', name: 'f', arguments: JSON.stringify({ [wild]: [wild] }) }],
        },
        { role: 'tool', content: JSON.stringify(wild), toolCallId: 'a1B2c3D4e' },
      ],
      tools: [
        {
          name: 'f',
          description: wild,
          parameters: { type: 'object', properties: { [wild]: { description: wild } } },
          strict: false,
        },
      ],
    }
    const tame = JSON.parse(JSON.stringify(chat).replaceAll(JSON.stringify(wild).slice(1, -1), 'x')) as Chat
    const count = (pieces: readonly string[]): number =>
      pieces.reduce(
        (sum, piece) => sum + (piece.match(/<\|im_end\|>|<\|eot_id\|>|\[\/INST\]|<tool_call>/g) ?? []).length,
        0,
      )
    const render = (one: Chat) => new ChatTemplate(createModel(template, { specialTexts })).render(one)

    expect(count(render(chat).pieces)).toBe(count(render(tame).pieces))
    expect(render(chat).pieces.join('')).toContain(wild)
  })
})

describe('a template that writes calls in a way that is not known', () => {
  it.each([
    ['GLM 4.5', '<tool_call>{{ tools }}<arg_key>'],
    ['Seed-OSS', '<seed:tool_call>{{ tools }}<function=<parameter='],
    ['gpt-oss', '<|channel|>commentary {{ tools }} to=functions.'],
  ])('such as that of %s is given none', (_, chatTemplate) => {
    const { format, written } = chooseFormat({ chatTemplate, toolFormat: 'auto' })
    expect([format.name, written]).toEqual(['json', 'nothing'])
  })
})

describe('a template that writes calls, but no tools', () => {
  const { template = '', callCases = [] } =
    reference.templates.find(({ name }) => name === 'deepseek-v3.1') ?? {}
  const model = createModel(template)

  it('is given calls and results as by transformers', () => {
    for (const { messages, text } of callCases) {
      expect(render(model, { messages: messages.map(toMessage) })).toBe(text)
    }
  })

  it.each([
    ['as objects', template, ARGUMENTS],
    [
      'as text',
      template.replaceAll("['arguments'] | tojson", "['arguments']"),
      ARGUMENTS.replaceAll(': ', ':').replace(', ', ','),
    ],
  ])('writes a call that is read as the call that it is, with arguments %s', (_, own, text) => {
    expectReadCall(createModel(own), callCases, text)
  })

  it('gets tools described in its system text', () => {
    const text = render(model, { messages: [{ role: 'user', content: 'Weather?' }], tools: TOOLS })

    expect(text).toMatch(/^<s>You can call these functions\.[^]*<｜User｜>Weather\?/)
    expect(text).toContain(
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function_name<｜tool▁sep｜>{"argument": "value"}<｜tool▁call▁end｜>',
    )
  })
})

describe('a template that reads tools from the system message', () => {
  const template = reference.templates.find(({ name }) => name === 'phi-4-mini')?.template ?? ''
  const call = { id: 'x', name: 'get_weather', arguments: ARGUMENTS }
  const messages: ChatMessage[] = [
    { role: 'user', content: 'Weather?' },
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'tool', content: 'grey', toolCallId: 'x' },
  ]
  const list = JSON.stringify([reference.tools[0]?.function])
  const rest = [
    '<|user|>Weather?<|end|>',
    `<|assistant|><|tool_call|>{"name": "get_weather", "arguments": ${ARGUMENTS}}<|/tool_call|><|end|>`,
    '<|tool|>grey<|end|><|assistant|>',
  ].join('')

  it.each([
    ['', []],
    ['Be brief.', [{ role: 'system' as const, content: 'Be brief.' }]],
  ])('gets them there, behind "%s"', (system, first) => {
    expect(render(createModel(template), { messages: [...first, ...messages], tools: TOOLS })).toBe(
      `<|system|>${system}<|tool|>${list}<|/tool|><|end|>${rest}`,
    )
  })

  it('gets none where none may be called', () => {
    expect(render(createModel(template), { messages, tools: TOOLS, toolChoice: 'none' })).toBe(rest)
  })

  it('is read with the tags of its calls', () => {
    const answer = `<|tool_call|>[{"name": "get_weather", "arguments": ${ARGUMENTS}}]<|/tool_call|>`
    expect(read(createModel(template), { messages: messages.slice(0, 1), tools: TOOLS }, answer)).toEqual([
      { type: 'call', name: 'get_weather' },
      { type: 'arguments', text: ARGUMENTS },
    ])
  })
})

describe('a template that writes tools under another name, and no calls', () => {
  // As SmolLM3's does.
  const template = [
    "{% if xml_tools or python_tools %}<tools>{% for tool in xml_tools[:] %}{{ (tool | string) ~ '\\n' }}{% endfor %}</tools>",
    '<tool_call>{% endif %}{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}',
  ].join('')
  const call = { id: 'x', name: 'get_weather', arguments: ARGUMENTS }
  const messages: ChatMessage[] = [
    { role: 'user', content: 'Weather?' },
    { role: 'assistant', content: 'So:', toolCalls: [call] },
    { role: 'tool', content: 'grey', toolCallId: 'x' },
  ]
  const rest = `<user>Weather?<assistant>So:\n<tool_call>\n{"name": "get_weather", "arguments": ${ARGUMENTS}}\n</tool_call><tool>grey`

  it('gets them there, and calls as the text that they were', () => {
    const prompt = render(createModel(template), { messages, tools: TOOLS })

    expect(prompt).toMatch(/^<tools>\{'type': 'function', 'function': \{'name': 'get_weather'/)
    expect(prompt.slice(prompt.indexOf('<user>'))).toBe(rest)
  })

  it('gets none where none may be called, and those that the caller names', () => {
    const model = createModel(template)
    expect(render(model, { messages, tools: TOOLS, toolChoice: 'none' })).toBe(rest)
    const templateArguments = { xml_tools: ['mine'] }
    expect(render(model, { messages, tools: TOOLS, templateArguments })).toMatch(/^<tools>mine\n<\/tools>/)
  })
})

describe('calls that a template takes one by one', () => {
  it('are written each with its result', () => {
    const llama = withTools.find(({ name }) => name === 'llama-3.2')?.template ?? ''
    const call = (id: string) => ({ id, name: 'get_weather', arguments: `{"city":"${id}"}` })
    const messages: ChatMessage[] = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: '', toolCalls: [call('A'), call('B')] },
      { role: 'tool', content: 'rain in B', toolCallId: 'B' },
      { role: 'tool', content: 'sun in A', toolCallId: 'A' },
    ]

    expect(render(createModel(llama), { messages, tools: TOOLS })).toMatch(
      /"city": "A"[^]*sun in A[^]*"city": "B"[^]*rain in B/,
    )
  })
})

describe('results of several calls', () => {
  const call = (id: string) => ({ id, name: 'get_weather', arguments: `{"city":"${id}"}` })
  const result = (id: string): ChatMessage => ({ role: 'tool', content: `seen by ${id}`, toolCallId: id })
  const called: ChatMessage = { role: 'assistant', content: '', toolCalls: ['A', 'B', 'C'].map(call) }
  const templates = [
    ...withTools.map(({ name, template }) => [name, template] as const),
    ['none', null] as const,
  ]

  it.each(templates)('stand in the order of the calls, in whichever they came: %s', (_, template) => {
    const asked: ChatMessage = { role: 'user', content: 'Weather?' }
    const textWith = (...ids: string[]) =>
      render(createModel(template), { messages: [asked, called, ...ids.map(result)], tools: TOOLS })

    expect(textWith('C', 'A', 'B')).toBe(textWith('A', 'B', 'C'))
    expect(textWith('gone', 'C', 'A')).toBe(textWith('A', 'C', 'gone'))
  })
})

describe('a template that knows no tools', () => {
  const tools = TOOLS
  const call = { id: 'x', name: 'get_weather', arguments: ARGUMENTS }
  const messages: ChatMessage[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Weather?' },
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'tool', content: 'grey', toolCallId: 'x' },
    { role: 'user', content: 'And?' },
  ]

  it('gets them described in its system text, in its own messages', () => {
    const text = render(createModel(null), { messages, tools })

    expect(text).toBe(
      [
        '<|im_start|>system',
        'Be brief.',
        '',
        'You can call these functions. Their parameters are given as JSON schemas:',
        JSON.stringify({ ...reference.tools[0]?.function }),
        '',
        'To call a function, write nothing but this, with its name and its arguments:',
        '<tool_call>{"name": "function_name", "arguments": {"argument": "value"}}</tool_call>',
        '',
        'What it returned comes in the next message. Where no function is needed, answer as usual.<|im_end|>',
        '<|im_start|>user',
        'Weather?<|im_end|>',
        '<|im_start|>assistant',
        `<tool_call>{"name": "get_weather", "arguments": ${ARGUMENTS}}</tool_call><|im_end|>`,
        '<|im_start|>user',
        'get_weather returned:',
        'grey',
        '',
        'And?<|im_end|>',
        '<|im_start|>assistant',
        '',
      ].join('\n'),
    )
  })

  it.each(['gemma-2', 'gemma-3', 'phi-3-mini'])('of %s takes them', (name) => {
    const template = reference.templates.find((one) => one.name === name)?.template ?? ''
    const text = render(createModel(template), { messages: messages.slice(1), tools })

    expect(text).toContain('You can call these functions.')
    expect(text).toContain(
      `"get_weather", "${name.startsWith('gemma') ? 'parameters' : 'arguments'}": ${ARGUMENTS}`,
    )
    expect(text).toContain('get_weather returned:\ngrey')
  })

  it('is told of none where none may be called', () => {
    const chat: Chat = { messages: [{ role: 'user', content: 'Hi' }], tools, toolChoice: 'none' }
    expect(render(createModel(null), chat)).toBe('<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n')
  })
})

describe('an answer that must call a tool', () => {
  const mistral = withTools.find(({ name }) => name === 'mistral-7b-v0.3')?.template ?? ''

  it('is begun in the prompt where a call begins with a control token', () => {
    const model = createModel(mistral, { specialTexts: ['[TOOL_CALLS]'] })
    const chat: Chat = { messages: [{ role: 'user', content: 'Hi' }], tools: TOOLS, toolChoice: 'required' }

    const prompt = new ChatTemplate(model).render(chat)
    const plan = planAnswer(model, { chat, prompt, constraint: null })

    expect(prompt.pieces.join('')).toMatch(/\[\/INST\]\[TOOL_CALLS\]$/)
    expect(JSON.parse(plan.constraint?.kind === 'structural-tag' ? plan.constraint.tag : '')).toMatchObject({
      format: { type: 'tag', begin: ' [', end: ']', content: { type: 'tags_with_separator' } },
    })
    expect(plan.createReader?.().push(` [{"name": "get_weather", "arguments": ${ARGUMENTS}}]`)).toHaveLength(
      2,
    )
  })

  it('may write the control tokens of its format where it need not call', () => {
    const model = createModel(mistral, { specialTexts: ['[TOOL_CALLS]', '[INST]'] })
    const chat: Chat = { messages: [{ role: 'user', content: 'Hi' }], tools: TOOLS }
    const plan = planAnswer(model, { chat, prompt: new ChatTemplate(model).render(chat), constraint: null })

    expect(plan).toMatchObject({
      constraint: { kind: 'structural-tag', shownSpecialTexts: ['[TOOL_CALLS]'] },
      shownSpecialTexts: ['[TOOL_CALLS]'],
    })
    expect(JSON.parse(plan.constraint?.kind === 'structural-tag' ? plan.constraint.tag : '')).toMatchObject({
      format: { type: 'triggered_tags', triggers: ['[TOOL_CALLS]'], tags: [{ begin: '[TOOL_CALLS] [' }] },
    })
  })

  it('is begun by name where each call begins with the control token', () => {
    const model = createModel(`${mistral}{# [ARGS] #}`, { specialTexts: ['[TOOL_CALLS]', '[ARGS]'] })
    const chat: Chat = { messages: [{ role: 'user', content: 'Hi' }], tools: TOOLS, toolChoice: 'required' }
    const plan = planAnswer(model, { chat, prompt: new ChatTemplate(model).render(chat), constraint: null })

    expect(JSON.parse(plan.constraint?.kind === 'structural-tag' ? plan.constraint.tag : '')).toMatchObject({
      format: {
        type: 'tags_with_separator',
        separator: '[TOOL_CALLS]',
        tags: [{ begin: 'get_weather[ARGS]', end: '' }],
      },
    })
  })
})

describe('a message that is continued', () => {
  const messages: ChatMessage[] = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Once upon ' },
  ]

  it.each(['qwen2.5', 'qwen3', 'llama-3.2', 'gemma-3', 'phi-3-mini'])('ends the prompt of %s', (name) => {
    const template = reference.templates.find((one) => one.name === name)?.template ?? ''
    expect(render(createModel(template), { messages, continuesLastMessage: true })).toMatch(/Once upon $/)
  })

  it('is refused where the template does not write it', () => {
    const model = createModel("{{ messages[0]['content'] }}")
    expect(() => render(model, { messages, continuesLastMessage: true })).toThrow('cannot be continued')
  })
})

describe("Gemma 4's template", () => {
  const template = reference.templates.find(({ name }) => name === 'gemma-4')?.template ?? ''

  it('takes properties of several types, or of none', () => {
    const properties = {
      any: true,
      both: { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'Either.' },
      list: { type: 'array', items: { $ref: '#/$defs/point' } },
      map: { type: 'object', additionalProperties: false },
      several: { type: ['integer', 'null'] },
    }
    const $defs = { point: { type: 'object', properties: { x: { enum: [1, 2] } } } }
    const tool = {
      name: 'f',
      description: null,
      parameters: { type: 'object', properties, $defs },
      strict: false,
    }
    const text = render(createModel(template), { messages: [{ role: 'user', content: 'Hi' }], tools: [tool] })

    expect(text).toContain('both:{description:<|"|>Either.<|"|>,nullable:true,type:<|"|>STRING<|"|>}')
    expect(text).toContain('map:{properties:{},type:<|"|>OBJECT<|"|>}')
    expect(text).toContain('several:{nullable:true,type:<|"|>INTEGER<|"|>}')
  })

  it('opens what is read as reasoning', () => {
    const model = createModel(template, { specialTexts: ['<|channel>', '<channel|>'] })
    const chat: Chat = {
      messages: [{ role: 'user', content: 'Hi' }],
      templateArguments: { enable_thinking: true },
    }
    const prompt = new ChatTemplate(model).render(chat)

    expect(planAnswer(model, { chat, prompt, constraint: null }).shownSpecialTexts).toEqual([
      '<|channel>',
      '<channel|>',
    ])
    expect(read(model, chat, '<|channel>thought\nHm.\n<channel|>Yes')).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Yes', at: 32 },
    ])
  })
})

describe('arguments of a call in the conversation', () => {
  const template =
    '{% for m in messages %}{{ m.tool_calls[0].function.arguments is mapping }}{% endfor %}{{ tools }}'
  const isObject = (text: string) => {
    const call = { id: 'a', name: 'get_weather', arguments: text }
    const messages: ChatMessage[] = [{ role: 'assistant', content: '', toolCalls: [call] }]
    return render(createModel(template, { toolFormat: 'hermes' }), { messages, tools: TOOLS }).startsWith(
      'true',
    )
  }

  it('are an object, unless they hold more values than a body may', () => {
    expect(isObject('{"a": [1, 2]}')).toBe(true)
    expect(isObject(`{"a": "${',:'.repeat(60_000)}"}`)).toBe(true)
    expect(isObject(`{"a": [${'1,'.repeat(60_000)}1]}`)).toBe(false)
    expect(isObject('{"a": [1, ')).toBe(false)
  })
})

describe("Hermes 3's template", () => {
  const template = reference.templates.find(({ name }) => name === 'hermes-3-tools')?.template ?? ''

  it('takes types that it does not know, and properties of that name', () => {
    const properties = {
      type: { type: ['string', 'null'], description: 'Kind.' },
      none: { type: 'null' },
      tags: { type: 'array', items: { type: ['integer', 'string', 'null'] } },
      other: { anyOf: [{ type: 'string' }, { type: 'null' }], additionalProperties: false },
    }
    const tool = { name: 'f', description: 'F.', parameters: { type: 'object', properties }, strict: false }
    const prompt = render(createModel(template), {
      messages: [{ role: 'user', content: 'a' }],
      tools: [tool],
    })

    expect(prompt).toContain('f(type: str, none: Union[], tags: list[Union[]], other: Union[]) - F.')
    expect(prompt).toContain('"type": {"type": "string", "description": "Kind."}')
    expect(prompt).toContain('"items": {"type": ["integer", "string"]}')
  })
})

describe('reasoning that the prompt opens with a control token', () => {
  const model = createModel("{{ messages[0]['content'] }}[THINK]{# [/THINK] #}", {
    specialTexts: ['[THINK]', '[/THINK]'],
  })
  const chat: Chat = { messages: [{ role: 'user', content: 'Hi' }] }

  it('is free, and the answer behind it constrained', () => {
    const prompt = new ChatTemplate(model).render(chat)
    const constraint = { kind: 'choice', choices: ['yes'] } as const
    const plan = planAnswer(model, { chat, prompt, constraint })

    expect(plan.constraint).toMatchObject({ shownSpecialTexts: ['[THINK]', '[/THINK]'] })
    expect(JSON.parse(plan.constraint?.kind === 'structural-tag' ? plan.constraint.tag : '')).toMatchObject({
      format: {
        elements: [
          { content: { type: 'any_text' }, end: '[/THINK]' },
          { type: 'regex', pattern: 'yes' },
        ],
      },
    })
  })
})

describe('reasoning', () => {
  const qwen = withTools.find(({ name }) => name === 'qwen3')?.template ?? ''
  const chat: Chat = { messages: [{ role: 'user', content: 'Hi' }] }

  it('is read from its markers', () => {
    expect(read(createModel(qwen), chat, '<think>\nHm.\n</think>\n\nHello')).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hello', at: 22 },
    ])
  })

  it('is read from the start where the prompt has begun it', () => {
    const model = createModel(`${qwen}{{ '<think>\\n' }}`)
    expect(read(model, chat, 'Hm.</think>Hello')).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hello', at: 11 },
    ])
  })

  it('is switched by the arguments of the template', () => {
    const text = render(createModel(qwen), { ...chat, templateArguments: { enable_thinking: false } })
    expect(text).toMatch(/<think>\n\n<\/think>\n\n$/)
  })

  it('is not looked for where the model has none', () => {
    const prompt = { pieces: ['x'], addSpecial: false }
    expect(planAnswer(createModel(null), { chat, prompt, constraint: null }).createReader).toBeNull()
  })
})
