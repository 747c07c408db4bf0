/**
 * tokenizer.json of a byte-level BPE tokenizer, with what stands beside it, → the tokenizer metadata of GGUF.
 * What llama.cpp would tokenize differently is refused rather than converted. One difference is left: llama.cpp
 * does not apply Unicode normalization (NFC), so text that is not in NFC already gets other tokens there.
 */
import { badFile, quoted, shown } from './file-errors.ts'
import { gguf, type GgufValue } from './gguf-format.ts'
import { flag, isRecord, type JsonObject, list, nestedObject } from './json-file.ts'
import { findPreTokenizer } from './pre-tokenizers.ts'
import { specialTokenMetadata, type HfTokenizerFiles } from './special-tokens.ts'

/** llama.cpp's token types. */
const TOKEN_NORMAL = 1
const TOKEN_CONTROL = 3
const TOKEN_USER_DEFINED = 4
const TOKEN_UNUSED = 5

/** @throws StartError naming what llama.cpp has no equal for. */
export function tokenizerMetadata(
  files: HfTokenizerFiles,
  vocabSize: number,
): (readonly [string, GgufValue])[] {
  const { tokenizer } = files
  const model = nestedObject(tokenizer, 'model') ?? { path: tokenizer.path, fields: {} }
  checkByteLevelBpe(tokenizer, model)
  const vocabulary = readVocabulary(tokenizer, model)
  const { tokens, types } = tokenList(tokenizer, vocabulary, vocabSize)
  const chatTemplate = files.chatTemplate ?? configuredChatTemplate(files.tokenizerConfig)
  return [
    ['tokenizer.ggml.model', gguf.string('gpt2')],
    ['tokenizer.ggml.pre', gguf.string(findPreTokenizer(tokenizer, flag(model, 'ignore_merges', false)))],
    ['tokenizer.ggml.tokens', gguf.strings(tokens)],
    ['tokenizer.ggml.token_type', gguf.int32s(types)],
    ['tokenizer.ggml.merges', gguf.strings(readMerges(model, vocabulary.base))],
    ...specialTokenMetadata(files, new Map(tokens.map((token, id) => [token, id]))),
    ...(chatTemplate === null ? [] : [['tokenizer.chat_template', gguf.string(chatTemplate)] as const]),
  ]
}

function checkByteLevelBpe(tokenizer: JsonObject, model: JsonObject): void {
  const { type, byte_fallback: byteFallback, dropout } = model.fields
  if (type !== 'BPE')
    throw badFile(tokenizer.path, `cannot be converted: its model must be "BPE", but is ${shown(type)}`)
  if (byteFallback === true) {
    throw badFile(
      tokenizer.path,
      'is of the SentencePiece kind, which is not converted yet; give a GGUF file',
    )
  }
  const affixes = [model.fields['continuing_subword_prefix'], model.fields['end_of_word_suffix']]
  if (affixes.some((affix) => (affix ?? '') !== '') || (dropout ?? 0) !== 0) {
    throw badFile(tokenizer.path, 'cannot be converted: it uses subword affixes or dropout')
  }
  if (!isHarmlessNormalizer(tokenizer.fields['normalizer'] ?? null)) {
    throw badFile(
      tokenizer.path,
      `cannot be converted: its normalizer is ${shown(tokenizer.fields['normalizer'])}`,
    )
  }
  const decoder = nestedObject(tokenizer, 'decoder')
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

interface Vocabulary {
  /** Tokens of the BPE model, in byte-level letters. */
  readonly base: ReadonlyMap<string, number>
  /** Tokens found in text before BPE, as they are written. */
  readonly added: ReadonlyMap<number, AddedToken>
}

interface AddedToken {
  readonly text: string
  readonly isSpecial: boolean
}

function readVocabulary(tokenizer: JsonObject, model: JsonObject): Vocabulary {
  const base = new Map<string, number>()
  for (const [token, id] of Object.entries(nestedObject(model, 'vocab')?.fields ?? {})) {
    if (!isTokenId(id))
      throw badFile(tokenizer.path, `is corrupted: token ${quoted(token)} has the id ${shown(id)}`)
    base.set(token, id)
  }
  if (base.size === 0) throw badFile(tokenizer.path, 'has an empty vocabulary')
  const added = new Map<number, AddedToken>()
  for (const entry of list(tokenizer, 'added_tokens')) {
    const { id, content, special = false, ...options } = isRecord(entry) ? entry : {}
    if (!isTokenId(id) || typeof content !== 'string' || content === '') {
      throw badFile(tokenizer.path, `is corrupted: there is no added token in ${shown(entry)}`)
    }
    if (options['lstrip'] === true || options['rstrip'] === true || options['single_word'] === true) {
      throw badFile(
        tokenizer.path,
        `cannot be converted: added token ${quoted(content)} strips spaces or wants whole words`,
      )
    }
    added.set(id, { text: content, isSpecial: special === true || looksSpecial(content) })
  }
  return { base, added }
}

function isTokenId(id: unknown): id is number {
  return typeof id === 'number' && Number.isInteger(id) && id >= 0
}

/**
 * Some tokenizers do not mark their turn markers as special. Taken as plain text they could be written by any user
 * of a chat, so they count as special, as in llama.cpp's own converter.
 */
function looksSpecial(text: string): boolean {
  return /^<[|｜].*[|｜]>$/su.test(text)
}

function tokenList(
  tokenizer: JsonObject,
  { base, added }: Vocabulary,
  vocabSize: number,
): { tokens: string[]; types: number[] } {
  const tokens = Array.from({ length: vocabSize }, (_, id) => `[PAD${id}]`)
  const types = Array<number>(vocabSize).fill(TOKEN_UNUSED)
  const place = (id: number, text: string, type: number) => {
    if (id >= vocabSize) {
      throw badFile(
        tokenizer.path,
        `does not fit the model: it has token id ${id}, the model only ${vocabSize} tokens`,
      )
    }
    tokens[id] = text
    types[id] = type
  }
  for (const [token, id] of base) place(id, token, TOKEN_NORMAL)
  for (const [id, { text, isSpecial }] of added)
    place(id, text, isSpecial ? TOKEN_CONTROL : TOKEN_USER_DEFINED)
  // llama.cpp ends the process when two tokens have the same text.
  const seen = new Set<string>()
  for (const token of tokens) {
    if (seen.has(token)) throw badFile(tokenizer.path, `is unusable: token ${quoted(token)} has two ids`)
    seen.add(token)
  }
  return { tokens, types }
}

/** As "left right"; both spellings of tokenizer.json are read. */
function readMerges(model: JsonObject, base: ReadonlyMap<string, number>): string[] {
  return list(model, 'merges').map((merge) => {
    const parts: unknown[] = typeof merge === 'string' ? merge.split(' ') : Array.isArray(merge) ? merge : []
    const [left, right] = parts
    const isMerge = parts.length === 2 && typeof left === 'string' && typeof right === 'string'
    // A space is written as another letter in byte-level BPE, so one between the two is unambiguous.
    if (
      !isMerge ||
      !base.has(left) ||
      !base.has(right) ||
      !base.has(left + right) ||
      `${left}${right}`.includes(' ')
    ) {
      throw badFile(model.path, `is corrupted: ${shown(merge)} is no merge of two of its tokens`)
    }
    return `${left} ${right}`
  })
}

/** The `default` one when there are several. */
function configuredChatTemplate(tokenizerConfig: JsonObject | null): string | null {
  const configured = tokenizerConfig?.fields['chat_template'] ?? null
  if (typeof configured === 'string') return configured
  const named: unknown[] = Array.isArray(configured) ? configured : []
  const chosen = named.find((entry) => isRecord(entry) && entry['name'] === 'default')
  return isRecord(chosen) && typeof chosen['template'] === 'string' ? chosen['template'] : null
}
