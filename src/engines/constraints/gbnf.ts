/**
 * llama.cpp's grammars as XGrammar reads them. Its dialect is the same, but it has no `.` for any character, and its classes look at
 * ASCII only.
 */
import { characterSet } from './schema/strings/character-class.ts'
import { complement, type Ranges, single, union } from './schema/strings/character-ranges.ts'
import { SchemaError } from './schema/schema-error.ts'

/** Strings, classes, comments and names, which may hold dots of their own; or a dot. */
const PARTS = /"(?:\\.|[^"\\\n])*"|\[(?:\\.|[^\]\\\n])*\]|#[^\n]*|[A-Za-z_-][\w.-]*|\./g
/** Beyond ASCII, or what XGrammar would print otherwise than it reads it. */
const REWRITTEN = /[^\0-\x7f]|\\[uUx^]/
const MEMBER = /\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\?([^])/uy
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

/** @throws SchemaError */
export function fromGbnf(grammar: string): string {
  return grammar.replaceAll(PARTS, (part) => {
    if (part === '.') return '[^]'
    return part.startsWith('[') && REWRITTEN.test(part) ? rewriteClass(part) : part
  })
}

function rewriteClass(text: string): string {
  const isNegated = text.startsWith('[^')
  const codes = [...membersOf(text.slice(isNegated ? 2 : 1, -1))]
  const ranges: Ranges[] = []
  for (let i = 0; i < codes.length; i++) {
    const [first, dash, last] = codes.slice(i, i + 3)
    if (first === undefined) break
    if (dash?.isDash === true && last !== undefined) {
      ranges.push([[first.code, last.code]])
      i += 2
    } else ranges.push(single(first.code))
  }
  const all = union(...ranges)
  const set = characterSet(isNegated ? complement(all) : all)
  if (set === null)
    throw new SchemaError('', `the class ${text} has too many characters beyond ASCII, but not all`)
  return set
}

function* membersOf(text: string): Generator<{ readonly code: number; readonly isDash: boolean }> {
  MEMBER.lastIndex = 0
  for (let match = MEMBER.exec(text); match !== null; match = MEMBER.exec(text)) {
    const [whole, two, four, eight, character = ''] = match
    const hex = two ?? four ?? eight
    const isEscaped = whole.startsWith('\\')
    const meant = isEscaped ? (CONTROLS[character] ?? character) : character
    const code = hex === undefined ? (meant.codePointAt(0) ?? 0) : Number.parseInt(hex, 16)
    yield { code, isDash: whole === '-' }
  }
}
