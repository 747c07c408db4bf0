/**
 * BERT's tokenizer, as `BertNormalizer`, `BertPreTokenizer` and `WordPiece` of Hugging Face's tokenizers compute it. llama.cpp
 * has one too, which drops vowels of Hindi, leaves Hangul whole and cuts words of any length into pieces, so that models see
 * tokens they were not trained on. Works on the vocabulary of a loaded model. Owned by the vocabulary.
 */
import type { Bindings } from '../ffi/bindings.ts'
import type { Pointer } from '../ffi/structs.ts'
import { type OwnTokenizer, readTokens, SpecialTokens, type VocabularyToken } from './own-tokenizer.ts'

/** Characters of the longest word that is not unknown as a whole. */
const MAX_WORD_LENGTH = 100
/** What a token begins with that begins a word, in GGUF. */
const WORD_START = '▁'
const UNKNOWN_TEXT = '[UNK]'

/** Tab and line ends separate words; other control characters vanish. */
const CONTROL = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\ufffd]/gu
const ACCENT = /\p{Mn}/gu
const UPPER_CASE = /\p{Changes_When_Lowercased}/gu
/** A word by itself: punctuation, ASCII symbols, Chinese characters. */
const SINGLE = String.raw`\p{P}$+<=>^\x60|~\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}`
const WORDS = new RegExp(`[${SINGLE}]|[^\\s${SINGLE}]+`, 'gu')

/** Some thousand characters and the rest of a word: nothing that a space separates is one token. */
const SLICE = /[^]{1,8192}\S*/gu

/** What is done to a text in front of everything else. */
export interface WordPieceOptions {
  readonly lowersCase: boolean
  readonly stripsAccents: boolean
}

export class WordPiece implements OwnTokenizer {
  /** The tokens that begin a word, without their mark. */
  readonly #starts = new Map<string, number>()
  /** Those that continue one. */
  readonly #continuations = new Map<string, number>()
  readonly #special: SpecialTokens
  readonly #unknownIds: readonly number[]
  readonly #longestToken: number
  readonly #options: WordPieceOptions

  /** @param tokens the longest may be the end of a word of as many characters */
  constructor(tokens: readonly VocabularyToken[], options: WordPieceOptions) {
    this.#options = options
    this.#special = new SpecialTokens(tokens)
    let longest = 0
    for (const { id, text, isSpecial } of tokens) {
      if (!isSpecial && text.startsWith(WORD_START)) this.#starts.set(text.slice(WORD_START.length), id)
      else if (!isSpecial) this.#continuations.set(text, id)
      longest = Math.max(longest, text.length)
    }
    const unknownId = this.#special.idOf(UNKNOWN_TEXT)
    this.#unknownIds = unknownId === undefined ? [] : [unknownId]
    this.#longestToken = longest
  }

  static read(api: Bindings, vocab: Pointer, options: WordPieceOptions): WordPiece {
    return new WordPiece(readTokens(api, vocab), options)
  }

  tokenize(text: string): Int32Array {
    return this.#special.tokenize(text, (part) => this.#tokenizeText(part))
  }

  *slices(text: string): Generator<string> {
    for (const [slice] of text.matchAll(SLICE)) yield slice
  }

  #tokenizeText(text: string): readonly number[] {
    return Array.from(normalize(text, this.#options).matchAll(WORDS), ([word]) =>
      this.#tokenizeWord(word),
    ).flat()
  }

  /** The longest token that the word begins with, and so on; unknown as a whole where no token goes on. */
  #tokenizeWord(word: string): readonly number[] {
    if (word.length > MAX_WORD_LENGTH && Array.from(word).length > MAX_WORD_LENGTH) return this.#unknownIds
    const ids: number[] = []
    for (let start = 0; start < word.length;) {
      const tokens = start === 0 ? this.#starts : this.#continuations
      let end = Math.min(word.length, start + this.#longestToken)
      let id: number | undefined
      for (; end > start; end--) {
        id = tokens.get(word.slice(start, end))
        if (id !== undefined) break
      }
      if (id === undefined) return this.#unknownIds
      ids.push(id)
      start = end
    }
    return ids
  }
}

function normalize(text: string, { lowersCase, stripsAccents }: WordPieceOptions): string {
  const cleaned = text.replaceAll(CONTROL, '')
  const plain = stripsAccents ? cleaned.normalize('NFD').replaceAll(ACCENT, '') : cleaned
  // One by one, without the rule for a sigma at the end of a word.
  return lowersCase ? plain.replaceAll(UPPER_CASE, (character) => character.toLowerCase()) : plain
}
