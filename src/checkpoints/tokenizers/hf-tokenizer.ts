/**
 * tokenizer.json, or tekken.json, and the files beside it → the tokenizer metadata of GGUF. A tokenizer that llama.cpp would compute
 * differently is refused, not converted.
 */
import type { MetadataEntry } from '../architectures/architecture-plan.ts'
import { byteLevelTokenizer } from './byte-level-tokenizer.ts'
import { shown, unconvertible } from '../files/file-errors.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { isRecord, type JsonObject, objectField } from '../files/json-file.ts'
import { sentencePieceTokenizer } from './sentencepiece-tokenizer.ts'
import { specialTokenMetadata, tokensAround, tokensBetween, type HfTokenizerFiles } from './special-tokens.ts'
import { isTekken, readTekken, type Tekken } from './tekken.ts'
import { tekkenTemplate } from './tekken-template.ts'
import { readVocabulary } from './tokenizer-vocabulary.ts'
import { unigramTokenizer } from './unigram-tokenizer.ts'
import { wordPieceTokenizer } from './wordpiece-tokenizer.ts'

/**
 * `isEncoder`: the model reads texts, also two together, and writes none.
 * @throws StartError naming what llama.cpp has no equal for.
 */
export function tokenizerMetadata(
  given: HfTokenizerFiles,
  vocabSize: number,
  isEncoder = false,
): MetadataEntry[] {
  const tekken = isTekken(given.tokenizer) ? readTekken(given.tokenizer) : null
  const files = tekken === null ? given : filesOf(tekken, given)
  const { tokenizer, pieceModel } = files
  const model = objectField(tokenizer, 'model') ?? { path: tokenizer.path, fields: {} }
  const type = checkModel(tokenizer, model)
  const parts = { tokenizer, model, vocabulary: readVocabulary(tokenizer, model), vocabSize }
  if (type === 'WordPiece') return [...wordPieceTokenizer(parts).metadata]
  const isSentencePiece = type === 'BPE' && model.fields['byte_fallback'] === true
  const { metadata, tokens } =
    type === 'Unigram'
      ? unigramTokenizer(parts)
      : isSentencePiece
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
    configuredChatTemplate(files.tokenizerConfig, 'default') ??
    configuredChatTemplate(files.processorTemplate, 'default') ??
    (tekken === null ? null : tekkenTemplate(tekken))
  return [
    ...metadata,
    ...special,
    ...(isEncoder ? pairMetadata(tokenizer, ids) : []),
    ...(chatTemplate === null ? [] : [['tokenizer.chat_template', gguf.string(chatTemplate)] as const]),
    ...toolTemplateMetadata(files),
  ]
}

function filesOf({ tokenizer, tokenizerConfig }: Tekken, given: HfTokenizerFiles): HfTokenizerFiles {
  return { ...given, tokenizer, tokenizerConfig: given.tokenizerConfig ?? tokenizerConfig }
}

function checkModel(tokenizer: JsonObject, model: JsonObject): 'BPE' | 'WordPiece' | 'Unigram' {
  const { type, dropout } = model.fields
  if (type === 'WordPiece' || type === 'Unigram') return type
  if (type !== 'BPE')
    throw unconvertible(tokenizer, `its model must be "BPE", "WordPiece" or "Unigram", but is ${shown(type)}`)
  const affixes = [model.fields['continuing_subword_prefix'], model.fields['end_of_word_suffix']]
  if (affixes.some((affix) => (affix ?? '') !== '') || (dropout ?? 0) !== 0) {
    throw unconvertible(tokenizer, 'it uses subword affixes or dropout')
  }
  return type
}

/** What stands between two texts: the end of the first, and maybe one more token. */
function pairMetadata(tokenizer: JsonObject, ids: ReadonlyMap<string, number>): MetadataEntry[] {
  const { after } = tokensAround(tokenizer)
  const [end, separator, ...others] = tokensBetween(tokenizer)
  if (end !== (after ?? undefined) || others.length > 0) {
    throw unconvertible(tokenizer, 'its post-processor puts other tokens between two texts than behind one')
  }
  const id = ids.get(separator ?? '')
  return [
    ['tokenizer.ggml.add_sep_token', gguf.bool(id !== undefined)],
    // llama.cpp spells it so.
    ...(id === undefined ? [] : [['tokenizer.ggml.seperator_token_id', gguf.uint32(id)] as const]),
  ]
}

/** As llama.cpp's converter writes them; Hermes 2 Pro and 3 have a template of its own for chats with tools. */
function toolTemplateMetadata({ tokenizerConfig }: HfTokenizerFiles): MetadataEntry[] {
  const template = configuredChatTemplate(tokenizerConfig, 'tool_use')
  if (template === null) return []
  return [
    ['tokenizer.chat_templates', gguf.strings(['tool_use'])],
    ['tokenizer.chat_template.tool_use', gguf.string(template)],
  ]
}

/** The one of this name when there are several; one that has no name is the default. */
function configuredChatTemplate(file: JsonObject | null, name: 'default' | 'tool_use'): string | null {
  const configured = file?.fields['chat_template'] ?? null
  if (typeof configured === 'string') return name === 'default' ? configured : null
  const named: unknown[] = Array.isArray(configured) ? configured : []
  const chosen = named.find((entry) => isRecord(entry) && entry['name'] === name)
  return isRecord(chosen) && typeof chosen['template'] === 'string' ? chosen['template'] : null
}
