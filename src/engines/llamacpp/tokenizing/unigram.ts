/**
 * Unigram as Hugging Face's tokenizers compute it, for encoders of the XLM-RoBERTa kind: `Precompiled`, words behind marks, and
 * the path of the highest score through each. llama.cpp has one too, which maps characters one by one where these look at
 * whole user-perceived ones. Works on the vocabulary of a loaded model. Owned by the vocabulary.
 */
import type { Bindings } from '../ffi/bindings.ts'
import type { Pointer } from '../ffi/structs.ts'
import { CharacterMap } from './character-map.ts'
import { type OwnTokenizer, readTokens, SpecialTokens, type VocabularyToken } from './own-tokenizer.ts'

const MARK = '▁'
/** How much less than that of the least likely token the score of an unknown character is. */
const UNKNOWN_PENALTY = 10
/** Words whose tokens are remembered. */
const MAX_KNOWN_WORDS = 20_000
/** Of UTF-16 units. */
const MAX_KNOWN_WORD_LENGTH = 32
/** Some thousand characters and the rest of a word: nothing that a space separates is one token. */
const SLICE = /[^]{1,8192}[^ ]*/g

export interface UnigramOptions {
  readonly characterMap: Uint8Array | null
  /** Whether words end at any whitespace; at spaces only otherwise. */
  readonly splitsAtWhitespace: boolean
}

interface ScoredToken extends VocabularyToken {
  readonly score: number
}

interface Step {
  readonly start: number
  readonly id: number
  readonly score: number
}

export class Unigram implements OwnTokenizer {
  readonly #tokens = new Map<string, { readonly id: number; readonly score: number }>()
  /** The length of the longest token that begins with a UTF-16 unit. */
  readonly #longest = new Map<number, number>()
  readonly #special: SpecialTokens
  readonly #characterMap: CharacterMap | null
  readonly #options: UnigramOptions
  readonly #unknownId: number
  readonly #unknownScore: number
  readonly #known = new Map<string, readonly number[]>()

  constructor(tokens: readonly ScoredToken[], options: UnigramOptions) {
    this.#options = options
    this.#special = new SpecialTokens(tokens)
    this.#characterMap = options.characterMap === null ? null : new CharacterMap(options.characterMap)
    let lowest = 0
    for (const { id, text, score } of tokens) {
      this.#tokens.set(text, { id, score })
      lowest = Math.min(lowest, score)
      const first = text.charCodeAt(0)
      this.#longest.set(first, Math.max(this.#longest.get(first) ?? 0, text.length))
    }
    this.#unknownId = tokens.find(({ isUnknown }) => isUnknown)?.id ?? 0
    this.#unknownScore = lowest - UNKNOWN_PENALTY
  }

  static read(api: Bindings, vocab: Pointer, options: UnigramOptions): Unigram {
    const tokens = readTokens(api, vocab).map((token) => ({
      ...token,
      score: api.vocabScore(vocab, token.id),
    }))
    return new Unigram(tokens, options)
  }

  tokenize(text: string): Int32Array {
    return this.#special.tokenize(text, (part) =>
      this.#words(part).flatMap((word) => this.#tokenizeWord(word)),
    )
  }

  *slices(text: string): Generator<string> {
    for (const [slice] of text.matchAll(SLICE)) yield slice
  }

  /** Each with its mark. */
  #words(text: string): readonly string[] {
    const normalized = this.#characterMap?.apply(text) ?? text
    const separated = this.#options.splitsAtWhitespace
      ? normalized.split(/\p{White_Space}+/u).filter((word) => word !== '')
      : [withoutLastSpace(normalized).replaceAll(/ +/g, MARK)].filter((words) => words !== '')
    return separated.flatMap((words) => {
      const marked = words.startsWith(MARK) ? words : MARK + words
      return marked.match(/▁[^▁]*/g) ?? []
    })
  }

  #tokenizeWord(word: string): readonly number[] {
    const known = this.#known.get(word)
    if (known !== undefined) return known
    const ids = this.#findBestPath(word)
    if (word.length <= MAX_KNOWN_WORD_LENGTH) {
      if (this.#known.size === MAX_KNOWN_WORDS) this.#known.clear()
      this.#known.set(word, ids)
    }
    return ids
  }

  /** The path of the highest score (Viterbi); of equal ones the first that is found, as in Hugging Face's. */
  #findBestPath(word: string): readonly number[] {
    const best: (Step | undefined)[] = Array.from({ length: word.length + 1 })
    const offer = (end: number, step: Step) => {
      const current = best[end]
      if (current === undefined || step.score > current.score) best[end] = step
    }
    for (let start = 0; start < word.length;) {
      const scoreBefore = start === 0 ? 0 : (best[start]?.score ?? 0)
      const next = start + ((word.codePointAt(start) ?? 0) > 0xffff ? 2 : 1)
      const last = Math.min(word.length, start + (this.#longest.get(word.charCodeAt(start)) ?? 0))
      let isKnown = false
      for (let end = next; end <= last; end++) {
        const token = this.#tokens.get(word.slice(start, end))
        if (token === undefined) continue
        isKnown ||= end === next
        offer(end, { start, id: token.id, score: token.score + scoreBefore })
      }
      if (!isKnown) {
        offer(next, { start, id: this.#unknownId, score: this.#unknownScore + scoreBefore })
      }
      start = next
    }
    return this.#walkBack(best)
  }

  /** Unknown characters that follow each other are one token. */
  #walkBack(best: readonly (Step | undefined)[]): readonly number[] {
    const ids: number[] = []
    for (let step = best.at(-1); step !== undefined; step = step.start === 0 ? undefined : best[step.start]) {
      if (step.id !== this.#unknownId || ids.at(-1) !== step.id) ids.push(step.id)
    }
    return ids.toReversed()
  }
}

/** A regular expression would look at each run of whitespace from each of its characters. */
function withoutLastSpace(text: string): string {
  let end = text.length
  while (end > 0 && /\p{White_Space}/u.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
