/**
 * Grammars as XGrammar prints them: a rule is a list of alternatives, and an alternative a list of elements without groups. Read and
 * written here for `separate-alternatives.ts`; knows nothing of what the elements match.
 */
import { InvariantError } from '../../../core/errors.ts'

/** Elements as they are written: `"text"`, `[a-z]`, `[a-z]*`, the name of a rule, or a name with a count, `rule{2, 5}`. */
export type Alternative = readonly string[]

export interface BnfRule {
  readonly name: string
  /** An empty one matches the empty text. */
  readonly alternatives: readonly Alternative[]
  /** What follows them: a lookahead assertion, or nothing. */
  readonly suffix: string
}

/** A rule of another form, which is left as it is. */
export interface OpaqueRule {
  readonly name: string
  readonly body: string
}

const RULE_STARTS = /\n(?=[\w.-]+ ::= )/
const RULE = /^([\w.-]+) ::= ([^]*)$/
const TOKEN = / *("(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]\*?|[\w.-]+(?:\{-?\d+, -?\d+\})?|[()|])/y
/** In strings and classes. XGrammar reads `\x` with all hexadecimal digits behind it, but prints it with two. */
const HEX_ESCAPE = /\\(?:x([0-9a-f]{2})|.)/g

export function parseBnf(grammar: string): readonly (BnfRule | OpaqueRule)[] {
  return grammar.trimEnd().split(RULE_STARTS).map(parseRule)
}

function parseRule(text: string): BnfRule | OpaqueRule {
  const [, name, body = ''] = RULE.exec(text.trim()) ?? []
  if (name === undefined) throw new InvariantError(`XGrammar printed a rule that cannot be read: ${text}`)
  if (!body.startsWith('(')) return { name, body }
  const alternatives: string[][] = []
  let depth = 0
  TOKEN.lastIndex = 0
  do {
    const at = TOKEN.lastIndex
    const token = TOKEN.exec(body)?.[1]
    if (token === undefined)
      throw new InvariantError(`XGrammar printed a rule that cannot be read: ${name} at ${at}.`)
    if (token === ')') depth--
    else if (token === '(') {
      if (++depth === 2) alternatives.push([])
    } else if (token === '""' && depth === 1) alternatives.push([])
    else if (token !== '|' && token !== '""') alternatives.at(-1)?.push(withPlainEscapes(token))
  } while (depth > 0)
  return { name, alternatives, suffix: withPlainEscapes(body.slice(TOKEN.lastIndex)) }
}

function withPlainEscapes(element: string): string {
  return element.replaceAll(HEX_ESCAPE, (escape, code?: string) =>
    code === undefined ? escape : `\\u00${code}`,
  )
}

export function writeBnf(rules: readonly (BnfRule | OpaqueRule)[]): string {
  return rules
    .map((rule) => {
      if ('body' in rule) return `${rule.name} ::= ${rule.body}`
      const alternatives = rule.alternatives.map((one) => (one.length === 0 ? '""' : `(${one.join(' ')})`))
      return `${rule.name} ::= (${alternatives.join(' | ')})${rule.suffix}`
    })
    .join('\n')
}
