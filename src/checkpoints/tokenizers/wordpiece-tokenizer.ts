/**
 * WordPiece as BERT uses it, checked to give the token ids that our engine computes: it always cleans the text and splits Chinese
 * characters apart. Whether it lowers case and strips accents goes into llama.cpp's own keys.
 */
import type { MetadataEntry } from '../architectures/architecture-plan.ts'
import { quoted, shown, unconvertible } from '../files/file-errors.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { flagField, type JsonObject, objectField } from '../files/json-file.ts'
import type { ConvertedTokenizer, TokenizerParts } from './byte-level-tokenizer.ts'
import { tokensAround } from './special-tokens.ts'
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
    ...normalization(tokenizer),
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
  if (!isStep(normalizer, 'BertNormalizer')) {
    throw unconvertible(tokenizer, `its normalizer must be "BertNormalizer", but is ${shown(normalizer)}`)
  }
  const unsupported = ['clean_text', 'handle_chinese_chars'].find((name) => normalizer[name] !== true)
  if (unsupported !== undefined) {
    throw unconvertible(
      tokenizer,
      `${quoted(unsupported)} of its normalizer must be true, but is ${shown(normalizer[unsupported])}`,
    )
  }
  if (!isStep(preTokenizer, 'BertPreTokenizer')) {
    throw unconvertible(
      tokenizer,
      `its pre-tokenizer must be "BertPreTokenizer", but is ${shown(preTokenizer)}`,
    )
  }
  const { before, after } = tokensAround(tokenizer)
  if (before !== '[CLS]' || after !== '[SEP]') {
    throw unconvertible(
      tokenizer,
      `its post-processor must put [CLS] in front and [SEP] behind, but is ${shown(postProcessor)}`,
    )
  }
}

/** `strip_accents: null` does what `lowercase` says. */
function normalization(tokenizer: JsonObject): MetadataEntry[] {
  const normalizer = objectField(tokenizer, 'normalizer') ?? tokenizer
  const lowersCase = flagField(normalizer, 'lowercase', true)
  return [
    ['tokenizer.ggml.normalizer.lowercase', gguf.bool(lowersCase)],
    [
      'tokenizer.ggml.normalizer.strip_accents',
      gguf.bool(flagField(normalizer, 'strip_accents', lowersCase)),
    ],
  ]
}
