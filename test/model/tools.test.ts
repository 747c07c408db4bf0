/**
 * Tools on the small Llama, in each format: a call is made, its arguments keep to their schema under an independent validator, its
 * result goes back, an answer follows. Two of the model's reserved tokens have the texts of other models' control tokens.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ServiceError } from '../../src/core/errors.ts'
import { TOOL_FORMATS, type ToolFormat } from '../../src/core/choices/tool-format.ts'
import type * as InProcess from '../../src/engines/process/step-loop/in-process-engine.ts'
import type { Engine } from '../../src/protocol/engine.ts'
import type { ModelInfo } from '../../src/protocol/model-info.ts'
import { type SmallLlama, openSmallLlama } from '../support/engines/small-llama.ts'
import { lengthOf } from '../support/length-of.ts'
import { eventData } from '../support/net/event-data.ts'
import { createRegistry, createTestApp, type TestApp } from '../support/servers/test-app.ts'
import { shared } from '../support/shared.ts'

const URL = '/v1/chat/completions'
const CALLS_TOKEN = '[TOOL_CALLS]'
const THINK_END = '[/THINK]'
/** Where the small Llama has `<|reserved_0|>` and `<|reserved_1|>`. */
const TOKEN_IDS = { [CALLS_TOKEN]: 4102, [THINK_END]: 4103 }
const ASKED = { role: 'user', content: 'What is the weather in Rome?' }

const SCHEMAS: Readonly<Record<string, object>> = {
  get_weather: {
    type: 'object',
    properties: {
      city: { type: 'string', maxLength: 8 },
      days: { type: 'integer', minimum: 0, maximum: 9 },
      unit: { enum: ['celsius', 'fahrenheit'] },
      hourly: { type: 'boolean' },
      parts: { type: 'array', items: { enum: ['sky', 'wind'] }, maxItems: 2 },
    },
    required: ['city', 'days', 'unit'],
    additionalProperties: false,
  },
  add: {
    type: 'object',
    properties: { point: { type: 'object', properties: { x: { type: 'boolean' } }, required: ['x'] } },
    required: ['point'],
    additionalProperties: false,
  },
}
const TOOLS = Object.entries(SCHEMAS).map(([name, parameters]) => ({
  type: 'function',
  function: { name, parameters, strict: true },
}))
/** Gemma 4's notation keeps to types, names and choices, not to lengths and bounds. */
const UNBOUNDED = /"(?:maxLength|minimum|maximum|maxItems)":\d,?/g

interface Message {
  readonly role: 'assistant'
  readonly content: string | null
  readonly reasoning_content?: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
}

let folder: string
let llama: SmallLlama

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'))
  const checkpoint = path.join(folder, 'demo')
  await cp(path.resolve(import.meta.dirname, '../data/small-llama'), checkpoint, { recursive: true })
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) {
    const text = await readFile(path.join(checkpoint, name), 'utf8')
    const renamed = text.replaceAll('<|reserved_0|>', CALLS_TOKEN).replaceAll('<|reserved_1|>', THINK_END)
    await writeFile(path.join(checkpoint, name), renamed)
  }
  llama = await openSmallLlama({ maxBatchSize: 4, maxSeqLen: 1024, isBuilt: true, checkpoint })
})

afterAll(async () => {
  await llama.close()
  await rm(folder, { recursive: true, force: true })
})

/** The same engine under another template, which its owner does not close. */
function withTemplate(template?: string): Engine {
  const info = (): ModelInfo => ({
    ...llama.engine.info(),
    ...(template !== undefined && { chatTemplate: template }),
  })
  return new Proxy(llama.engine, {
    get: (target, name) => {
      if (name === 'info') return info
      if (name === 'generate') return generate
      if (name === 'close') return async () => {}
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}

/** What was built has an error class of its own. */
async function* generate(...request: Parameters<InProcess.InProcessEngine['generate']>) {
  try {
    yield* llama.engine.generate(...request)
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ServiceError') throw error
    const { code, params } = error as ServiceError
    throw new ServiceError(code, params)
  }
}

async function createApp(toolFormat: ToolFormat, template?: string): Promise<TestApp> {
  const registry = createRegistry({ openEngine: async () => withTemplate(template) })
  await registry.register('default', { checkpoint: 'demo', toolFormat })
  return createTestApp({ registry })
}

async function ask(app: TestApp, fields: object): Promise<{ message: Message; finish_reason: string }> {
  const body = { messages: [ASKED], tools: TOOLS, max_tokens: 300, temperature: 1.5, ...fields }
  const answer = await app.post(URL, body)
  expect([answer.statusCode, answer.json().detail]).toEqual([200, undefined])
  return answer.json().choices[0]
}

/** What a stream's deltas make, with its calls without their ids. */
async function askStreamed(app: TestApp, fields: object) {
  const body = { messages: [ASKED], tools: TOOLS, max_tokens: 300, temperature: 1.5, ...fields, stream: true }
  const answer = await app.post(URL, body)
  const calls: { name: string; arguments: string }[] = []
  let content = ''
  for (const json of eventData(answer.body).slice(0, -1)) {
    const { delta } = JSON.parse(json).choices[0]
    content += delta.content ?? ''
    for (const { index, function: called } of delta.tool_calls ?? []) {
      calls[index] ??= { name: called.name, arguments: '' }
      calls[index].arguments += called.arguments
    }
  }
  return { content, calls }
}

function expectValid({ tool_calls: calls = [] }: Message, format: ToolFormat): void {
  const ajv = new Ajv2020({ strict: false })
  for (const { function: called } of calls) {
    const text = JSON.stringify(SCHEMAS[called.name])
    const schema = JSON.parse(
      format === 'gemma-4' ? text.replaceAll(UNBOUNDED, '').replaceAll(',}', '}') : text,
    )
    const isValid = ajv.validate(schema, JSON.parse(called.arguments))
    expect(isValid, `${called.arguments}: ${ajv.errorsText()}`).toBe(true)
  }
}

/** Where the calls of the first one last, or never end. */
const FIRST_SEEDS: Partial<Record<ToolFormat, number>> = {
  hermes: 24,
  'gemma-4': 17,
  'qwen-xml': 2,
  json: 20,
}

/** With the first seed the calls end before the tokens do, and some formats make several. */
const choicesOf = (format: ToolFormat) =>
  [
    ['required', FIRST_SEEDS[format] ?? 30],
    [{ type: 'function', function: { name: 'add' } }, 3],
    ['required', 1],
    ['required', FIRST_SEEDS[format] === undefined ? 2 : 30],
  ] as const

const FORMATS = TOOL_FORMATS.filter((format) => format !== 'auto')

describe.each(FORMATS)('calls in the format %s', (format) => {
  const app = shared(() => createApp(format))

  it.each(choicesOf(format).slice(0, lengthOf({ test: 1, soak: 4 })))(
    'are made with %j, and their results are read (seed %i)',
    async (choice, seed) => {
      const { message, finish_reason: reason } = await ask(app(), { tool_choice: choice, seed })
      const streamed = await askStreamed(app(), { tool_choice: choice, seed })

      expect(message.tool_calls?.length).toBeGreaterThan(0)
      expect(streamed.calls).toEqual(
        message.tool_calls?.map(({ function: { name, arguments: text } }) => ({ name, arguments: text })),
      )
      expect(streamed.content).toBe(message.content ?? '')
      if (typeof choice === 'object') expect(streamed.calls.map(({ name }) => name)).toEqual(['add'])
      if (reason === 'length') return
      expect([reason, message.content]).toEqual(['tool_calls', null])
      expectValid(message, format)

      const results = message.tool_calls?.map(({ id }) => ({
        role: 'tool',
        tool_call_id: id,
        content: 'grey',
      }))
      const messages = [ASKED, message, ...(results ?? [])]
      const second = await ask(app(), { messages, tool_choice: 'none', seed, max_tokens: 8 })
      expect(second.message.tool_calls).toBeUndefined()
    },
  )

  it('are cut by no stop text', async () => {
    const fields = { tool_choice: { type: 'function', function: { name: 'add' } }, seed: 3 }
    const without = await ask(app(), fields)
    const { message, finish_reason: reason } = await ask(app(), { ...fields, stop: ['"', '{', '\n', ':'] })

    const argumentsOf = (one: Message) => one.tool_calls?.map((call) => call.function.arguments)
    expect(argumentsOf(message)).toEqual(argumentsOf(without.message))
    expect([reason, message.content]).toEqual([without.finish_reason, without.message.content])
  })

  it('keep to their schema where the model need not call', async () => {
    for (const seed of [4, 5, 6].slice(0, lengthOf({ test: 1, soak: 3 }))) {
      const { message, finish_reason: reason } = await ask(app(), { seed, max_tokens: 120 })
      if (reason !== 'length') expectValid(message, format)
    }
  })
})

describe('a control token that begins calls', () => {
  const app = shared(() => createApp('mistral'))
  const bias = { [TOKEN_IDS[CALLS_TOKEN]]: 100 }

  it('may be written by the model where it need not call, and then a call follows', async () => {
    const { message, finish_reason: reason } = await ask(app(), {
      logit_bias: bias,
      parallel_tool_calls: false,
      seed: 1,
    })

    expect(reason).toBe('tool_calls')
    expect(message.content).toBeNull()
    expectValid(message, 'mistral')
  })
})

describe('reasoning that ends with a control token', () => {
  const template =
    "{{ bos_token + '<|user|>' + messages[0]['content'] + '<|assistant|>[THINK]' }}{# [/THINK] #}"
  const app = shared(() => createApp('auto', template))

  it('is free, and what follows is constrained', async () => {
    for (const seed of [1, 2, 3]) {
      const fields = { tools: [], structured_outputs: { regex: '(yes|no){3}' }, temperature: 1, seed }
      const bias = { [TOKEN_IDS[THINK_END]]: 15 }
      const { message, finish_reason: reason } = await ask(app(), { ...fields, logit_bias: bias })

      expect(reason).toBe('stop')
      expect(message.content).toMatch(/^(yes|no){3}$/)
      expect(message.reasoning_content ?? '').not.toContain('THINK')
    }
  })
})

describe('an answer that may call, or be of a form', () => {
  const app = shared(() => createApp('hermes'))

  it.each([
    [{ response_format: { type: 'json_object' } }, /^\{[^]*\}$/],
    [{ structured_outputs: { choice: ['green', 'blue'] } }, /^(green|blue)$/],
    [{ structured_outputs: { regex: '[0-9]{3}' } }, /^[0-9]{3}$/],
  ])('is one of both: %j', async (fields, form) => {
    for (const seed of [1, 2, 3].slice(0, lengthOf({ test: 1, soak: 3 }))) {
      const { message, finish_reason: reason } = await ask(app(), { ...fields, seed })
      if (reason === 'stop') expect(message.content).toMatch(form)
      if (reason === 'tool_calls') expectValid(message, 'hermes')
    }
  })
})

it.each(FORMATS)('an empty text may be among the choices of an argument: %s', async (format) => {
  const parameters = {
    type: 'object',
    properties: { note: { type: 'string', enum: ['', 'x'] }, none: { type: 'string', const: '' } },
    required: ['note', 'none'],
    additionalProperties: false,
  }
  const app = await createApp(format)
  const { message } = await ask(app, {
    tools: [{ type: 'function', function: { name: 'f', parameters, strict: true } }],
    tool_choice: 'required',
    parallel_tool_calls: false,
    seed: 1,
  })

  const { note, none } = JSON.parse(message.tool_calls?.[0]?.function.arguments ?? '{}')
  expect(['', 'x']).toContain(note)
  expect(none).toBe('')
})

describe('a schema that cannot be kept to', () => {
  const BAD = {
    type: 'object',
    properties: { n: { type: 'integer', minimum: 5, maximum: 3 } },
    required: ['n'],
  }
  const tools = [...TOOLS, { type: 'function', function: { name: 'f', parameters: BAD, strict: true } }]

  it.each([
    ['hermes', 'tools[2].function.parameters', 'at /properties/n'],
    ['qwen-xml', 'tools[2].function.parameters.properties.n', ''],
  ] as const)('is named in its tool: %s', async (format, field, place) => {
    const app = await createApp(format)
    const body = { messages: [ASKED], tools, response_format: { type: 'json_object' } }
    const { error } = (await app.post(URL, body)).json()

    expect(error.message).toMatch(`${field} cannot be compiled: ${place}`)
    expect(error.param).toBe(field)
  })
})
