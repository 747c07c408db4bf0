/**
 * Which of llama.cpp's pre-tokenizers cuts text as a tokenizer.json does. They are compared by what they do: the
 * patterns of the steps before byte-level encoding, and whether a whole word of the vocabulary skips the merges.
 * Only pairs whose pattern in llama.cpp's source was compared with the Hugging Face one are listed; a pattern that
 * llama.cpp only approximates (GPT-4o, Tekken) is not, because then token ids differ silently.
 */
import { badFile, shown } from '../file-errors.ts'
import { isRecord, type JsonObject } from '../json-file.ts'

const CONTRACTIONS = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)`
const LETTERS = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`
const REST = String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

const GPT2_PATTERN = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
const LLAMA3_PATTERN = String.raw`${CONTRACTIONS}|${LETTERS}|\p{N}{1,3}|${REST}`
const QWEN2_PATTERN = String.raw`${CONTRACTIONS}|${LETTERS}|\p{N}|${REST}`
const QWEN35_PATTERN = String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
const SEED_CODER_PATTERN = String.raw`${CONTRACTIONS}|${LETTERS}|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+`
const SINGLE_DIGITS = String.raw`\p{N}`

interface PreTokenizerRow {
  /** Value of `tokenizer.ggml.pre`. */
  readonly name: string
  readonly patterns: readonly string[]
  readonly ignoresMerges: boolean
}

const PRE_TOKENIZERS: readonly PreTokenizerRow[] = [
  { name: 'gpt-2', patterns: [GPT2_PATTERN], ignoresMerges: false },
  { name: 'smollm', patterns: [SINGLE_DIGITS, GPT2_PATTERN], ignoresMerges: false },
  { name: 'llama-bpe', patterns: [LLAMA3_PATTERN], ignoresMerges: true },
  { name: 'smaug-bpe', patterns: [LLAMA3_PATTERN], ignoresMerges: false },
  { name: 'qwen2', patterns: [QWEN2_PATTERN], ignoresMerges: false },
  { name: 'qwen35', patterns: [QWEN35_PATTERN], ignoresMerges: false },
  { name: 'seed-coder', patterns: [SEED_CODER_PATTERN], ignoresMerges: false },
]

/** @throws StartError when no pre-tokenizer of llama.cpp does the same. */
export function findPreTokenizer(tokenizer: JsonObject, ignoresMerges: boolean): string {
  const patterns = splitPatterns(tokenizer)
  const found = PRE_TOKENIZERS.find(
    (row) => row.ignoresMerges === ignoresMerges && row.patterns.join('\n') === patterns.join('\n'),
  )
  if (found !== undefined) return found.name
  const known = PRE_TOKENIZERS.map(({ name }) => name).join(', ')
  throw badFile(
    tokenizer.path,
    `splits text in a way that is not known (${shown(patterns)}); known are ${known}`,
  )
}

/** The patterns text is cut with, step by step; the last step of byte-level BPE is the byte encoding. */
function splitPatterns(tokenizer: JsonObject): string[] {
  const preTokenizer = tokenizer.fields['pre_tokenizer']
  const isSequence = isRecord(preTokenizer) && preTokenizer['type'] === 'Sequence'
  const listed: unknown = isSequence ? preTokenizer['pretokenizers'] : [preTokenizer]
  const steps: readonly unknown[] = Array.isArray(listed) ? listed : []
  const last = steps.at(-1)
  if (!isRecord(last) || last['type'] !== 'ByteLevel' || last['add_prefix_space'] === true) {
    throw badFile(tokenizer.path, 'does not end its pre-tokenizer with "ByteLevel" without a prefix space')
  }
  return [
    ...steps.slice(0, -1).map((step) => splitPattern(tokenizer, step)),
    ...(last['use_regex'] === false ? [] : [GPT2_PATTERN]),
  ]
}

function splitPattern(tokenizer: JsonObject, step: unknown): string {
  if (isRecord(step) && step['type'] === 'Digits' && step['individual_digits'] === true) return SINGLE_DIGITS
  const isSplit =
    isRecord(step) && step['type'] === 'Split' && step['behavior'] === 'Isolated' && step['invert'] !== true
  const pattern = isSplit && isRecord(step['pattern']) ? step['pattern']['Regex'] : undefined
  if (typeof pattern === 'string') return pattern
  throw badFile(tokenizer.path, `has a pre-tokenizer step that cannot be converted: ${shown(step)}`)
}
