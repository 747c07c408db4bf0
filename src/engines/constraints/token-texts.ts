/**
 * The texts of a vocabulary as XGrammar takes them: byte-level, a character for each byte, which is how GPT-2's tokenizer writes
 * its vocabulary. Bytes that are no UTF-8 by themselves can be written in no other way.
 */
import { byteLevelText } from '../../core/text/byte-characters.ts'

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

/** @param shownSpecialTexts of the control tokens that stand for their text */
export function byteLevelTexts(
  { bytes, offsets, ...special }: GrammarVocabulary,
  shownSpecialTexts: readonly string[],
): readonly string[] {
  const texts = Array.from({ length: offsets.length - 1 }, (_, tokenId) =>
    byteLevelText(bytes.subarray(offsets[tokenId], offsets[tokenId + 1])),
  )
  for (const [index, text] of special.specialTexts.entries()) {
    const tokenId = special.specialTokenIds[index]
    if (tokenId === undefined || !shownSpecialTexts.includes(text)) continue
    if (!special.endTokenIds.includes(tokenId)) texts[tokenId] = byteLevelText(Buffer.from(text))
  }
  return texts
}
