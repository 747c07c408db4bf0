/**
 * tokenizer.json and the files beside it → the tokenizer metadata of GGUF. A tokenizer that llama.cpp would compute
 * differently is refused, not converted.
 */
import type { MetadataEntry } from '../architectures/architecture-plan.ts'
import { byteLevelTokenizer } from './byte-level-tokenizer.ts'
import { shown, unconvertible } from '../file-errors.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { isRecord, type JsonObject, objectField } from '../json-file.ts'
import { sentencePieceTokenizer } from './sentencepiece-tokenizer.ts'
import { specialTokenMetadata, type HfTokenizerFiles } from './special-tokens.ts'
import { readVocabulary } from './tokenizer-vocabulary.ts'
import { wordPieceTokenizer } from './wordpiece-tokenizer.ts'

/** @throws StartError naming what llama.cpp has no equal for. */
export function tokenizerMetadata(files: HfTokenizerFiles, vocabSize: number): MetadataEntry[] {
  const { tokenizer, pieceModel } = files
  const model = objectField(tokenizer, 'model') ?? { path: tokenizer.path, fields: {} }
  const isWordPiece = model.fields['type'] === 'WordPiece'
  if (!isWordPiece) checkBpe(tokenizer, model)
  const parts = { tokenizer, model, vocabulary: readVocabulary(tokenizer, model), vocabSize }
  if (isWordPiece) return [...wordPieceTokenizer(parts).metadata]
  const isSentencePiece = model.fields['byte_fallback'] === true
  const { metadata, tokens } = isSentencePiece
    ? sentencePieceTokenizer({ ...parts, pieceModel })
    : byteLevelTokenizer(parts)
  const ids = new Map(tokens.map((token, id) => [token, id]))
  const special = specialTokenMetadata(files, ids)
  // llama.cpp takes token 1 when none is named.
  if (isSentencePiece && !special.some(([key]) => key === 'tokenizer.ggml.bos_token_id')) {
    throw unconvertible(tokenizer, 'no file beside it says which token begins a text')
  }
  const chatTemplate =
    files.chatTemplate ??
    configuredChatTemplate(files.tokenizerConfig) ??
    configuredChatTemplate(files.processorTemplate)
  return [
    ...metadata,
    ...special,
    ...(chatTemplate === null ? [] : [['tokenizer.chat_template', gguf.string(chatTemplate)] as const]),
  ]
}

function checkBpe(tokenizer: JsonObject, model: JsonObject): void {
  const { type, dropout } = model.fields
  if (type !== 'BPE')
    throw unconvertible(tokenizer, `its model must be "BPE" or "WordPiece", but is ${shown(type)}`)
  const affixes = [model.fields['continuing_subword_prefix'], model.fields['end_of_word_suffix']]
  if (affixes.some((affix) => (affix ?? '') !== '') || (dropout ?? 0) !== 0) {
    throw unconvertible(tokenizer, 'it uses subword affixes or dropout')
  }
}

/** The `default` one when there are several. */
function configuredChatTemplate(file: JsonObject | null): string | null {
  const configured = file?.fields['chat_template'] ?? null
  if (typeof configured === 'string') return configured
  const named: unknown[] = Array.isArray(configured) ? configured : []
  const chosen = named.find((entry) => isRecord(entry) && entry['name'] === 'default')
  return isRecord(chosen) && typeof chosen['template'] === 'string' ? chosen['template'] : null
}
