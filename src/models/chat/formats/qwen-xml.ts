/**
 * Qwen3-Coder, Qwen 3.5 and others that took their template over: each argument in tags of its own. Values of strings stand as they
 * are, others as JSON; which it is, the function's schema says.
 *
 *   <tool_call>
 *   <function=get_weather>
 *   <parameter=city>
 *   Rome
 *   </parameter>
 *   </function>
 *   </tool_call>
 */
import { typesOfValue } from '../reading/value-types.ts'
import { XmlArguments } from '../reading/xml-arguments.ts'
import { type ArgumentSchema, type ChatFormat, oneOfTexts, type TagFormat } from './chat-format.ts'

export const QWEN_XML: ChatFormat = {
  name: 'qwen-xml',
  isOf: (template) => ['<tool_call>', '<function=', '<parameter='].every((tag) => template.includes(tag)),
  syntax: {
    openers: ['<tool_call>'],
    closers: ['</tool_call>'],
    // Qwen3-Coder leaves the tag out now and then, behind text more than elsewhere.
    bare: ['<function='],
    named: {
      whole: /^<function=([\w.:/-]+)>/,
      beginning: /^<(?:f(?:u(?:n(?:c(?:t(?:i(?:o(?:n(?:=[\w.:/-]*)?)?)?)?)?)?)?)?)?$/,
      createArguments: (parameters) => new XmlArguments(parameters),
    },
  },
  frame: (name) => ({ begin: `<tool_call>\n<function=${name}>\n`, end: '</function>\n</tool_call>' }),
  writeArguments,
  toArgumentsFormat,
  list: { begin: '', separator: '\n', end: '' },
  trigger: '<tool_call>',
  markers: ['<tool_call>', '</tool_call>'],
}

const PARAMETER_END = '\n</parameter>\n'
const NOTHING = { type: 'grammar', grammar: 'root ::= ""' } as const
/** Of a schema that names none. */
const ANY_PARAMETERS = {
  type: 'grammar',
  grammar: [
    'root ::= ("<parameter=" [a-zA-Z0-9_.-]+ ">\\n" value)*',
    `value ::= TagDispatch(stop_eos=false, stop_str=(${JSON.stringify(PARAMETER_END)}), loop_after_dispatch=false)`,
  ].join('\n'),
} as const

function writeArguments(text: string): string {
  return Object.entries(JSON.parse(text) as object)
    .map(([key, value]: [string, unknown]) => {
      const written = typeof value === 'string' ? value : JSON.stringify(value)
      return `<parameter=${key}>\n${written}${PARAMETER_END}`
    })
    .join('')
}

/** Parameters in the order of the schema, as in JSON. */
function toArgumentsFormat({ parameters, field }: ArgumentSchema): TagFormat {
  const { properties, required } = parameters
  const named = Object.entries((properties ?? {}) as Readonly<Record<string, unknown>>)
  if (named.length === 0) return properties === undefined ? ANY_PARAMETERS : NOTHING
  const isRequired = (key: string): boolean => Array.isArray(required) && required.includes(key)
  const elements = named.map(([key, schema]): TagFormat => {
    const content = valueFormat(schema, { parameters, field: `${field}.properties.${key}` })
    const tag = { type: 'tag', begin: `<parameter=${key}>\n`, content, end: PARAMETER_END }
    return isRequired(key) ? tag : { type: 'or', elements: [tag, NOTHING] }
  })
  return { type: 'sequence', elements }
}

function valueFormat(schema: unknown, { parameters, field }: ArgumentSchema): TagFormat {
  const types = typesOfValue(schema, parameters)
  if (types === null || types.includes('string')) return textFormat(schema, types, field)
  const { $defs, definitions } = parameters
  const whole = {
    ...(schema as object),
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  }
  return { type: 'json_schema', json_schema: whole, field }
}

/** Where a value may be of another type too, it is any text, and the type is what can be read of it. */
function textFormat(schema: unknown, types: readonly string[] | null, field: string): TagFormat {
  if (types?.length !== 1 || typeof schema !== 'object' || schema === null) return { type: 'any_text' }
  const {
    enum: values,
    const: only,
    pattern,
    minLength,
    maxLength,
  } = schema as Readonly<Record<string, unknown>>
  const choices = only === undefined ? values : [only]
  if (Array.isArray(choices)) return oneOfTexts(choices.map(String))
  if (typeof pattern === 'string') return { type: 'regex', pattern, field }
  if (minLength === undefined && maxLength === undefined) return { type: 'any_text' }
  // Less than the schema allows: of what could begin the closing tag, nothing.
  return {
    type: 'regex',
    pattern: `[^<]{${Number(minLength ?? 0)},${maxLength === undefined ? '' : Number(maxLength)}}`,
  }
}
