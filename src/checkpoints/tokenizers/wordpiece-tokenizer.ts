/**
 * WordPiece as BERT uses it, checked to give the token ids that llama.cpp computes: its tokenizer always cleans the text, takes
 * accents off, lowers case and splits Chinese characters apart.
 */
import { isDeepStrictEqual } from 'node:util'
import type { MetadataEntry } from '../architectures/architecture-plan.ts'
import { quoted, shown, unconvertible } from '../file-errors.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { isRecord, type JsonObject } from '../json-file.ts'
import type { ConvertedTokenizer, TokenizerParts } from './byte-level-tokenizer.ts'
import { isStep, TOKEN_TYPES, tokenList } from './tokenizer-vocabulary.ts'

const CONTINUATION = '##'
/** llama.cpp marks the tokens that begin a word, and not those that continue one. */
const WORD_START = '▁'

/** The tokens that BERT names by their part, and the keys of GGUF. */
const SPECIAL_TOKENS = {
  bos_token_id: '[CLS]',
  cls_token_id: '[CLS]',
  // llama.cpp spells it so.
  seperator_token_id: '[SEP]',
  padding_token_id: '[PAD]',
  unknown_token_id: '[UNK]',
  mask_token_id: '[MASK]',
} as const
const REQUIRED: ReadonlySet<string> = new Set(['[CLS]', '[SEP]', '[UNK]'])

export function wordPieceTokenizer({
  tokenizer,
  model,
  vocabulary,
  vocabSize,
}: TokenizerParts): ConvertedTokenizer {
  checkSteps(tokenizer, model)
  const listed = tokenList(tokenizer, vocabulary, {
    vocabSize,
    baseType: () => TOKEN_TYPES.normal,
    userDefinedText: (text) => text,
  })
  const ids = new Map(listed.tokens.map((token, id) => [token, id]))
  const tokens = listed.tokens.map((token, id) =>
    listed.types[id] === TOKEN_TYPES.normal ? toLlamaToken(token) : token,
  )
  const metadata: MetadataEntry[] = [
    ['tokenizer.ggml.model', gguf.string('bert')],
    ['tokenizer.ggml.pre', gguf.string('default')],
    ['tokenizer.ggml.tokens', gguf.strings(tokens)],
    ['tokenizer.ggml.token_type', gguf.int32s(listed.types)],
    ...specialTokens(tokenizer, ids),
  ]
  return { metadata, tokens }
}

function toLlamaToken(token: string): string {
  const isContinuation = token.startsWith(CONTINUATION) && token.length > CONTINUATION.length
  return isContinuation ? token.slice(CONTINUATION.length) : WORD_START + token
}

function specialTokens(tokenizer: JsonObject, ids: ReadonlyMap<string, number>): MetadataEntry[] {
  return Object.entries(SPECIAL_TOKENS).flatMap(([key, text]): MetadataEntry[] => {
    const id = ids.get(text)
    if (id === undefined && REQUIRED.has(text)) {
      throw unconvertible(tokenizer, `it has no token ${quoted(text)}`)
    }
    return id === undefined ? [] : [[`tokenizer.ggml.${key}`, gguf.uint32(id)]]
  })
}

/** @throws StartError where the text is changed or split otherwise than llama.cpp does. */
function checkSteps(tokenizer: JsonObject, model: JsonObject): void {
  const { normalizer, pre_tokenizer: preTokenizer, post_processor: postProcessor } = tokenizer.fields
  const { continuing_subword_prefix: prefix = CONTINUATION, unk_token: unknown = '[UNK]' } = model.fields
  if (prefix !== CONTINUATION || unknown !== '[UNK]') {
    throw unconvertible(
      tokenizer,
      `its words are continued with ${shown(prefix)}, or unknown as ${shown(unknown)}`,
    )
  }
  if (!isBertNormalizer(normalizer)) {
    throw unconvertible(
      tokenizer,
      `its normalizer must be a "BertNormalizer" that lowers case, but is ${shown(normalizer)}`,
    )
  }
  if (!isStep(preTokenizer, 'BertPreTokenizer')) {
    throw unconvertible(
      tokenizer,
      `its pre-tokenizer must be "BertPreTokenizer", but is ${shown(preTokenizer)}`,
    )
  }
  if (!isStep(postProcessor, 'BertProcessing') && !addsClsAndSep(postProcessor)) {
    throw unconvertible(
      tokenizer,
      `its post-processor must put [CLS] in front and [SEP] behind, but is ${shown(postProcessor)}`,
    )
  }
}

/** `strip_accents: null` does what `lowercase` says. */
function isBertNormalizer(step: unknown): boolean {
  if (!isStep(step, 'BertNormalizer')) return false
  const { clean_text: cleans, handle_chinese_chars: splits, strip_accents: strips, lowercase } = step
  return cleans === true && splits === true && strips !== false && lowercase === true
}

function addsClsAndSep(step: unknown): boolean {
  if (!isStep(step, 'TemplateProcessing') || !Array.isArray(step['single'])) return false
  const items = step['single'].map((item: unknown) =>
    isRecord(item) && isRecord(item['SpecialToken']) ? item['SpecialToken']['id'] : 'text',
  )
  return isDeepStrictEqual(items, ['[CLS]', 'text', '[SEP]'])
}
