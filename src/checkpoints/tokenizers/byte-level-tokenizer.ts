/**
 * Byte-level BPE (GPT-2, Llama 3, Qwen): checked to be what llama.cpp computes. llama.cpp does not apply Unicode
 * normalization (NFC); our engine does, where the metadata written here asks for it.
 */
import type { MetadataEntry } from '../architectures/architecture-plan.ts'
import { badFile, shown } from '../file-errors.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { flagField, isRecord, type JsonObject, objectField } from '../json-file.ts'
import { findPreTokenizer } from './pre-tokenizers.ts'
import { TOKENIZER_KEYS } from './tokenizer-keys.ts'
import {
  readMerges,
  strippingModelName,
  TOKEN_TYPES,
  tokenList,
  type TokenizerVocabulary,
} from './tokenizer-vocabulary.ts'

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

export function byteLevelTokenizer({
  tokenizer,
  model,
  vocabulary,
  vocabSize,
}: TokenizerParts): ConvertedTokenizer {
  checkSteps(tokenizer)
  const pre = findPreTokenizer(tokenizer, flagField(model, 'ignore_merges', false))
  const name = strippingModelName(tokenizer, vocabulary)
  if (name !== null) {
    throw badFile(tokenizer.path, 'cannot be converted: its added tokens strip spaces or want whole words')
  }
  const { tokens, types } = tokenList(tokenizer, vocabulary, {
    vocabSize,
    baseType: () => TOKEN_TYPES.normal,
    userDefinedText: (text) => text,
  })
  const merges = readMerges(model, vocabulary.base).map(([left, right]) => `${left} ${right}`)
  const metadata: MetadataEntry[] = [
    ['tokenizer.ggml.model', gguf.string('gpt2')],
    ['tokenizer.ggml.pre', gguf.string(pre)],
    ['tokenizer.ggml.tokens', gguf.strings(tokens)],
    ['tokenizer.ggml.token_type', gguf.int32s(types)],
    ['tokenizer.ggml.merges', gguf.strings(merges)],
    [TOKENIZER_KEYS.nfc, gguf.bool((tokenizer.fields['normalizer'] ?? null) !== null)],
  ]
  return { metadata, tokens }
}

function checkSteps(tokenizer: JsonObject): void {
  if (!isHarmlessNormalizer(tokenizer.fields['normalizer'] ?? null)) {
    throw badFile(
      tokenizer.path,
      `cannot be converted: its normalizer is ${shown(tokenizer.fields['normalizer'])}`,
    )
  }
  const decoder = objectField(tokenizer, 'decoder')
  if (decoder?.fields['type'] !== 'ByteLevel') {
    throw badFile(
      tokenizer.path,
      `cannot be converted: its decoder must be "ByteLevel", but is ${shown(decoder?.fields['type'])}`,
    )
  }
}

function isHarmlessNormalizer(normalizer: unknown): boolean {
  if (normalizer === null) return true
  if (!isRecord(normalizer)) return false
  if (normalizer['type'] !== 'Sequence') return normalizer['type'] === 'NFC'
  return Array.isArray(normalizer['normalizers']) && normalizer['normalizers'].every(isHarmlessNormalizer)
}
