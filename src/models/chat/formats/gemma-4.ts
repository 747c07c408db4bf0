/**
 * Gemma 4: a name and arguments in a notation of its own, in which keys are bare and texts stand, as they are, between control
 * tokens that are quotes. Its keys are in alphabetical order.
 *
 *   <|tool_call>call:get_weather{city:<|"|>Rome<|"|>,days:2}<tool_call|>
 */
import { GEMMA_QUOTE, GemmaArguments } from '../reading/gemma-arguments.ts'
import type { ChatFormat } from './chat-format.ts'
import { typesOfValue } from '../reading/value-types.ts'
import { toGemmaGrammar } from './gemma-4-grammar.ts'

type Schema = Readonly<Record<string, unknown>>

export const GEMMA_4: ChatFormat = {
  name: 'gemma-4',
  isOf: (template) => template.includes('<|tool_call>call:'),
  syntax: {
    openers: ['<|tool_call>'],
    closers: ['<tool_call|>'],
    named: {
      whole: /^call:([\w.:/-]+)(?=\{)/,
      beginning: /^c(?:a(?:l(?:l(?::[\w.:/-]*)?)?)?)?$/,
      createArguments: () => new GemmaArguments(),
    },
  },
  frame: (name) => ({ begin: `<|tool_call>call:${name}`, end: '<tool_call|>' }),
  toTemplateSchema: withTypes,
  writeArguments: (text) => write(JSON.parse(text)),
  toArgumentsFormat: ({ parameters }) => ({ type: 'grammar', grammar: toGemmaGrammar(parameters) }),
  list: { begin: '', separator: '', end: '' },
  trigger: '<|tool_call>',
  markers: ['<|tool_call>', '<tool_call|>', GEMMA_QUOTE],
}

/** The template writes one type of each property, and takes an object for its properties where it names none. */
function withTypes(schema: Schema, root: Schema = schema): Schema {
  const types = typesOfValue(schema, root) ?? []
  const [type = ''] = types.filter((one) => one !== 'null')
  const { properties = {}, items } = schema
  const typed = Object.entries(properties as Readonly<Record<string, Schema>>).map(([key, own]) => [
    key,
    withTypes(own, root),
  ])
  return {
    ...schema,
    type,
    ...(types.includes('null') && { nullable: true }),
    ...(type === 'object' && { properties: Object.fromEntries(typed) as Schema }),
    ...(typeof items === 'object' && items !== null && { items: withTypes(items as Schema, root) }),
  }
}

function write(value: unknown): string {
  if (typeof value === 'string') return GEMMA_QUOTE + value + GEMMA_QUOTE
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, one]) => `${key}:${write(one)}`).join(',')}}`
}
