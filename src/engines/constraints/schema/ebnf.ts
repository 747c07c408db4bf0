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
