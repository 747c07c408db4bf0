/**
 * Text to tokens and tokens to bytes. Special tokens are recognised inside one piece of a prompt and never across a
 * border between two. The bytes of all tokens are asked for once, when the model opens, so that a step costs no native
 * call per token; joining them to text is the scheduler's work.
 */
import { InvariantError, ServiceError } from '../../core/errors.ts'
import type { Prompt } from '../../protocol/engine.ts'
import type { RunnerOptions } from '../../protocol/runner-options.ts'
import type { Bindings } from './ffi/bindings.ts'
import { splitLongRuns } from './long-runs.ts'
import type { Pointer } from './ffi/structs.ts'
import type { Model } from './model.ts'
import { readTokenTable, type TokenTable } from './token-table.ts'

/** llama.cpp's "no such token". */
const NO_TOKEN = -1
const NEWLINE_AFTER_SPACE = ' \n'
/** NFC makes UTF-8 text at most this many times shorter (Unicode Standard Annex 15). */
const NFC_FACTOR = 3
/** Bits of `llama_token_attr`: unknown, control, user-defined. */
const ADDED = (1 << 0) | (1 << 3) | (1 << 4)

type VocabularyOptions = Pick<RunnerOptions, 'modelId'> &
  Pick<Model, 'vocab' | 'hasBos' | 'putsSpaceAtStart' | 'normalizesText'>

export class Vocabulary {
  readonly bosText: string
  readonly eosText: string
  readonly maxTokenBytes: number
  readonly specialTexts: readonly string[]
  readonly #api: Bindings
  readonly #vocab: Pointer
  readonly #modelId: string
  readonly #table: TokenTable
  readonly #bosId: number
  readonly #eosId: number
  /** What llama.cpp does with everything it is given, and behind every special token. */
  readonly #putsSpaceInFront: boolean
  readonly #putsSpaceAtStart: boolean
  readonly #normalizesText: boolean

  constructor(api: Bindings, options: VocabularyOptions) {
    const { modelId, vocab, hasBos, putsSpaceAtStart, normalizesText } = options
    this.#api = api
    this.#vocab = vocab
    this.#modelId = modelId
    this.#table = readTokenTable(api, vocab)
    this.#normalizesText = normalizesText
    this.maxTokenBytes = this.#table.maxTokenBytes * (normalizesText ? NFC_FACTOR : 1)
    this.specialTexts = this.#table.specialTexts
    this.#bosId = hasBos ? api.vocabBos(vocab) : NO_TOKEN
    this.#eosId = api.vocabEos(vocab)
    this.bosText = this.#bosId === NO_TOKEN ? '' : api.vocabText(vocab, this.#bosId)
    this.eosText = this.#eosId === NO_TOKEN ? '' : api.vocabText(vocab, this.#eosId)
    this.#putsSpaceAtStart = putsSpaceAtStart
    this.#putsSpaceInFront = this.#textOf(this.#tokenizeText('a')) === ' a'
  }

  /** @throws ServiceError `prompt_empty` when there is nothing to begin with. */
  tokenize({ pieces, addSpecial }: Prompt): Int32Array {
    const parts: Int32Array[] = []
    if (addSpecial && this.#bosId !== NO_TOKEN && this.#api.vocabAddsBos(this.#vocab)) {
      parts.push(Int32Array.of(this.#bosId))
    }
    const normalized = this.#normalizesText ? pieces.map((piece) => piece.normalize('NFC')) : pieces
    const texts = normalized.filter((piece) => piece !== '').flatMap(splitLongRuns)
    texts.forEach((text, i) =>
      parts.push(i === 0 ? this.#tokenizeStart(text) : this.#tokenizeContinuation(text, parts.at(-1))),
    )
    if (addSpecial && texts.length > 0 && this.#eosId !== NO_TOKEN && this.#api.vocabAddsEos(this.#vocab)) {
      parts.push(Int32Array.of(this.#eosId))
    }
    const tokenIds = concat(parts)
    if (tokenIds.length > 0) return tokenIds
    if (addSpecial && this.#bosId !== NO_TOKEN) return Int32Array.of(this.#bosId)
    throw new ServiceError('prompt_empty', { model: this.#modelId }, { param: 'prompt' })
  }

  /** The bytes a token stands for in generated text; empty for control tokens. */
  tokenBytes(tokenId: number): Uint8Array {
    return this.#table.bytes.subarray(this.#table.offsets[tokenId], this.#table.offsets[tokenId + 1])
  }

  isEndOfGeneration(tokenId: number): boolean {
    return this.#table.isEndOfGeneration[tokenId] === 1
  }

  #tokenizeStart(text: string): Int32Array {
    const tokenIds = this.#tokenizeText(text)
    const isBegun = /^[ ▁]/.test(text) || this.#isAdded(tokenIds[0])
    return this.#putsSpaceAtStart && !isBegun ? this.#tokenizeText(` ${text}`) : tokenIds
  }

  /**
   * Tokenizes text that continues other text. Some tokenizers put a space in front of whatever they are given; the
   * newline takes it, and both are cut off again. Behind a special token the space belongs there.
   */
  #tokenizeContinuation(text: string, before: Int32Array | undefined): Int32Array {
    if (!this.#putsSpaceInFront || this.#isAdded(before?.at(-1))) return this.#tokenizeText(text)
    const tokenIds = this.#tokenizeText(`\n${text}`)
    let front = ''
    for (let count = 0; count < tokenIds.length && front.length < NEWLINE_AFTER_SPACE.length; count++) {
      front += this.#textOf(tokenIds.subarray(count, count + 1))
      if (front === NEWLINE_AFTER_SPACE) return tokenIds.subarray(count + 1)
    }
    return this.#tokenizeText(text)
  }

  #isAdded(tokenId: number | undefined): boolean {
    return tokenId !== undefined && (this.#api.vocabAttributes(this.#vocab, tokenId) & ADDED) !== 0
  }

  #tokenizeText(text: string): Int32Array {
    const bytes = Buffer.from(text)
    // A token stands for at least one byte, but for the space some tokenizers add.
    const buffer = new Int32Array(bytes.length + 8)
    const count = this.#api.tokenize(this.#vocab, bytes, bytes.length, buffer, buffer.length, false, true)
    if (count >= 0) return buffer.subarray(0, count)
    const larger = new Int32Array(-count)
    const recount = this.#api.tokenize(this.#vocab, bytes, bytes.length, larger, larger.length, false, true)
    if (recount < 0) throw new InvariantError(`llama.cpp cannot tokenize ${bytes.length} bytes.`)
    return larger.subarray(0, recount)
  }

  #textOf(tokenIds: Int32Array): string {
    return Buffer.concat(Array.from(tokenIds, (tokenId) => this.tokenBytes(tokenId))).toString('utf8')
  }
}

function concat(parts: readonly Int32Array[]): Int32Array {
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only.slice()
  const whole = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}
