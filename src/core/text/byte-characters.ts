/** How byte-level tokenizers write their vocabularies: a character for each byte (GPT-2's `bytes_to_unicode`). */

/** Bytes that stand for themselves: printable characters of Latin-1. */
const isPrintable = (byte: number): boolean =>
  (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad)

/** The others get the characters from here on, in their order. */
const FIRST_REPLACEMENT = 0x100

function byteCharacters(): readonly string[] {
  let next = FIRST_REPLACEMENT
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++))
}

const CHARACTERS = byteCharacters()

/** As long in characters as the input in bytes. */
export function byteLevelText(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += CHARACTERS[byte]
  return text
}
