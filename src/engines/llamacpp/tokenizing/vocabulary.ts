/**
 * Text to tokens and tokens to bytes. Special tokens are recognised inside one piece of a prompt and never across a
 * border between two. The bytes of all tokens are asked for once, when the model opens, so that a step costs no native
 * call per token; joining them to text is the scheduler's work.
 */
import { InvariantError, ServiceError } from '../../../core/errors.ts'
import type { TextPrompt } from '../../../protocol/engine.ts'
import type { RunnerOptions } from '../../../protocol/runner-options.ts'
import type { TokenSlices } from '../../tokenizing/slice-job.ts'
import type { Bindings } from '../ffi/bindings.ts'
import { CasedWords } from './cased-words.ts'
import { joinTokens } from './join-tokens.ts'
import { splitLongRuns } from './long-runs.ts'
import type { Model } from '../model.ts'
import type { OwnTokenizer } from './own-tokenizer.ts'
import { TextSlicer } from './text-slices.ts'
import { readTokenTable, type TokenTable } from './token-table.ts'
import { Unigram } from './unigram.ts'
import { WordPiece } from './word-piece.ts'

/** llama.cpp's "no such token". */
const NO_TOKEN = -1
const SPACE = 0x20
const NEWLINE_AFTER_SPACE = ' \n'
/** NFC makes UTF-8 text at most this many times shorter (Unicode Standard Annex 15). */
const NFC_FACTOR = 3
/** Of the pieces of two texts that are read together: the first text, what stands between them, the second. */
const SECOND_TEXT = 2
/** Bits of `llama_token_attr`: unknown, control, user-defined. */
const ADDED = (1 << 0) | (1 << 3) | (1 << 4)

type VocabularyOptions = Pick<RunnerOptions, 'modelId'> &
  Pick<Model, 'vocab' | 'hasBos' | 'putsSpaceAtStart' | 'normalizesText' | 'tokenizer' | 'secondSegment'>

/** What there is to know of a vocabulary. Plain data, so that another thread can tokenize with the same one. */
export interface VocabularyData extends Omit<VocabularyOptions, 'hasBos'> {
  readonly table: TokenTable
  readonly bosId: number
  readonly eosId: number
  /** Put behind a text that no end token closes, as BERT does; `NO_TOKEN` where nothing is. */
  readonly sepId: number
  /** What llama.cpp does with everything it is given, and behind every special token. */
  readonly putsSpaceInFront: boolean
}

export class Vocabulary {
  readonly bosText: string
  readonly eosText: string
  /** What stands between two texts that are read together. */
  readonly pairSeparator: string
  readonly maxTokenBytes: number
  readonly specialTexts: readonly string[]
  /** Those that end a text. */
  readonly endTokenIds: readonly number[]
  readonly data: VocabularyData
  readonly #api: Bindings
  readonly #slicer: TextSlicer
  /** Null where llama.cpp tokenizes. */
  readonly #own: OwnTokenizer | null
  /** Put behind a text; `NO_TOKEN` where nothing is. */
  readonly #endId: number
  /** Those that were asked for. */
  readonly #tokenTexts = new Map<number, string>()

  constructor(api: Bindings, data: VocabularyData) {
    const { vocab, table, bosId, eosId, sepId } = data
    this.#api = api
    this.data = data
    this.#slicer = new TextSlicer(table.sliceRules)
    this.#own = openTokenizer(api, data)
    this.maxTokenBytes = table.maxTokenBytes * (data.normalizesText ? NFC_FACTOR : 1)
    this.specialTexts = table.specialTexts
    this.endTokenIds = [...table.isEndOfGeneration.keys()].filter((id) => this.isEndOfGeneration(id))
    this.bosText = bosId === NO_TOKEN ? '' : api.vocabText(vocab, bosId)
    this.eosText = eosId === NO_TOKEN ? '' : api.vocabText(vocab, eosId)
    const addsEos = eosId !== NO_TOKEN && api.vocabAddsEos(vocab)
    this.#endId = addsEos ? eosId : sepId
    this.pairSeparator =
      (addsEos ? this.eosText : '') + (sepId === NO_TOKEN ? '' : api.vocabText(vocab, sepId))
  }

  /** Asks llama.cpp for all that is to be known of a model's vocabulary. */
  static read(api: Bindings, options: VocabularyOptions): Vocabulary {
    const { modelId, vocab, hasBos, putsSpaceAtStart, normalizesText, tokenizer, secondSegment } = options
    const data: VocabularyData = {
      ...{ modelId, vocab, putsSpaceAtStart, normalizesText, tokenizer, secondSegment },
      table: readTokenTable(api, vocab),
      bosId: hasBos ? api.vocabBos(vocab) : NO_TOKEN,
      eosId: api.vocabEos(vocab),
      sepId: api.vocabAddsSep(vocab) ? api.vocabSep(vocab) : NO_TOKEN,
      putsSpaceInFront: false,
    }
    const vocabulary = new Vocabulary(api, data)
    const putsSpaceInFront = vocabulary.#textOf(vocabulary.#tokenizeText('a')) === ' a'
    return putsSpaceInFront ? new Vocabulary(api, { ...data, putsSpaceInFront }) : vocabulary
  }

  /** @throws ServiceError `prompt_empty` when there is nothing to begin with. */
  tokenize(prompt: TextPrompt): Int32Array {
    const slices = this.tokenizeSlices(prompt)
    for (;;) {
      const { done, value } = slices.next()
      if (done === true) return value
    }
  }

  /** The same, a slice of text at a time. @throws as `tokenize` */
  *tokenizeSlices({ pieces, addSpecial }: TextPrompt): TokenSlices {
    const { vocab, modelId, bosId, normalizesText, secondSegment } = this.data
    const parts: Int32Array[] = []
    if (addSpecial && bosId !== NO_TOKEN && this.#api.vocabAddsBos(vocab)) parts.push(Int32Array.of(bosId))
    let isStart = true
    let tokens = 0
    let secondPart = Number.POSITIVE_INFINITY
    for (const [index, piece] of pieces.entries()) {
      if (index === SECOND_TEXT) secondPart = parts.length
      for (const text of this.#slicesOf(normalizesText ? piece.normalize('NFC') : piece)) {
        parts.push(isStart ? this.#tokenizeStart(text) : this.#tokenizeContinuation(text, parts.at(-1)))
        isStart = false
        tokens += parts.at(-1)?.length ?? 0
        yield tokens
      }
    }
    if (addSpecial && !isStart && this.#endId !== NO_TOKEN) parts.push(Int32Array.of(this.#endId))
    if (secondSegment > 0) {
      for (const part of parts.slice(secondPart)) part.forEach((id, at) => (part[at] = id + secondSegment))
    }
    const tokenIds = joinTokens(parts)
    if (tokenIds.length > 0) return tokenIds
    if (addSpecial && bosId !== NO_TOKEN) return Int32Array.of(bosId)
    throw new ServiceError('prompt_empty', { model: modelId }, { param: 'prompt' })
  }

  /** The bytes a token stands for in generated text; empty for control tokens. */
  tokenBytes(tokenId: number): Uint8Array {
    return this.data.table.bytes.subarray(
      this.data.table.offsets[tokenId],
      this.data.table.offsets[tokenId + 1],
    )
  }

  /** As the vocabulary writes it. */
  tokenText(tokenId: number): string {
    const known = this.#tokenTexts.get(tokenId)
    if (known !== undefined) return known
    const text = this.#api.vocabText(this.data.vocab, tokenId)
    this.#tokenTexts.set(tokenId, text)
    return text
  }

  /** Control tokens written out; the space that the tokenizer puts in front of a text is taken off again. */
  detokenize(tokenIds: ArrayLike<number>): string {
    const { putsSpaceAtStart, putsSpaceInFront } = this.data
    const parts: Uint8Array[] = []
    let isStart = putsSpaceAtStart || putsSpaceInFront
    for (let i = 0; i < tokenIds.length; i++) {
      const tokenId = tokenIds[i] as number
      const bytes = this.tokenBytes(tokenId)
      if (bytes.length === 0) {
        parts.push(Buffer.from(this.tokenText(tokenId)))
        isStart ||= putsSpaceInFront
        continue
      }
      parts.push(isStart && bytes[0] === SPACE ? bytes.subarray(1) : bytes)
      isStart = false
    }
    return Buffer.concat(parts).toString('utf8')
  }

  /** The control tokens of these texts, with their bytes. */
  specialTokens(texts: readonly string[]): ReadonlyMap<number, Uint8Array> {
    const { specialTexts, specialTokenIds } = this.data.table
    return new Map(
      specialTokenIds.flatMap((id, index) => {
        const text = specialTexts[index] ?? ''
        return texts.includes(text) ? [[id, Buffer.from(text)] as const] : []
      }),
    )
  }

  isEndOfGeneration(tokenId: number): boolean {
    return this.data.table.isEndOfGeneration[tokenId] === 1
  }

  *#slicesOf(text: string): Generator<string> {
    if (text === '') return
    if (this.#own !== null) return yield* this.#own.slices(text)
    // In this order, so that no special text is cut where the others around it are one long run.
    for (const slice of this.#slicer.slices(text)) yield* splitLongRuns(slice)
  }

  #tokenizeStart(text: string): Int32Array {
    const tokenIds = this.#tokenizeText(text)
    const isBegun = /^[ ▁]/.test(text) || this.#isAdded(tokenIds[0])
    return this.data.putsSpaceAtStart && !isBegun ? this.#tokenizeText(` ${text}`) : tokenIds
  }

  /**
   * Tokenizes text that continues other text. Some tokenizers put a space in front of whatever they are given; the
   * newline takes it, and both are cut off again. Behind a special token the space belongs there.
   */
  #tokenizeContinuation(text: string, before: Int32Array | undefined): Int32Array {
    if (this.#own !== null || !this.data.putsSpaceInFront || this.#isAdded(before?.at(-1)))
      return this.#tokenizeText(text)
    const tokenIds = this.#tokenizeText(`\n${text}`)
    let front = ''
    for (let count = 0; count < tokenIds.length && front.length < NEWLINE_AFTER_SPACE.length; count++) {
      front += this.#textOf(tokenIds.subarray(count, count + 1))
      if (front === NEWLINE_AFTER_SPACE) return tokenIds.subarray(count + 1)
    }
    return this.#tokenizeText(text)
  }

  #isAdded(tokenId: number | undefined): boolean {
    return tokenId !== undefined && (this.#api.vocabAttributes(this.data.vocab, tokenId) & ADDED) !== 0
  }

  #tokenizeText(text: string): Int32Array {
    if (this.#own !== null) return this.#own.tokenize(text)
    const bytes = Buffer.from(text)
    // A token stands for at least one byte, but for the space some tokenizers add.
    const buffer = new Int32Array(bytes.length + 8)
    const count = this.#api.tokenize(this.data.vocab, bytes, bytes.length, buffer, buffer.length, false, true)
    if (count >= 0) return buffer.subarray(0, count)
    const larger = new Int32Array(-count)
    const recount = this.#api.tokenize(
      this.data.vocab,
      bytes,
      bytes.length,
      larger,
      larger.length,
      false,
      true,
    )
    if (recount < 0) throw new InvariantError(`llama.cpp cannot tokenize ${bytes.length} bytes.`)
    return larger.subarray(0, recount)
  }

  #textOf(tokenIds: Int32Array): string {
    return Buffer.concat(Array.from(tokenIds, (tokenId) => this.tokenBytes(tokenId))).toString('utf8')
  }
}

function openTokenizer(api: Bindings, { vocab, tokenizer }: VocabularyData): OwnTokenizer | null {
  switch (tokenizer.kind) {
    case 'llama.cpp':
      return null
    case 'word-piece':
      return WordPiece.read(api, vocab, tokenizer)
    case 'cased-words':
      return new CasedWords(api, vocab, tokenizer)
    case 'unigram':
      return Unigram.read(api, vocab, tokenizer)
  }
}
