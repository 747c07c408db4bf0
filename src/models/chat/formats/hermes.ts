/**
 * Qwen 2.5 and 3, Hermes 2 Pro and 3, Granite 4 and others: a JSON object between tags for each call.
 *
 *   <tool_call>
 *   {"name": "get_weather", "arguments": {"city": "Rome"}}
 *   </tool_call>
 */
import type { ChatFormat } from './chat-format.ts'

export const HERMES: ChatFormat = {
  name: 'hermes',
  isOf: (template) => isHermes(template) && !template.includes(TYPES_MACRO),
  syntax: { openers: ['<tool_call>'], closers: ['</tool_call>'] },
  frame: (name) => ({
    begin: `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": `,
    end: '}\n</tool_call>',
  }),
  list: { begin: '', separator: '\n', end: '' },
  trigger: '<tool_call>',
  markers: ['<tool_call>', '</tool_call>'],
}

/** Of the template that writes types. */
const TYPES_MACRO = 'json_to_python_type'
const PYTHON_TYPES: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'array',
  'object',
])

/**
 * Hermes 2 Pro and 3: their template writes types as Python's, and takes one that it does not know for a list of types, letter by
 * letter and without end. It is given none of those.
 */
export const HERMES_TYPED: ChatFormat = {
  ...HERMES,
  isOf: (template) => isHermes(template) && template.includes(TYPES_MACRO),
  toTemplateSchema: withPythonTypes,
}

// GLM 4.5 puts arguments into tags of their own.
function isHermes(template: string): boolean {
  return template.includes('<tool_call>') && !template.includes('<arg_key>')
}

type Schema = Readonly<Record<string, unknown>>

/** Keywords whose values are no schemas. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default'])

function withPythonTypes(schema: Schema): Schema {
  const fields = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === 'properties' && isObject(value)) {
      const properties = Object.entries(value).map(([name, own]) => [
        name,
        isObject(own) ? withPythonTypes(own) : own,
      ])
      return [[key, Object.fromEntries(properties)]]
    }
    if (isObject(value) && !VALUES.has(key)) return [[key, withPythonTypes(value)]]
    if (key !== 'type') return [[key, value]]
    const types = [value].flat().filter((type) => PYTHON_TYPES.has(type))
    return types.length === 0 ? [] : [[key, types.length === 1 ? types[0] : types]]
  })
  return Object.fromEntries(fields)
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
