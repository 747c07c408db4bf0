/**
 * Byte-level BPE of o200k (gpt-oss, `gpt-4o` in llama.cpp) and Tekken (Mistral), whose words end where a small letter is followed by
 * a capital one. llama.cpp only approximates their patterns: it cuts at every mark of Hindi and Thai, and knows capitals of ASCII
 * alone. Words are cut here, and each is merged by llama.cpp, under a pre-tokenizer that leaves it whole. Owned by the vocabulary.
 */
import type { CasedPreTokenizer } from '../../../checkpoints/tokenizers/tokenizer-keys.ts'
import { SpecialTexts } from '../../../checkpoints/tokenizers/special-texts.ts'
import { InvariantError } from '../../../core/errors.ts'
import type { Bindings } from '../ffi/bindings.ts'
import type { Pointer } from '../ffi/structs.ts'
import { joinTokens } from './join-tokens.ts'
import { type OwnTokenizer, readTokens, type VocabularyToken } from './own-tokenizer.ts'

const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
const FRONT = String.raw`[^\r\n\p{L}\p{N}]?`
// The long s is an s to patterns that take both cases.
const CONTRACTION = `(?:'(?:[sSſ]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD]))?`
const SPACE = String.raw`\p{White_Space}`
const REST = String.raw` ?[^${SPACE}\p{L}\p{N}]+[\r\n/]*|${SPACE}*[\r\n]+|${SPACE}+(?!\P{White_Space})|${SPACE}+`

const letters = (end: string): string => `${FRONT}${UPPER}*${LOWER}+${end}|${FRONT}${UPPER}+${LOWER}*${end}`
const PATTERNS: Readonly<Record<CasedPreTokenizer, string>> = {
  'gpt-4o': String.raw`${letters(CONTRACTION)}|\p{N}{1,3}|${REST}`,
  tekken: String.raw`${letters('')}|\p{N}|${REST}`,
}

/** Some thousand characters and the rest of a word: what a space separates from other text is no part of its words. */
const SLICE = /[^]{1,8192}[^ ]*/g
/** Words whose tokens are remembered. */
const MAX_KNOWN_WORDS = 20_000
/** Of UTF-16 units. */
const MAX_KNOWN_WORD_LENGTH = 32

export interface CasedWordsOptions {
  readonly pre: CasedPreTokenizer
  /** Whether a word that is a token is not merged. */
  readonly ignoresMerges: boolean
}

export class CasedWords implements OwnTokenizer {
  readonly #api: Bindings
  readonly #vocab: Pointer
  readonly #pattern: RegExp
  readonly #special: SpecialTexts
  readonly #specialIds: ReadonlyMap<string, number>
  readonly #hasSpecialWithSpace: boolean
  /** By its bytes as the vocabulary writes them; empty where all words are merged. */
  readonly #whole: ReadonlyMap<string, number>
  readonly #known = new Map<string, Int32Array>()

  constructor(api: Bindings, vocab: Pointer, { pre, ignoresMerges }: CasedWordsOptions) {
    const tokens = readTokens(api, vocab)
    const special = tokens.filter(({ isSpecial }) => isSpecial)
    this.#api = api
    this.#vocab = vocab
    this.#pattern = new RegExp(PATTERNS[pre], 'gu')
    this.#special = new SpecialTexts(special.map(({ text }) => text))
    this.#specialIds = new Map(special.map(({ text, id }) => [text, id]))
    this.#hasSpecialWithSpace = special.some(({ text }) => text.includes(' '))
    this.#whole = new Map(ignoresMerges ? tokens.filter((token) => !token.isSpecial).map(toEntry) : [])
  }

  tokenize(text: string): Int32Array {
    const parts: Int32Array[] = []
    let plainFrom = 0
    for (let i = 0; i < text.length;) {
      const length = this.#special.lengthAt(text, i)
      if (length === 0) {
        i++
        continue
      }
      this.#tokenizeWords(text.slice(plainFrom, i), parts)
      parts.push(Int32Array.of(this.#specialIds.get(text.slice(i, i + length)) ?? 0))
      i += length
      plainFrom = i
    }
    this.#tokenizeWords(text.slice(plainFrom), parts)
    return joinTokens(parts)
  }

  *slices(text: string): Generator<string> {
    if (this.#hasSpecialWithSpace) return yield text
    for (const [slice] of text.matchAll(SLICE)) yield slice
  }

  #tokenizeWords(text: string, parts: Int32Array[]): void {
    for (const [word] of text.matchAll(this.#pattern)) parts.push(this.#tokenizeWord(word))
  }

  #tokenizeWord(word: string): Int32Array {
    const known = this.#known.get(word)
    if (known !== undefined) return known
    const bytes = Buffer.from(word)
    const id = this.#whole.get(bytes.toString('latin1'))
    const tokenIds = id === undefined ? this.#merge(bytes) : Int32Array.of(id)
    if (word.length <= MAX_KNOWN_WORD_LENGTH) {
      if (this.#known.size === MAX_KNOWN_WORDS) this.#known.clear()
      this.#known.set(word, tokenIds)
    }
    return tokenIds
  }

  #merge(bytes: Buffer): Int32Array {
    const buffer = new Int32Array(bytes.length)
    const count = this.#api.tokenize(this.#vocab, bytes, bytes.length, buffer, buffer.length, false, false)
    if (count < 0) throw new InvariantError(`llama.cpp cannot tokenize ${bytes.length} bytes.`)
    return buffer.slice(0, count)
  }
}

/** The printable letters that byte-level BPE writes for bytes, and the bytes. */
const BYTES_OF_LETTERS: ReadonlyMap<string, number> = new Map(byteLetters())

function byteLetters(): [letter: string, byte: number][] {
  const isOwn = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
  const all = Array.from({ length: 256 }, (_, byte) => byte)
  const others = all.filter((byte) => !isOwn(byte))
  return all.map((byte) => [String.fromCharCode(isOwn(byte) ? byte : 256 + others.indexOf(byte)), byte])
}

function toEntry({ text, id }: VocabularyToken): [bytes: string, id: number] {
  const bytes = Array.from(text, (letter) => BYTES_OF_LETTERS.get(letter) ?? 0)
  return [String.fromCharCode(...bytes), id]
}
