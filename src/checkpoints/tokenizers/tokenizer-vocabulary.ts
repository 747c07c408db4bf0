/**
 * What both kinds of tokenizer.json have in common: its tokens, those of the model and the added ones that are found in
 * text before the model runs, its merges, and how its steps are listed.
 */
import type { StartError } from '../../core/errors.ts'
import { badFile, quoted, shown, unconvertible } from '../files/file-errors.ts'
import { isRecord, type JsonObject, listField, objectField } from '../files/json-file.ts'

/** llama.cpp's token types. */
export const TOKEN_TYPES = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const

export interface TokenizerVocabulary {
  /** Tokens of the model as it writes them. */
  readonly base: ReadonlyMap<string, number>
  /** Tokens found in text before the model runs, as they are written. */
  readonly added: ReadonlyMap<number, AddedToken>
}

interface AddedToken {
  readonly text: string
  readonly isSpecial: boolean
  /** Whether it takes the spaces in front of it. */
  readonly stripsLeft: boolean
  /** Whether it takes the spaces behind it. */
  readonly stripsRight: boolean
}

/** Several times as many characters as the longest of any vocabulary: a token is cut at all of them to find its merges. */
const MAX_TOKEN_LENGTH = 1024

/** @throws StartError */
export function refuseLongToken({ path }: JsonObject, token: string): void {
  if (token.length > MAX_TOKEN_LENGTH)
    throw badFile(path, `is corrupted: token ${quoted(token)} is ${token.length} characters long`)
}

/** The steps of a normalizer, pre-tokenizer or post-processor: those of a `Sequence`, or the single one. */
export function stepsOf(value: unknown, listName: string): readonly unknown[] {
  if (value === null || value === undefined) return []
  const listed = isStep(value, 'Sequence') ? value[listName] : [value]
  return Array.isArray(listed) ? listed : [value]
}

export function isStep(value: unknown, type: string): value is Record<string, unknown> {
  return isRecord(value) && value['type'] === type
}

export function readVocabulary(tokenizer: JsonObject, model: JsonObject): TokenizerVocabulary {
  const base = new Map<string, number>()
  for (const [token, id] of modelTokens(tokenizer, model)) {
    if (!isTokenId(id))
      throw badFile(tokenizer.path, `is corrupted: token ${quoted(token)} has the id ${shown(id)}`)
    refuseLongToken(tokenizer, token)
    base.set(token, id)
  }
  if (base.size === 0) throw badFile(tokenizer.path, 'has an empty vocabulary')
  const added = new Map<number, AddedToken>()
  for (const entry of listField(tokenizer, 'added_tokens')) {
    const { id, content, special = false, ...options } = isRecord(entry) ? entry : {}
    if (!isTokenId(id) || typeof content !== 'string' || content === '') {
      throw badFile(tokenizer.path, `is corrupted: there is no added token in ${shown(entry)}`)
    }
    if (options['single_word'] === true) throw stripsSpaces(tokenizer, content)
    const isSpecial = special === true || looksSpecial(content)
    const { lstrip, rstrip } = options
    added.set(id, { text: content, isSpecial, stripsLeft: lstrip === true, stripsRight: rstrip === true })
  }
  return { base, added }
}

/** An object of ids by their token, or, of a Unigram model, a list of tokens with their scores. */
function modelTokens(tokenizer: JsonObject, model: JsonObject): readonly (readonly [string, unknown])[] {
  if (!Array.isArray(model.fields['vocab'])) return Object.entries(objectField(model, 'vocab')?.fields ?? {})
  return listField(model, 'vocab').map((entry, id) => {
    const [token] = Array.isArray(entry) ? (entry as unknown[]) : []
    if (typeof token === 'string') return [token, id]
    throw badFile(tokenizer.path, `is corrupted: there is no token in ${shown(entry)}`)
  })
}

function stripsSpaces(tokenizer: JsonObject, text: string): StartError {
  return unconvertible(tokenizer, `added token ${quoted(text)} strips spaces or wants whole words`)
}

/** @throws StartError for an added token that takes the spaces in front of it, but for those named in `except` */
export function refuseLeftStripping(
  tokenizer: JsonObject,
  { added }: TokenizerVocabulary,
  except: readonly string[] = [],
): void {
  for (const { text, stripsLeft } of added.values()) {
    if (stripsLeft && !except.includes(text)) throw stripsSpaces(tokenizer, text)
  }
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

interface ListOptions {
  /** Of the model; ids that no token has are filled up. */
  readonly vocabSize: number
  readonly baseType: (token: string) => number
  /** An added token that is no special one, as llama.cpp finds it in text. */
  readonly userDefinedText: (text: string) => string
}

/** Texts and types of all tokens, by id. */
export function tokenList(
  tokenizer: JsonObject,
  vocabulary: TokenizerVocabulary,
  { vocabSize, baseType, userDefinedText }: ListOptions,
): { readonly tokens: string[]; readonly types: number[] } {
  const tokens = Array.from({ length: vocabSize }, (_, id) => `[PAD${id}]`)
  const types = Array<number>(vocabSize).fill(TOKEN_TYPES.unused)
  const place = (id: number, text: string, type: number) => {
    tokens[id] = text
    types[id] = type
  }
  for (const [token, id] of vocabulary.base) {
    // Text-only models keep the tokenizer of their family, with a token for images that they have no embedding of.
    if (id >= vocabSize && vocabulary.added.has(id)) continue
    if (id >= vocabSize) {
      throw badFile(
        tokenizer.path,
        `does not fit the model: it has token id ${id}, the model only ${vocabSize} tokens`,
      )
    }
    place(id, token, baseType(token))
  }
  for (const [id, { text, isSpecial }] of vocabulary.added) {
    if (id >= vocabSize) continue
    if (types[id] === TOKEN_TYPES.unknown) continue
    if (isSpecial) place(id, text, TOKEN_TYPES.control)
    else place(id, userDefinedText(text), TOKEN_TYPES.userDefined)
  }
  checkUnique(tokenizer, tokens)
  return { tokens, types }
}

/** llama.cpp ends the process when two tokens have the same text. */
function checkUnique(tokenizer: JsonObject, tokens: readonly string[]): void {
  const seen = new Set<string>()
  for (const token of tokens) {
    if (seen.has(token)) throw badFile(tokenizer.path, `is unusable: token ${quoted(token)} has two ids`)
    seen.add(token)
  }
}

export type Merge = readonly [left: string, right: string]

/** Reads both spellings of tokenizer.json. */
export function readMerges(model: JsonObject, base: ReadonlyMap<string, number>): Merge[] {
  return listField(model, 'merges').map((merge) => {
    const parts: unknown[] = typeof merge === 'string' ? merge.split(' ') : Array.isArray(merge) ? merge : []
    const [left, right] = parts
    if (parts.length === 2 && typeof left === 'string' && typeof right === 'string') {
      const areTokens = [left, right, left + right].every((token) => base.has(token))
      // A space is written as another letter in every vocabulary, so one between the two is unambiguous.
      if (areTokens && !`${left}${right}`.includes(' ')) return [left, right]
    }
    throw badFile(model.path, `is corrupted: ${shown(merge)} is no merge of two of its tokens`)
  })
}

/** Special tokens of Phi-3 behind which llama.cpp strips no spaces. */
const NEVER_STRIPPED = ['<unk>', '<s>', '<|endoftext|>']
const NAME_THAT_STRIPS = 'phi-3'

/**
 * The model name that makes llama.cpp strip the spaces behind special tokens; null when no token strips them. llama.cpp
 * has one rule for this, selected by the name: in Phi-3 every special token strips, except three.
 * @throws StartError when other tokens strip
 */
export function strippingModelName(tokenizer: JsonObject, { added }: TokenizerVocabulary): string | null {
  const tokens = Array.from(added.values())
  if (!tokens.some(({ stripsRight }) => stripsRight)) return null
  const texts = new Set(tokens.map(({ text }) => text))
  const other = tokens.find(({ text, stripsRight }) => stripsRight === NEVER_STRIPPED.includes(text))
  // A name that llama.cpp looks up and does not find ends the process.
  const hasAll = [...NEVER_STRIPPED, '</s>'].every((text) => texts.has(text))
  if (other === undefined && hasAll) return NAME_THAT_STRIPS
  const named = other ?? tokens.find(({ stripsRight }) => stripsRight)
  throw unconvertible(
    tokenizer,
    `added token ${quoted(named?.text ?? '')} strips spaces or wants whole words, unlike in Phi-3`,
  )
}
