/**
 * Which tokens keep a text valid UTF-8 (RFC 3629, section 4). XGrammar's negated classes take any lead byte with as many bytes behind
 * it as it asks for. What stands for no character, overlong forms, surrogates and codes beyond U+10FFFF, would be read as several
 * U+FFFD, and a string would be longer than its schema allows. Used by a grammar thread on the masks that it makes.
 */
import type { GrammarVocabulary } from './token-texts.ts'

/** Lead bytes that take only some of the continuation bytes 0x80 to 0xbf right behind them: the first and the last of those. */
const SECOND_BYTES: ReadonlyMap<number, readonly [first: number, last: number]> = new Map([
  [0xe0, [0xa0, 0xbf]],
  [0xed, [0x80, 0x9f]],
  [0xf0, [0x90, 0xbf]],
  [0xf4, [0x80, 0x8f]],
])

export class ValidUtf8 {
  readonly #vocabulary: GrammarVocabulary
  /** A bit for each token, set where a text may hold it. */
  readonly #possible: Int32Array
  /** By lead byte: the same for tokens right behind it. */
  readonly #possibleBehind: ReadonlyMap<number, Int32Array>

  constructor(vocabulary: GrammarVocabulary) {
    this.#vocabulary = vocabulary
    this.#possible = this.#bitsOf((token) => isPossible(token))
    this.#possibleBehind = new Map(
      Array.from(SECOND_BYTES.keys(), (lead) => [
        lead,
        this.#bitsOf((token) => isPossible(token) && (token.length === 0 || mayFollow(lead, token[0] ?? 0))),
      ]),
    )
  }

  /** Leaves out of a mask the tokens that must not come behind a token; null at the beginning of a text. */
  restrict(mask: Int32Array, behind: number | null): void {
    const last = behind === null ? 0 : (this.#bytesOf(behind).at(-1) ?? 0)
    const possible = this.#possibleBehind.get(last) ?? this.#possible
    for (let i = 0; i < mask.length; i++) mask[i] = (mask[i] ?? 0) & (possible[i] ?? 0)
  }

  #bytesOf(tokenId: number): Uint8Array {
    const { bytes, offsets } = this.#vocabulary
    return bytes.subarray(offsets[tokenId], offsets[tokenId + 1])
  }

  #bitsOf(test: (token: Uint8Array) => boolean): Int32Array {
    const vocabSize = this.#vocabulary.offsets.length - 1
    const bits = new Int32Array(Math.ceil(vocabSize / 32))
    for (let tokenId = 0; tokenId < vocabSize; tokenId++) {
      if (test(this.#bytesOf(tokenId))) bits[tokenId >> 5] = (bits[tokenId >> 5] ?? 0) | (1 << (tokenId & 31))
    }
    return bits
  }
}

function isPossible(token: Uint8Array): boolean {
  return token.every(
    (byte, i) =>
      byte !== 0xc0 && byte !== 0xc1 && byte < 0xf5 && (i === 0 || mayFollow(token[i - 1] ?? 0, byte)),
  )
}

function mayFollow(lead: number, byte: number): boolean {
  const range = SECOND_BYTES.get(lead)
  return range === undefined || (byte >= range[0] && byte <= range[1])
}
