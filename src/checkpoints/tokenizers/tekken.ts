/**
 * tekken.json, the tokenizer of Mistral's own layout, as a tokenizer.json would say it. It is tiktoken's byte-level BPE: two tokens merge
 * where a token is their bytes together, those of the lowest rank first. Ids of special tokens come first, then those of as many
 * ranks as the vocabulary has room for. Format: `mistral_common.tokens.tokenizers.tekken`.
 */
import { byteLevelText } from '../../core/text/byte-characters.ts'
import { badFile, quoted, shown } from '../files/file-errors.ts'
import { isRecord, type JsonObject, listField, objectField } from '../files/json-file.ts'
import { type Merge, refuseLongToken } from './tokenizer-vocabulary.ts'

/** Four times as many as any known vocabulary has. */
const MAX_TOKENS = 2 ** 20

/** Of files that name none, up to version v7; by id. */
const FIRST_SPECIAL_TOKENS = [
  ...[
    '<unk>',
    '<s>',
    '</s>',
    '[INST]',
    '[/INST]',
    '[AVAILABLE_TOOLS]',
    '[/AVAILABLE_TOOLS]',
    '[TOOL_RESULTS]',
  ],
  ...[
    '[/TOOL_RESULTS]',
    '[TOOL_CALLS]',
    '[IMG]',
    '<pad>',
    '[IMG_BREAK]',
    '[IMG_END]',
    '[PREFIX]',
    '[MIDDLE]',
  ],
  ...['[SUFFIX]', '[SYSTEM_PROMPT]', '[/SYSTEM_PROMPT]', '[TOOL_CONTENT]'],
]

export interface Tekken {
  /** As tokenizer.json has them. */
  readonly tokenizer: JsonObject
  /** As tokenizer_config.json has them. */
  readonly tokenizerConfig: JsonObject
  /** 13 of `v13`. */
  readonly version: number
  readonly specialTokens: readonly string[]
}

export function isTekken({ fields }: JsonObject): boolean {
  return Array.isArray(fields['vocab']) && isRecord(fields['config']) && !('model' in fields)
}

/** @throws StartError when the file is damaged */
export function readTekken(file: JsonObject): Tekken {
  const { path } = file
  const config = objectField(file, 'config') ?? { path, fields: {} }
  const { pattern, version: named } = config.fields
  const version = typeof named === 'string' ? Number(/^v(\d+)/.exec(named)?.[1] ?? Number.NaN) : Number.NaN
  if (typeof pattern !== 'string' || Number.isNaN(version))
    throw badFile(path, `is corrupted: its pattern is ${shown(pattern)} and its version ${shown(named)}`)
  const special = specialTokens(file, count(config, 'default_num_special_tokens'))
  const ranked = rankedTokens(file, count(config, 'default_vocab_size') - special.length)
  const token = (id: string) => ({ SpecialToken: { id, type_id: 0 } })
  const text = { Sequence: { id: 'A', type_id: 0 } }
  const fields = {
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
      ],
    },
    post_processor: {
      type: 'TemplateProcessing',
      single: [token('<s>'), text],
      pair: [token('<s>'), text, text],
    },
    decoder: { type: 'ByteLevel' },
    added_tokens: special.map((content, id) => ({ id, content, special: true })),
    model: {
      type: 'BPE',
      // tiktoken looks a whole word up before it merges.
      ignore_merges: true,
      vocab: Object.fromEntries(ranked.map((one, rank) => [one, special.length + rank])),
      merges: mergesOf(ranked),
    },
  }
  return {
    tokenizer: { path, fields },
    tokenizerConfig: {
      path,
      fields: { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>', pad_token: '<pad>' },
    },
    version,
    specialTokens: special,
  }
}

/** By id; ids without a token of their own have a name all the same. */
function specialTokens(file: JsonObject, length: number): readonly string[] {
  const names = Array.from({ length }, (_, id) => `<SPECIAL_${id}>`)
  const listed = file.fields['special_tokens'] ?? null
  if (listed === null) {
    for (const [id, name] of FIRST_SPECIAL_TOKENS.entries()) names[id] = name
    return names.slice(0, length)
  }
  for (const entry of listField(file, 'special_tokens')) {
    const { rank, token_str: name } = isRecord(entry) ? entry : {}
    if (typeof name !== 'string' || typeof rank !== 'number' || !(rank in names))
      throw badFile(file.path, `is corrupted: ${shown(entry)} is none of its ${length} special tokens`)
    names[rank] = name
  }
  return names
}

/** Texts of the first `length` tokens by rank, a character for each byte. */
function rankedTokens(file: JsonObject, length: number): readonly string[] {
  const entries = listField(file, 'vocab').slice(0, Math.max(length, 0))
  if (entries.length < length)
    throw badFile(file.path, `is corrupted: it has ${entries.length} tokens of ${length}`)
  return entries.map((entry, index) => {
    const { rank, token_bytes: bytes } = isRecord(entry) ? entry : {}
    if (rank !== index || typeof bytes !== 'string' || bytes === '')
      throw badFile(file.path, `is corrupted: ${shown(entry)} is not its token of rank ${index}`)
    const token = byteLevelText(Buffer.from(bytes, 'base64'))
    refuseLongToken(file, token)
    return token
  })
}

/** All pairs of tokens that make a token, by its rank; of several pairs of one token first that of the lowest ranks. */
function mergesOf(ranked: readonly string[]): readonly Merge[] {
  const ranks = new Map(ranked.map((token, rank) => [token, rank]))
  return ranked.flatMap((token) => {
    const pairs: { readonly merge: Merge; readonly left: number; readonly right: number }[] = []
    for (let at = 1; at < token.length; at++) {
      const merge: Merge = [token.slice(0, at), token.slice(at)]
      const [left, right] = [ranks.get(merge[0]), ranks.get(merge[1])]
      if (left !== undefined && right !== undefined) pairs.push({ merge, left, right })
    }
    return pairs
      .sort((one, other) => one.left - other.left || one.right - other.right)
      .map(({ merge }) => merge)
  })
}

function count(config: JsonObject, name: string): number {
  const value = config.fields[name]
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_TOKENS) return value
  throw badFile(config.path, `is corrupted: its ${quoted(name)} is ${shown(value)}`)
}
