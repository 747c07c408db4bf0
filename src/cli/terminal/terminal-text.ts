/**
 * Text from users, such as names and e-mail addresses, on its way to a terminal: characters that move the cursor, reverse
 * the line or are invisible are escaped as in a JSON string.
 */

/** Controls, formats (directions and joiners among them), halves of pairs, separators of lines. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Always one line; what it gives inside a JSON string is the same string. */
export function escapeUnseen(text: string): string {
  return text.replaceAll(UNSEEN, escapeUnits)
}

/** JSON on one line that parses to exactly this. */
export function toJsonLine(value: unknown): string {
  return escapeUnseen(JSON.stringify(value))
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
