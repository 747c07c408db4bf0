/**
 * A JSON schema as a grammar of Gemma 4's notation, which XGrammar has none for. Keeps to types, names of properties and which of them
 * are required, items, `enum` and `const`; of a value that other keywords describe it keeps to the type.
 */
import { GEMMA_QUOTE } from '../reading/gemma-arguments.ts'
import { typesOfValue } from '../reading/value-types.ts'

type Schema = Readonly<Record<string, unknown>>

/** Rules of the values of any schema. */
const SHARED_RULES = [
  `text ::= ${literal(GEMMA_QUOTE)} text_rest`,
  `text_rest ::= TagDispatch(stop_eos=false, stop_str=(${literal(GEMMA_QUOTE)}), loop_after_dispatch=false)`,
  'integer ::= "-"? ("0" | [1-9] [0-9]{0,17})',
  'number ::= integer ("." [0-9]{1,17})? ([eE] [+-]? [0-9]{1,3})?',
  'boolean ::= "true" | "false"',
  'null ::= "null"',
  'array ::= "[" (value ("," value)*)? "]"',
  'object ::= "{" (key ":" value ("," key ":" value)*)? "}"',
  'key ::= [a-zA-Z0-9_.-]+',
  'value ::= text | number | boolean | null | array | object',
]
const TYPE_RULES: Readonly<Record<string, string>> = { string: 'text' }
const MAX_DEPTH = 16

export function toGemmaGrammar(schema: Schema): string {
  const grammar = new GemmaGrammar(schema)
  return [`root ::= ${grammar.visit(schema, 0)}`, ...grammar.rules, ...SHARED_RULES].join('\n')
}

class GemmaGrammar {
  readonly rules: string[] = []
  readonly #root: Schema

  constructor(root: Schema) {
    this.#root = root
  }

  /** An expression for the values of a schema. */
  visit(schema: unknown, depth: number): string {
    const { enum: values, const: only, properties, items } = (schema ?? {}) as Schema
    const choices = only === undefined ? values : [only]
    if (Array.isArray(choices)) return `(${choices.map(write).join(' | ')})`
    const types = typesOfValue(schema, this.#root)
    if (types === null) return 'value'
    if (depth < MAX_DEPTH && types.length === 1) {
      if (types[0] === 'object' && properties !== undefined) return this.#object(schema as Schema, depth)
      if (types[0] === 'array' && items !== undefined) return this.#array(items, depth)
    }
    return `(${types.map((type) => TYPE_RULES[type] ?? type).join(' | ')})`
  }

  #array(items: unknown, depth: number): string {
    const item = this.#rule(this.visit(items, depth + 1))
    return `"[" (${item} ("," ${item})*)? "]"`
  }

  /** Each rest is what may follow its property, from the last to the first; in front of it a comma, unless none has come. */
  #object({ properties, required }: Schema, depth: number): string {
    const entries = Object.entries(properties as Schema).toSorted(([a], [b]) => (a < b ? -1 : 1))
    let first = '""'
    let later = '""'
    for (const [key, schema] of entries.toReversed()) {
      const property = this.#rule(`${literal(`${key}:`)} ${this.visit(schema, depth + 1)}`)
      const isOptional = !(Array.isArray(required) && required.includes(key))
      const skip = (rest: string): string => (isOptional ? ` | ${rest}` : '')
      const follows = this.#rule(later)
      first = this.#rule(`${property} ${follows}${skip(first)}`)
      later = this.#rule(`"," ${property} ${follows}${skip(follows)}`)
    }
    return `"{" ${this.#rule(first)} "}"`
  }

  #rule(expression: string): string {
    const name = `r${this.rules.length}`
    this.rules.push(`${name} ::= ${expression}`)
    return name
  }
}

function write(value: unknown): string {
  return literal(typeof value === 'string' ? GEMMA_QUOTE + value + GEMMA_QUOTE : JSON.stringify(value))
}

/** JSON's escapes are those of the grammar. */
function literal(text: string): string {
  return JSON.stringify(text)
}
