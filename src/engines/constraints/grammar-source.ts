/** A constraint as XGrammar reads it: EBNF, or a structural tag whose schemas and patterns are EBNF. Called in a grammar thread. */
import type { Constraint } from '../../protocol/constraint.ts'
import { fromGbnf } from './gbnf.ts'
import { literal } from './schema/ebnf.ts'
import { regexGrammar } from './schema/strings/regex-grammar.ts'
import { SchemaError } from './schema/schema-error.ts'
import { jsonObjectGrammar, schemaToGrammar } from './schema/schema-grammar.ts'

export interface GrammarSource {
  readonly kind: 'ebnf' | 'structural-tag'
  readonly text: string
}

/** Rewrites EBNF for XGrammar. @throws where it cannot be read */
type Rewrite = (ebnf: string) => Promise<string>

/** @throws SchemaError for what cannot be written as a grammar, and what `rewrite` throws */
export async function grammarSourceOf(constraint: Constraint, rewrite: Rewrite): Promise<GrammarSource> {
  if (constraint.kind !== 'structural-tag') return { kind: 'ebnf', text: await rewrite(ebnfOf(constraint)) }
  const tag = await withGrammars(JSON.parse(constraint.tag), { path: '', rewrite })
  return { kind: 'structural-tag', text: JSON.stringify(tag) }
}

function ebnfOf(constraint: Exclude<Constraint, { readonly kind: 'structural-tag' }>): string {
  switch (constraint.kind) {
    case 'json-object':
      return jsonObjectGrammar()
    case 'json-schema':
      return schemaToGrammar(JSON.parse(constraint.schema), { isStrict: constraint.isStrict })
    case 'regex':
      return regexGrammar(constraint.pattern)
    case 'choice':
      return `root ::= ${constraint.choices.map(literal).join(' | ')}`
    case 'grammar':
      return fromGbnf(constraint.grammar)
  }
}

interface Place {
  readonly path: string
  readonly rewrite: Rewrite
}

/**
 * The same tag with each schema, pattern and grammar in it replaced by a rewritten grammar. A part with a `field` is one that
 * the body names apart from the tag, null for what asked for the constraint; `is_strict` is that of a constraint of its own.
 */
async function withGrammars(format: unknown, { path, rewrite }: Place): Promise<unknown> {
  if (typeof format !== 'object' || format === null) return format
  const ebnf = ebnfWithin(format, path)
  if (ebnf !== null) return { type: 'grammar', grammar: await rewrite(ebnf) }
  const entries: (readonly [string, unknown])[] = []
  // One after the other: what XGrammar refuses aborts it.
  for (const [key, value] of Object.entries(format))
    entries.push([key, await withGrammars(value, { path: `${path}/${key}`, rewrite })])
  return Array.isArray(format) ? entries.map(([, value]) => value) : Object.fromEntries(entries)
}

/** Null for a part of a tag that is no grammar by itself. */
function ebnfWithin(format: object, path: string): string | null {
  const { type, json_schema: schema, pattern, grammar, ...own } = format as Readonly<Record<string, unknown>>
  try {
    if (type === 'json_schema') return schemaToGrammar(schema, { isStrict: own['is_strict'] === true })
    if (type === 'regex' && typeof pattern === 'string') return regexGrammar(pattern)
    return type === 'grammar' && typeof grammar === 'string' ? grammar : null
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    const { field } = own
    throw typeof field === 'string' || field === null ? error.of(field) : error.inside(path)
  }
}
