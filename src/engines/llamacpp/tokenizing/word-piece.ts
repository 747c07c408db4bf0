/**
 * BERT's tokenizer, as `BertNormalizer`, `BertPreTokenizer` and `WordPiece` of Hugging Face's tokenizers compute it. llama.cpp
 * has one too, which drops vowels of Hindi, leaves Hangul whole and cuts words of any length into pieces, so that models see
 * tokens they were not trained on. Works on the vocabulary of a loaded model. Owned by the vocabulary.
 */
import type { Bindings } from '../ffi/bindings.ts'
import type { Pointer } from '../ffi/structs.ts'

/** Characters of the longest word that is not unknown as a whole. */
const MAX_WORD_LENGTH = 100
/** What a token begins with that begins a word, in GGUF. */
const WORD_START = '▁'
const UNKNOWN_TEXT = '[UNK]'
/** Bits of `llama_token_attr`: unknown, control. */
const SPECIAL = (1 << 0) | (1 << 3)

/** Tab and line ends separate words; other control characters vanish. */
const CONTROL = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\ufffd]/gu
const ACCENT = /\p{Mn}/gu
const UPPER_CASE = /\p{Changes_When_Lowercased}/gu
/** A word by itself: punctuation, ASCII symbols, Chinese characters. */
const SINGLE = String.raw`\p{P}$+<=>^\x60|~\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2ceaf}\u{2f800}-\u{2fa1f}`
const WORDS = new RegExp(`[${SINGLE}]|[^\\s${SINGLE}]+`, 'gu')

/** Some thousand characters and the rest of a word: nothing that a space separates is one token. */
const SLICE = /[^]{1,8192}\S*/gu

interface Token {
  readonly id: number
  readonly text: string
  readonly isSpecial: boolean
}

export class WordPiece {
  readonly #ids = new Map<string, number>()
  readonly #specialIds = new Map<string, number>()
  readonly #unknownIds: readonly number[]
  /** With a group, so that what it splits off stays; null where there is no special text. */
  readonly #special: RegExp | null
  readonly #longestToken: number

  /** @param tokens the longest may be the end of a word of as many characters */
  constructor(tokens: Iterable<Token>) {
    let longest = 0
    for (const { id, text, isSpecial } of tokens) {
      if (text === '') continue
      ;(isSpecial ? this.#specialIds : this.#ids).set(text, id)
      longest = Math.max(longest, text.length)
    }
    const unknownId = this.#specialIds.get(UNKNOWN_TEXT)
    this.#unknownIds = unknownId === undefined ? [] : [unknownId]
    this.#longestToken = longest
    const patterns = [...this.#specialIds.keys()].map((text) =>
      text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`),
    )
    this.#special = patterns.length === 0 ? null : new RegExp(`(${patterns.join('|')})`)
  }

  static read(api: Bindings, vocab: Pointer): WordPiece {
    const tokens = Array.from({ length: api.vocabTokens(vocab) }, (_, id) => ({
      id,
      text: api.vocabText(vocab, id),
      isSpecial: (api.vocabAttributes(vocab, id) & SPECIAL) !== 0,
    }))
    return new WordPiece(tokens)
  }

  /** Special tokens are found before anything is normalized. */
  tokenize(text: string): Int32Array {
    const parts = this.#special === null ? [text] : text.split(this.#special)
    return Int32Array.from(
      parts.flatMap((part, index) => {
        const specialId = index % 2 === 1 ? this.#specialIds.get(part) : undefined
        return specialId === undefined ? this.#tokenizeText(part) : [specialId]
      }),
    )
  }

  #tokenizeText(text: string): readonly number[] {
    return Array.from(normalize(text).matchAll(WORDS), ([word]) => this.#tokenizeWord(word)).flat()
  }

  /** The longest token that the word begins with, and so on; unknown as a whole where no token goes on. */
  #tokenizeWord(word: string): readonly number[] {
    if (word.length > MAX_WORD_LENGTH && Array.from(word).length > MAX_WORD_LENGTH) return this.#unknownIds
    const ids: number[] = []
    for (let start = 0; start < word.length;) {
      const prefix = start === 0 ? WORD_START : ''
      let end = Math.min(word.length, start + this.#longestToken)
      let id: number | undefined
      for (; end > start; end--) {
        id = this.#ids.get(prefix + word.slice(start, end))
        if (id !== undefined) break
      }
      if (id === undefined) return this.#unknownIds
      ids.push(id)
      start = end
    }
    return ids
  }
}

/** The parts of a text, in order, that can be tokenized each by itself. */
export function* wordSlices(text: string): Generator<string> {
  for (const [slice] of text.matchAll(SLICE)) yield slice
}

function normalize(text: string): string {
  return (
    text
      .replaceAll(CONTROL, '')
      .normalize('NFD')
      .replaceAll(ACCENT, '')
      // One by one, without the rule for a sigma at the end of a word.
      .replaceAll(UPPER_CASE, (character) => character.toLowerCase())
  )
}
