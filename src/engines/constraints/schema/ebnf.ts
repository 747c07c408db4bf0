/** Pieces of grammars in XGrammar's EBNF. */

/** A text as it is. */
export function literal(text: string): string {
  let escaped = ''
  for (const character of text) escaped += escapeInLiteral(character)
  return `"${escaped}"`
}

function escapeInLiteral(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`
  const code = character.codePointAt(0) as number
  return code < 0x20 || code > 0x7e ? escapeCode(code) : character
}

/** One character, between the brackets of a class. */
export function inClass(code: number): string {
  const isPlain =
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
  return isPlain ? String.fromCodePoint(code) : escapeCode(code)
}

function escapeCode(code: number): string {
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`
}

/**
 * XGrammar writes wider ones as any number of items in front of 128: each place of a text may then be in any of them, and one mask takes
 * half a second.
 */
const WIDEST_RANGE = 256
/** Each place of it costs a millisecond or more to compile. */
const WIDEST_BLOCKS = 1024
const BLOCK = 64

/** @param most Infinity for any number */
export function repeat(item: string, least: number, most: number): string {
  if (most === 0) return '""'
  if (least === 1 && most === 1) return item
  if (least === 0 && most === 1) return `${item}?`
  if (most === Infinity) return least === 0 ? `${item}*` : least === 1 ? `${item}+` : `${item}{${least},}`
  if (most <= WIDEST_RANGE || most - least > WIDEST_BLOCKS) return `${item}{${least},${most}}`
  const more = upTo(item, most - least)
  return least === 0 ? more : `(${exactly(item, least)} ${more})`
}

function exactly(item: string, count: number): string {
  const [blocks, rest] = [Math.floor(count / BLOCK), count % BLOCK]
  if (blocks === 0) return repeat(item, rest, rest)
  return `((${item}{${BLOCK}}){${blocks}} ${repeat(item, rest, rest)})`
}

/** Whole blocks, then what is left of one, so that a text is read in one way alone. */
function upTo(item: string, most: number): string {
  if (most < BLOCK) return repeat(item, 0, most)
  return `(${item}{${BLOCK}} ${upTo(item, most - BLOCK)} | ${item}{0,${BLOCK - 1}})`
}
