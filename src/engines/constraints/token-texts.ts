/**
 * The texts of a vocabulary as XGrammar takes them: byte-level, a character for each byte, which is how GPT-2's tokenizer writes
 * its vocabulary. Bytes that are no UTF-8 by themselves can be written in no other way.
 */

export interface GrammarVocabulary {
  /** The bytes of all tokens, one after the other; token i has those from `offsets[i]` to `offsets[i + 1]`. */
  readonly bytes: Uint8Array
  readonly offsets: Int32Array
  /** Tokens that end a text. */
  readonly endTokenIds: readonly number[]
  /** Texts of control tokens, which have no bytes. */
  readonly specialTexts: readonly string[]
  /** Their tokens, in the same order. */
  readonly specialTokenIds: readonly number[]
}

/** Bytes that stand for themselves: printable characters of Latin-1. */
const isPrintable = (byte: number): boolean =>
  (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad)

/** The others get the characters from here on, in their order. */
const FIRST_REPLACEMENT = 0x100

function byteCharacters(): readonly string[] {
  let next = FIRST_REPLACEMENT
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++))
}

/** @param shownSpecialTexts of the control tokens that stand for their text */
export function byteLevelTexts(
  { bytes, offsets, ...special }: GrammarVocabulary,
  shownSpecialTexts: readonly string[],
): readonly string[] {
  const characters = byteCharacters()
  const toText = (some: Uint8Array): string => some.reduce((text, byte) => text + characters[byte], '')
  const texts = Array.from({ length: offsets.length - 1 }, (_, tokenId) =>
    toText(bytes.subarray(offsets[tokenId], offsets[tokenId + 1])),
  )
  for (const [index, text] of special.specialTexts.entries()) {
    const tokenId = special.specialTokenIds[index]
    if (tokenId === undefined || !shownSpecialTexts.includes(text)) continue
    if (!special.endTokenIds.includes(tokenId)) texts[tokenId] = toText(Buffer.from(text))
  }
  return texts
}
