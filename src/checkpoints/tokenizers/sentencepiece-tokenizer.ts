/**
 * BPE of the SentencePiece kind (Llama 2, Mistral, Gemma, Phi-3). tokenizer.json ranks merges of two tokens; llama.cpp
 * merges the pair that makes the token of the highest score. The scores are taken from tokenizer.model when it exists,
 * else from the ranks, which are equivalent as long as the merges were made from such scores; that is checked.
 */
import type { MetadataEntry } from '../architectures/architecture-plan.ts'
import type { ConvertedTokenizer, TokenizerParts } from './byte-level-tokenizer.ts'
import { badFile, quoted, shown, unconvertible } from '../files/file-errors.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { type BinaryFile, flagField, isRecord, type JsonObject } from '../files/json-file.ts'
import { parseSentencePieceModel, type SentencePiece } from './sentencepiece-model.ts'
import { TOKENIZER_KEYS } from './tokenizer-keys.ts'
import {
  isStep,
  type Merge,
  readMerges,
  refuseLeftStripping,
  stepsOf,
  strippingModelName,
  TOKEN_TYPES,
  tokenList,
  type TokenizerVocabulary,
} from './tokenizer-vocabulary.ts'

const SPACE_MARK = '▁'
const BYTE_TOKENS: ReadonlySet<string> = new Set(
  Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`),
)

interface SentencePieceParts extends TokenizerParts {
  /** tokenizer.model; null without one. */
  readonly pieceModel: BinaryFile | null
}

export function sentencePieceTokenizer(parts: SentencePieceParts): ConvertedTokenizer {
  const { tokenizer, model, vocabulary, vocabSize } = parts
  checkModel(tokenizer, model, vocabulary)
  refuseLeftStripping(tokenizer, vocabulary)
  const prefix = readSpacePrefix(tokenizer)
  const unknown = model.fields['unk_token']
  const { tokens, types } = tokenList(tokenizer, vocabulary, {
    vocabSize,
    baseType: (token) =>
      token === unknown
        ? TOKEN_TYPES.unknown
        : BYTE_TOKENS.has(token)
          ? TOKEN_TYPES.byte
          : TOKEN_TYPES.normal,
    // llama.cpp finds these before it replaces spaces with marks.
    userDefinedText: (text) => text.replaceAll(SPACE_MARK, ' '),
  })
  const name = strippingModelName(tokenizer, vocabulary)
  const metadata: MetadataEntry[] = [
    ...(name === null ? [] : [['general.name', gguf.string(name)] as const]),
    ['tokenizer.ggml.model', gguf.string('llama')],
    ['tokenizer.ggml.pre', gguf.string('default')],
    ['tokenizer.ggml.tokens', gguf.strings(tokens)],
    ['tokenizer.ggml.scores', gguf.float32s(scoresOf(parts))],
    ['tokenizer.ggml.token_type', gguf.int32s(types)],
    ['tokenizer.ggml.add_space_prefix', gguf.bool(prefix !== 'none')],
    ...(prefix === 'start' ? [[TOKENIZER_KEYS.spaceAtStart, gguf.bool(true)] as const] : []),
  ]
  return { metadata, tokens }
}

function checkModel(tokenizer: JsonObject, model: JsonObject, { base }: TokenizerVocabulary): void {
  if (flagField(model, 'ignore_merges', false)) {
    throw unconvertible(tokenizer, 'it ignores merges, and is of the SentencePiece kind')
  }
  const { decoder } = tokenizer.fields
  const steps = isStep(decoder, 'Sequence') ? stepsOf(decoder, 'decoders') : []
  if (!steps.some((step) => isStep(step, 'ByteFallback'))) {
    throw unconvertible(tokenizer, `its decoder is ${shown(decoder)}`)
  }
  // llama.cpp ends the process at a byte without a token.
  const missing = Array.from(BYTE_TOKENS).find((token) => !base.has(token))
  if (missing !== undefined) {
    throw unconvertible(tokenizer, `it has no token ${quoted(missing)}`)
  }
}

function scoresOf(parts: SentencePieceParts): number[] {
  const { model, vocabulary, pieceModel } = parts
  if (pieceModel === null) return scoresOfMerges(parts, readMerges(model, vocabulary.base))
  return scoresOfPieces(parts, parseSentencePieceModel(pieceModel.path, pieceModel.bytes))
}

/** A token's score is the rank of its first merge; tokens that no merge makes have the lowest score. */
function scoresOfMerges(parts: TokenizerParts, merges: readonly Merge[]): number[] {
  const { vocabulary, vocabSize } = parts
  const ranks = new Map<string, number>()
  merges.forEach(([left, right], rank) => {
    if (!ranks.has(left + right)) ranks.set(left + right, rank)
  })
  checkMerges(parts, merges, ranks)
  const scores = Array<number>(vocabSize).fill(-1 - merges.length)
  for (const [token, id] of vocabulary.base) {
    if (id < vocabSize) scores[id] = -1 - (ranks.get(token) ?? merges.length)
  }
  return scores
}

/**
 * Scores are equivalent to ranks when every way to make a token is a merge, and the merges of one token are adjacent.
 * Added tokens are found before any merge, so their merges and merges with one of them are not checked.
 */
function checkMerges(
  { tokenizer, vocabulary: { base, added } }: TokenizerParts,
  merges: readonly Merge[],
  ranks: ReadonlyMap<string, number>,
): void {
  const isPlain = (token: string) => {
    const id = base.get(token)
    return id !== undefined && !added.has(id)
  }
  const refuse = (token: string) =>
    unconvertible(
      tokenizer,
      `its merges, those for ${quoted(token)} for one, are not those of a SentencePiece model`,
    )
  let last = ''
  const counts = new Map<string, number>()
  for (const [left, right] of merges) {
    const token = left + right
    if (!isPlain(left) || !isPlain(right) || !isPlain(token)) continue
    const count = counts.get(token) ?? 0
    if (count > 0 && last !== token) throw refuse(token)
    counts.set(token, count + 1)
    last = token
  }
  for (const token of ranks.keys()) {
    if (isPlain(token) && countSplits(token, isPlain) !== (counts.get(token) ?? 0)) throw refuse(token)
  }
}

/** Ways to cut a token into two. */
function countSplits(token: string, isPlain: (half: string) => boolean): number {
  let count = 0
  for (let cut = 1; cut < token.length; cut++) {
    if (isPlain(token.slice(0, cut)) && isPlain(token.slice(cut))) count++
  }
  return count
}

function scoresOfPieces(parts: TokenizerParts, pieces: readonly SentencePiece[]): number[] {
  const { tokenizer, vocabulary, vocabSize } = parts
  const lowest = pieces.reduce((least, { score }) => Math.min(least, score), 0)
  const scores = Array<number>(vocabSize).fill(lowest - 1)
  pieces.forEach(({ text, score, type }, id) => {
    if (type === TOKEN_TYPES.normal && vocabulary.base.get(text) !== id) {
      throw badFile(
        tokenizer.path,
        `does not fit the tokenizer.model beside it, where token ${id} is ${quoted(text)}`,
      )
    }
    if (id < vocabSize) scores[id] = score
  })
  return scores
}

/**
 * Where the tokenizer puts a space: in front of all text between special tokens, in front of a text that begins with no
 * special token and no space, or nowhere. Older files configure it in the normalizer, newer ones in the pre-tokenizer.
 * @throws StartError when the file changes text in any other way
 */
function readSpacePrefix(tokenizer: JsonObject): 'every-text' | 'start' | 'none' {
  const { normalizer = null, pre_tokenizer: preTokenizer = null } = tokenizer.fields
  const steps = stepsOf(normalizer, 'normalizers')
  // Behind the normalizer there is no space left to split at.
  const isHarmless = preTokenizer === null || (isStep(preTokenizer, 'Split') && findsSpaces(preTokenizer))
  const isPrepended = isStep(steps[0], 'Prepend') && steps[0]['prepend'] === SPACE_MARK
  const replacement = steps.at(-1)
  if (
    isHarmless &&
    isStep(replacement, 'Replace') &&
    replacement['content'] === SPACE_MARK &&
    findsSpaces(replacement)
  ) {
    if (steps.length === 2 && isPrepended) return 'every-text'
    if (steps.length === 1) return 'none'
  }
  if (steps.length === 0 && isMetaspace(preTokenizer)) {
    if (preTokenizer['prepend_scheme'] === 'first') return 'start'
    if (preTokenizer['prepend_scheme'] === 'never') return 'none'
  }
  throw unconvertible(
    tokenizer,
    `it treats spaces in a way that is not known (${shown({ normalizer, pre_tokenizer: preTokenizer })})`,
  )
}

function findsSpaces({ pattern }: Record<string, unknown>): boolean {
  return isRecord(pattern) && pattern['String'] === ' '
}

function isMetaspace(step: unknown): step is Record<string, unknown> {
  return isStep(step, 'Metaspace') && step['replacement'] === SPACE_MARK && step['split'] === false
}
