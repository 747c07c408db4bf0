/**
 * One character of a set, in XGrammar's EBNF. Its classes look at ASCII only: a class allows nothing beyond, a negated one
 * everything. Small sets beyond ASCII are therefore lists of literals.
 */
import { difference, intersection, LINE_ENDS, type Ranges, SPACES, union } from './character-ranges.ts'
import { inClass, literal } from '../ebnf.ts'

const ASCII: Ranges = [[0, 0x7f]]
const BEYOND: Ranges = [[0x80, 0x10ffff]]
/** What `.` and `\S` leave out beyond ASCII, and may not. */
const TOLERATED = union(SPACES, LINE_ENDS)
const MAX_LITERALS = 1024
const CARET: Ranges = [[0x5e, 0x5e]]
const NUL = inClass(0)

/** Null where it cannot be written: too many characters beyond ASCII, but not all. */
export function characterSet(ranges: Ranges): string | null {
  const ascii = intersection(ranges, ASCII)
  const beyond = intersection(ranges, BEYOND)
  const missing = difference(difference(BEYOND, beyond), TOLERATED)
  if (beyond.length > 0 && missing.length === 0) return `[^${members(difference(ASCII, ascii))}]`
  const count = beyond.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  if (count > MAX_LITERALS) return null
  const literals = codesOf(beyond).map((code) => literal(String.fromCodePoint(code)))
  const alternatives = ascii.length > 0 ? [asciiClass(ascii), ...literals] : literals
  return alternatives.length === 1 ? alternatives.join('') : `(${alternatives.join(' | ')})`
}

/**
 * XGrammar prints a class without escaping a `^` in front, and would read a negated one then; and a NUL by itself as a text, which it
 * reads as empty.
 */
function asciiClass(ranges: Ranges): string {
  const others = members(difference(ranges, CARET))
  if (others === '') return literal('^')
  return `[${others === NUL ? NUL : ''}${others}${members(intersection(ranges, CARET))}]`
}

function members(ranges: Ranges): string {
  return ranges
    .map(([first, last]) => (first === last ? inClass(first) : `${inClass(first)}-${inClass(last)}`))
    .join('')
}

export function codesOf(ranges: Ranges): readonly number[] {
  return ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i))
}
