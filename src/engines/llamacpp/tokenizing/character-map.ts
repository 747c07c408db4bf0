/**
 * The character map of a SentencePiece model, as `Precompiled` of Hugging Face's tokenizers applies it: to each user-perceived
 * character, or else to each of its code points. A map is a double-array trie (Darts) of UTF-8 texts, whose values say
 * where among the texts behind it the replacement begins. Used by the Unigram tokenizer.
 */
const UINT32_BYTES = 4
/** Bytes of the longest user-perceived character that is looked up as a whole. */
const MAX_WHOLE_BYTES = 5
/** Replacements that are remembered; there are hardly as many characters in use. */
const MAX_KNOWN = 65_536
/**
 * Runs of ASCII, each character of which is perceived as one, and runs of other text with the ASCII character in front and
 * behind, which may belong to what is perceived as one.
 */
const RUNS = /[\x20-\x7e]+(?=[\x20-\x7e]|$)|[^]+?(?:[\x20-\x7e](?=[\x20-\x7e])|$)/g
const PLAIN = /^[\x20-\x7e]+$/
const ENCODER = new TextEncoder()
const DECODER = new TextDecoder()

export class CharacterMap {
  readonly #trie: Uint32Array
  readonly #texts: Uint8Array
  readonly #segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
  readonly #known = new Map<string, string>()

  /** @param bytes the trie's length in bytes, the trie, the texts; as `tokenizer.ggml.precompiled_charsmap` holds them */
  constructor(bytes: Uint8Array) {
    const trieBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
    const end = UINT32_BYTES + trieBytes
    this.#trie = new Uint32Array(bytes.slice(UINT32_BYTES, end).buffer)
    this.#texts = bytes.slice(end)
  }

  apply(text: string): string {
    let result = ''
    for (const [run] of text.matchAll(RUNS)) {
      if (PLAIN.test(run)) for (const character of run) result += this.#replace(character)
      else for (const { segment } of this.#segmenter.segment(run)) result += this.#replace(segment)
    }
    return result
  }

  #replace(perceived: string): string {
    const known = this.#known.get(perceived)
    if (known !== undefined) return known
    const isShort = ENCODER.encode(perceived).length <= MAX_WHOLE_BYTES
    const replaced =
      (isShort ? this.#lookUp(perceived) : null) ??
      Array.from(perceived, (character) => this.#lookUp(character) ?? character).join('')
    if (!isShort) return replaced
    if (this.#known.size === MAX_KNOWN) this.#known.clear()
    this.#known.set(perceived, replaced)
    return replaced
  }

  /** What replaces the shortest beginning that the map has; the rest of the characters goes with it. */
  #lookUp(characters: string): string | null {
    let node = offsetOf(this.#trie[0] ?? 0)
    for (const byte of ENCODER.encode(characters)) {
      if (byte === 0) break
      node ^= byte
      const unit = this.#trie[node] ?? 0
      if (labelOf(unit) !== byte) return null
      node ^= offsetOf(unit)
      if (hasLeaf(unit)) return this.#textAt((this.#trie[node] ?? 0) & 0x7fff_ffff)
    }
    return null
  }

  /** Texts end with a zero. */
  #textAt(begin: number): string {
    const end = this.#texts.indexOf(0, begin)
    return DECODER.decode(this.#texts.subarray(begin, end < 0 ? undefined : end))
  }
}

function hasLeaf(unit: number): boolean {
  return ((unit >>> 8) & 1) === 1
}

/** A leaf has a bit that no byte has. */
function labelOf(unit: number): number {
  return (unit & 0x8000_00ff) >>> 0
}

function offsetOf(unit: number): number {
  return (unit >>> 10) << ((unit & 0x200) >>> 6)
}
