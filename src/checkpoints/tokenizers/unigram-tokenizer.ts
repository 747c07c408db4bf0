/**
 * Unigram of the SentencePiece kind (XLM-RoBERTa, bge-m3, multilingual-e5), checked to give the token ids that our engine
 * computes. llama.cpp knows it as the tokenizer of T5; where its normalization differs from that of Hugging Face's tokenizers,
 * our engine follows the latter, with which the models were trained.
 */
import type { MetadataEntry } from '../architectures/architecture-plan.ts'
import { badFile, quoted, shown, unconvertible } from '../files/file-errors.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { flagField, isRecord, type JsonObject, listField } from '../files/json-file.ts'
import type { ConvertedTokenizer, TokenizerParts } from './byte-level-tokenizer.ts'
import { TOKENIZER_KEYS } from './tokenizer-keys.ts'
import { isStep, stepsOf, TOKEN_TYPES, tokenList } from './tokenizer-vocabulary.ts'

const SPACE_MARK = '▁'
const SPACES = ' {2,}'
/** Of ids that no token has: below that of any path through a text. */
const UNUSED_SCORE = -1e4
const UINT32_BYTES = 4

export function unigramTokenizer({
  tokenizer,
  model,
  vocabulary,
  vocabSize,
}: TokenizerParts): ConvertedTokenizer {
  if (flagField(model, 'byte_fallback', false)) {
    throw unconvertible(tokenizer, '"byte_fallback" of its model must be false, but is true')
  }
  const unknownId = model.fields['unk_id']
  const unknown = Array.from(vocabulary.base.keys())[typeof unknownId === 'number' ? unknownId : -1]
  if (unknown === undefined) {
    throw unconvertible(
      tokenizer,
      `"unk_id" of its model must be one of its tokens, but is ${shown(unknownId)}`,
    )
  }
  const { characterMap, splitsAtWhitespace } = readSteps(tokenizer)
  const { tokens, types } = tokenList(tokenizer, vocabulary, {
    vocabSize,
    baseType: (token) => (token === unknown ? TOKEN_TYPES.unknown : TOKEN_TYPES.normal),
    userDefinedText: (text) => text,
  })
  const metadata: MetadataEntry[] = [
    ['tokenizer.ggml.model', gguf.string('t5')],
    ['tokenizer.ggml.pre', gguf.string('default')],
    ['tokenizer.ggml.tokens', gguf.strings(tokens)],
    ['tokenizer.ggml.scores', gguf.float32s(readScores(model, vocabSize))],
    ['tokenizer.ggml.token_type', gguf.int32s(types)],
    ['tokenizer.ggml.add_space_prefix', gguf.bool(true)],
    ['tokenizer.ggml.remove_extra_whitespaces', gguf.bool(true)],
    ...(characterMap === null
      ? []
      : [['tokenizer.ggml.precompiled_charsmap', gguf.uint8s(characterMap)] as const]),
    [TOKENIZER_KEYS.splitsAtWhitespace, gguf.bool(splitsAtWhitespace)],
  ]
  return { metadata, tokens }
}

function readScores(model: JsonObject, vocabSize: number): number[] {
  const scores = Array<number>(vocabSize).fill(UNUSED_SCORE)
  for (const [id, entry] of listField(model, 'vocab').entries()) {
    const score: unknown = Array.isArray(entry) ? entry[1] : null
    if (typeof score !== 'number' || !Number.isFinite(score)) {
      throw badFile(model.path, `is corrupted: there is no score in ${shown(entry)}`)
    }
    if (id < vocabSize) scores[id] = score
  }
  return scores
}

/**
 * The normalizer is a character map, behind which runs of spaces become one and those at the end vanish; words begin with a mark.
 * @throws StartError when the file changes or splits text in any other way
 */
function readSteps(tokenizer: JsonObject) {
  const { normalizer = null, pre_tokenizer: preTokenizer = null } = tokenizer.fields
  const changes = stepsOf(normalizer, 'normalizers')
  const map = changes.find((step) => isStep(step, 'Precompiled'))
  const collapsesSpaces = changes.some(isCollapsing)
  const stripsEnd = changes.some(isStrippingEnd)
  const splits = stepsOf(preTokenizer, 'pretokenizers')
  const splitsAtWhitespace = isStep(splits[0], 'WhitespaceSplit')
  const areKnown =
    changes.every(
      (step, index) => (step === map && index === 0) || isCollapsing(step) || isStrippingEnd(step),
    ) &&
    splits.length === (splitsAtWhitespace ? 2 : 1) &&
    isMarking(splits.at(-1))
  if (!areKnown || !(splitsAtWhitespace || (collapsesSpaces && stripsEnd))) {
    const given = { normalizer: withoutMap(normalizer), pre_tokenizer: preTokenizer }
    throw unconvertible(tokenizer, `it treats spaces in a way that is not known (${shown(given)})`)
  }
  return { characterMap: map === undefined ? null : readMap(tokenizer, map), splitsAtWhitespace }
}

function isCollapsing(step: unknown): boolean {
  if (!isStep(step, 'Replace') || !isRecord(step['pattern'])) return false
  return step['pattern']['Regex'] === SPACES && [' ', SPACE_MARK].some((mark) => mark === step['content'])
}

function isStrippingEnd(step: unknown): boolean {
  return isStep(step, 'Strip') && step['strip_left'] === false && step['strip_right'] === true
}

function isMarking(step: unknown): boolean {
  if (!isStep(step, 'Metaspace') || step['replacement'] !== SPACE_MARK || step['split'] === false)
    return false
  // Older files say it with a flag.
  return step['prepend_scheme'] === undefined
    ? step['add_prefix_space'] === true
    : step['prepend_scheme'] === 'always'
}

/** For messages: the map is hundreds of kilobytes of base64. */
function withoutMap(normalizer: unknown): unknown {
  return stepsOf(normalizer, 'normalizers').map((step) =>
    isStep(step, 'Precompiled') ? { type: step['type'] } : step,
  )
}

/** A double-array trie behind its size in bytes, and then the texts that it refers to. */
function readMap(tokenizer: JsonObject, step: unknown): Uint8Array | null {
  const text = isRecord(step) ? step['precompiled_charsmap'] : null
  if (text === null || text === '') return null
  const bytes = typeof text === 'string' ? Buffer.from(text, 'base64') : Buffer.alloc(0)
  const trieBytes = bytes.length < UINT32_BYTES ? 0 : bytes.readUInt32LE(0)
  if (trieBytes === 0 || trieBytes % UINT32_BYTES !== 0 || UINT32_BYTES + trieBytes >= bytes.length) {
    throw badFile(tokenizer.path, `is corrupted: ${quoted('precompiled_charsmap')} holds no character map`)
  }
  return bytes
}
