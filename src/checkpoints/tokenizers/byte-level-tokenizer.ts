/**
 * Byte-level BPE (GPT-2, Llama 3, Qwen), checked to give the token ids that llama.cpp computes. Its pre-tokenizers are
 * compared by what they do: the patterns of the steps before byte-level encoding, and whether a whole word of the
 * vocabulary skips the merges; a pattern that only resembled would change token ids silently. llama.cpp does not apply
 * Unicode normalization (NFC); our engine does, where the pre-tokenizer's name or the metadata written here says so.
 */
import type { MetadataEntry } from '../architectures/architecture-plan.ts'
import { badFile, shown, unconvertible } from '../files/file-errors.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { flagField, isRecord, type JsonObject, objectField } from '../files/json-file.ts'
import {
  CASED_PRE_TOKENIZERS,
  isCased,
  NORMALIZING_PRE_TOKENIZERS,
  TOKENIZER_KEYS,
} from './tokenizer-keys.ts'
import {
  isStep,
  readMerges,
  refuseLeftStripping,
  stepsOf,
  strippingModelName,
  TOKEN_TYPES,
  tokenList,
  type TokenizerVocabulary,
} from './tokenizer-vocabulary.ts'

const CONTRACTIONS = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)`
const LETTERS = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`
const REST = String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

const GPT2_PATTERN = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
const LLAMA3_PATTERN = String.raw`${CONTRACTIONS}|${LETTERS}|\p{N}{1,3}|${REST}`
const QWEN2_PATTERN = String.raw`${CONTRACTIONS}|${LETTERS}|\p{N}|${REST}`
const QWEN35_PATTERN = String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
const SEED_CODER_PATTERN = String.raw`${CONTRACTIONS}|${LETTERS}|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+`
const SINGLE_DIGITS = String.raw`\p{N}`

const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
const FRONT = String.raw`[^\r\n\p{L}\p{N}]?`
const CASED_REST = String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
const O200K_PATTERN = String.raw`${FRONT}${UPPER}*${LOWER}+${CONTRACTIONS}?|${FRONT}${UPPER}+${LOWER}*${CONTRACTIONS}?|\p{N}{1,3}|${CASED_REST}`
const TEKKEN_PATTERN = String.raw`${FRONT}${UPPER}*${LOWER}+|${FRONT}${UPPER}+${LOWER}*|\p{N}|${CASED_REST}`

/** By the value of `tokenizer.ggml.pre`. Where llama.cpp only approximates a pattern (`isCased`), our engine cuts words. */
const PRE_TOKENIZERS: ReadonlyMap<
  string,
  { readonly patterns: readonly string[]; readonly ignoresMerges?: true }
> = new Map([
  ['gpt-2', { patterns: [GPT2_PATTERN] }],
  ['smollm', { patterns: [SINGLE_DIGITS, GPT2_PATTERN] }],
  ['llama-bpe', { patterns: [LLAMA3_PATTERN], ignoresMerges: true }],
  ['smaug-bpe', { patterns: [LLAMA3_PATTERN] }],
  ['qwen2', { patterns: [QWEN2_PATTERN] }],
  ['qwen35', { patterns: [QWEN35_PATTERN] }],
  ['seed-coder', { patterns: [SEED_CODER_PATTERN] }],
  ['gpt-4o', { patterns: [O200K_PATTERN] }],
  ['tekken', { patterns: [TEKKEN_PATTERN] }],
])

/** The one token whose spaces in front llama.cpp takes, where the pre-tokenizer has a certain name: RoBERTa's. */
const MASK = '<mask>'
const PRE_TOKENIZER_OF_MASK = 'jina-v2-code'

export interface TokenizerParts {
  readonly tokenizer: JsonObject
  readonly model: JsonObject
  readonly vocabulary: TokenizerVocabulary
  /** Of the model. */
  readonly vocabSize: number
}

export interface ConvertedTokenizer {
  readonly metadata: readonly MetadataEntry[]
  readonly tokens: readonly string[]
}

export function byteLevelTokenizer(parts: TokenizerParts): ConvertedTokenizer {
  const { tokenizer, model, vocabulary, vocabSize } = parts
  checkSteps(tokenizer)
  const ignoresMerges = flagField(model, 'ignore_merges', false)
  const found = findPreTokenizer(tokenizer, ignoresMerges)
  const stripsBeforeMask =
    found === 'gpt-2' &&
    Array.from(vocabulary.added.values()).some((token) => token.stripsLeft && token.text === MASK)
  refuseLeftStripping(tokenizer, vocabulary, stripsBeforeMask ? [MASK] : [])
  const pre = stripsBeforeMask ? PRE_TOKENIZER_OF_MASK : found
  const name = strippingModelName(tokenizer, vocabulary)
  if (name !== null) {
    throw unconvertible(tokenizer, 'its added tokens strip spaces or want whole words')
  }
  const { tokens, types } = tokenList(tokenizer, vocabulary, {
    vocabSize,
    baseType: () => TOKEN_TYPES.normal,
    userDefinedText: (text) => text,
  })
  const merges = readMerges(model, vocabulary.base).map(([left, right]) => `${left} ${right}`)
  const normalizes = hasNfc(tokenizer.fields['normalizer'])
  const metadata: MetadataEntry[] = [
    ['tokenizer.ggml.model', gguf.string('gpt2')],
    ['tokenizer.ggml.pre', gguf.string(pre)],
    ['tokenizer.ggml.tokens', gguf.strings(tokens)],
    ['tokenizer.ggml.token_type', gguf.int32s(types)],
    ['tokenizer.ggml.merges', gguf.strings(merges)],
    ...(normalizes === NORMALIZING_PRE_TOKENIZERS.has(pre)
      ? []
      : [[TOKENIZER_KEYS.nfc, gguf.bool(normalizes)] as const]),
    ...(isCased(pre) && CASED_PRE_TOKENIZERS[pre].ignoresMerges !== ignoresMerges
      ? [[TOKENIZER_KEYS.ignoresMerges, gguf.bool(ignoresMerges)] as const]
      : []),
  ]
  return { metadata, tokens }
}

function checkSteps(tokenizer: JsonObject): void {
  const { normalizer = null } = tokenizer.fields
  if (!isHarmlessNormalizer(normalizer)) {
    throw unconvertible(tokenizer, `its normalizer is ${shown(normalizer)}`)
  }
  const decoder = objectField(tokenizer, 'decoder')
  if (decoder?.fields['type'] !== 'ByteLevel') {
    throw unconvertible(
      tokenizer,
      `its decoder must be "ByteLevel", but is ${shown(decoder?.fields['type'])}`,
    )
  }
}

function isHarmlessNormalizer(normalizer: unknown): boolean {
  if (normalizer === null) return true
  if (!isRecord(normalizer)) return false
  if (normalizer['type'] !== 'Sequence') return normalizer['type'] === 'NFC'
  return Array.isArray(normalizer['normalizers']) && normalizer['normalizers'].every(isHarmlessNormalizer)
}

/** Of a harmless normalizer. */
function hasNfc(normalizer: unknown): boolean {
  return stepsOf(normalizer, 'normalizers').some(
    (step) => isStep(step, 'NFC') || (isStep(step, 'Sequence') && hasNfc(step)),
  )
}

/** @throws StartError when no pre-tokenizer of llama.cpp does the same. */
function findPreTokenizer(tokenizer: JsonObject, ignoresMerges: boolean): string {
  const patterns = splitPatterns(tokenizer)
  for (const [name, row] of PRE_TOKENIZERS) {
    const isSame = row.patterns.join('\n') === patterns.join('\n')
    // Our engine merges or does not as the file says.
    if (isSame && (isCased(name) || (row.ignoresMerges ?? false) === ignoresMerges)) return name
  }
  const known = [...PRE_TOKENIZERS.keys()].join(', ')
  throw badFile(
    tokenizer.path,
    `splits text in a way that is not known (${shown(patterns)}); known are ${known}`,
  )
}

/** The patterns that text is split by, step by step; the last step of byte-level BPE is the byte encoding. */
function splitPatterns(tokenizer: JsonObject): string[] {
  const steps = stepsOf(tokenizer.fields['pre_tokenizer'], 'pretokenizers')
  const last = steps.at(-1)
  if (!isStep(last, 'ByteLevel') || last['add_prefix_space'] === true) {
    throw badFile(tokenizer.path, 'does not end its pre-tokenizer with "ByteLevel" without a prefix space')
  }
  return [
    ...steps.slice(0, -1).map((step) => splitPattern(tokenizer, step)),
    ...(last['use_regex'] === false ? [] : [GPT2_PATTERN]),
  ]
}

function splitPattern(tokenizer: JsonObject, step: unknown): string {
  if (isStep(step, 'Digits') && step['individual_digits'] === true) return SINGLE_DIGITS
  const isSplit = isStep(step, 'Split') && step['behavior'] === 'Isolated' && step['invert'] !== true
  const pattern = isSplit && isRecord(step['pattern']) ? step['pattern']['Regex'] : undefined
  if (typeof pattern === 'string') return pattern
  throw badFile(tokenizer.path, `has a pre-tokenizer step that cannot be converted: ${shown(step)}`)
}
