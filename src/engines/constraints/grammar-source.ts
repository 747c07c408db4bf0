/** A constraint as XGrammar reads it: EBNF, or a structural tag whose schemas and patterns are EBNF. Called in a grammar thread. */
import type { Constraint } from '../../protocol/constraint.ts'
import { fromGbnf } from './gbnf.ts'
import { literal } from './schema/ebnf.ts'
import { regexToGrammar } from './schema/regex-grammar.ts'
import { SchemaError } from './schema/schema-error.ts'
import { jsonObjectGrammar, schemaToGrammar } from './schema/schema-grammar.ts'

export interface GrammarSource {
  readonly kind: 'ebnf' | 'structural-tag'
  readonly text: string
}

/** @throws SchemaError for what cannot be written as a grammar */
export function grammarSourceOf(constraint: Constraint): GrammarSource {
  switch (constraint.kind) {
    case 'json-object':
      return { kind: 'ebnf', text: jsonObjectGrammar() }
    case 'json-schema': {
      const schema = JSON.parse(constraint.schema) as unknown
      return { kind: 'ebnf', text: schemaToGrammar(schema, { isStrict: constraint.isStrict }) }
    }
    case 'regex':
      return { kind: 'ebnf', text: `root ::= ${regexToGrammar(constraint.pattern)}` }
    case 'choice':
      return { kind: 'ebnf', text: `root ::= ${constraint.choices.map(literal).join(' | ')}` }
    case 'grammar':
      return { kind: 'ebnf', text: fromGbnf(constraint.grammar) }
    case 'structural-tag':
      return { kind: 'structural-tag', text: JSON.stringify(withGrammars(JSON.parse(constraint.tag), '')) }
  }
}

/** The same tag with each schema and pattern in it replaced by its grammar. */
function withGrammars(format: unknown, path: string): unknown {
  if (Array.isArray(format)) return format.map((one, index) => withGrammars(one, `${path}/${index}`))
  if (typeof format !== 'object' || format === null) return format
  const { type, json_schema: schema, pattern } = format as Readonly<Record<string, unknown>>
  try {
    if (type === 'json_schema') {
      return { type: 'grammar', grammar: schemaToGrammar(schema, { isStrict: false }) }
    }
    if (type === 'regex' && typeof pattern === 'string') {
      return { type: 'grammar', grammar: `root ::= ${regexToGrammar(pattern)}` }
    }
  } catch (error) {
    throw error instanceof SchemaError ? error.inside(path) : error
  }
  return Object.fromEntries(
    Object.entries(format).map(([key, value]) => [key, withGrammars(value, `${path}/${key}`)]),
  )
}
