/**
 * Makes untrusted text, such as names and e-mail addresses, safe for a terminal: characters that move the cursor,
 * reverse the line or are invisible are escaped as in a JSON string.
 */

/** Control and format characters (text direction and joiners among them), lone surrogates, line separators. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** The result is one line; inside a JSON string it means the same string. */
export function escapeUnseen(text: string): string {
  return text.replaceAll(UNSEEN, escapeUnits)
}

/** Control characters other than tab and newline, and those that turn the direction of the text. */
const MOVING = /(?![\t\n])[\p{Cc}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Keeps lines, and the joiners that scripts and emoji are written with; what would steer the terminal is escaped. */
export function escapeControls(text: string): string {
  return text.replaceAll(MOVING, escapeUnits)
}

/** JSON on one line that parses to exactly this. */
export function toJsonLine(value: unknown): string {
  return escapeUnseen(JSON.stringify(value))
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
