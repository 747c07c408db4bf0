/**
 * What every token of a vocabulary is, read out of llama.cpp once: its bytes, whether it ends a text, which texts
 * become control tokens.
 */
import type { Bindings } from '../ffi/bindings.ts'
import type { Pointer } from '../ffi/structs.ts'
import { cuttableTexts, isLetter, NO_SLICES, type SliceRules } from './text-slices.ts'

/** Bits of `llama_token_attr`. */
const UNKNOWN = 1 << 0
const CONTROL = 1 << 3
const USER_DEFINED = 1 << 4
const STRIPS_SPACE_BEFORE = 1 << 7
const STRIPS_SPACE = STRIPS_SPACE_BEFORE | (1 << 8)
/** gpt-oss's control tokens, of which llama.cpp makes text that any user could write. */
const HARMONY_MARKER = /^<\|(?:start|end|message|channel|constrain)\|>$/
const SPACE = 0x20
const NEWLINE = 0x0a
/** Vocabulary types whose tokens stand for the very bytes of the text: SentencePiece BPE and byte-level BPE. */
const EXACT_VOCAB_TYPES = [1, 2]
/** Bytes that no UTF-8 text contains. */
const NEVER_IN_UTF8 = (byte: number): boolean => byte === 0xc0 || byte === 0xc1 || byte > 0xf4

export interface TokenTable {
  /** The bytes of all tokens, one after the other; token i has those from `offsets[i]` to `offsets[i + 1]`. */
  readonly bytes: Uint8Array
  readonly offsets: Int32Array
  /** 1 for tokens that end a text. */
  readonly isEndOfGeneration: Uint8Array
  readonly specialTexts: readonly string[]
  /** The tokens that those texts become, in the same order. */
  readonly specialTokenIds: readonly number[]
  /** Infinity where a token may stand for any number of bytes, or none. */
  readonly maxTokenBytes: number
  readonly sliceRules: SliceRules
}

export function readTokenTable(api: Bindings, vocab: Pointer): TokenTable {
  const size = api.vocabTokens(vocab)
  const offsets = new Int32Array(size + 1)
  const isEndOfGeneration = new Uint8Array(size)
  const specialTexts: string[] = []
  const specialTokenIds: number[] = []
  const addedTexts: string[] = []
  let stripsSpaceBefore = false
  const hasByte = new Uint8Array(256)
  let bytes = new Uint8Array(size * 8)
  let maxTokenBytes = 1
  const isKnownType = EXACT_VOCAB_TYPES.includes(api.vocabType(vocab))
  let isExact = isKnownType

  for (let id = 0; id < size; id++) {
    const start = offsets[id] as number
    let length = api.tokenToPiece(vocab, id, bytes.subarray(start), bytes.length - start, 0, false)
    if (length < 0) {
      const larger = new Uint8Array(bytes.length * 2 - length)
      larger.set(bytes)
      bytes = larger
      length = api.tokenToPiece(vocab, id, bytes.subarray(start), bytes.length - start, 0, false)
    }
    const attributes = api.vocabAttributes(vocab, id)
    const isMarker = (attributes & USER_DEFINED) !== 0 && HARMONY_MARKER.test(api.vocabText(vocab, id))
    if (isMarker) length = 0
    offsets[id + 1] = start + length
    maxTokenBytes = Math.max(maxTokenBytes, length)
    if (length === 1) hasByte[bytes[start] as number] = 1
    if (api.vocabIsEog(vocab, id)) isEndOfGeneration[id] = 1

    if ((attributes & STRIPS_SPACE) !== 0) isExact = false
    stripsSpaceBefore ||= (attributes & STRIPS_SPACE_BEFORE) !== 0
    if ((attributes & (CONTROL | UNKNOWN | USER_DEFINED)) === 0) continue
    const text = api.vocabText(vocab, id)
    addedTexts.push(text)
    if (!isMarker && (attributes & (CONTROL | UNKNOWN)) === 0) continue
    if (text !== '') {
      specialTexts.push(text)
      specialTokenIds.push(id)
    }
    maxTokenBytes = Math.max(maxTokenBytes, Buffer.byteLength(text))
  }
  // A byte without a token of its own may vanish, and then the length of a text proves nothing.
  isExact &&= hasByte.every((has, byte) => has === 1 || NEVER_IN_UTF8(byte))
  const used = bytes.slice(0, offsets[size])
  const sliceRules = {
    beforeTexts: stripsSpaceBefore ? [] : cuttableTexts(addedTexts),
    beforeSpaces: !hasTokenAcrossWords(used, offsets),
  }
  return {
    bytes: used,
    offsets,
    sliceRules: isKnownType ? sliceRules : NO_SLICES,
    isEndOfGeneration,
    specialTexts,
    specialTokenIds,
    maxTokenBytes: isExact ? maxTokenBytes : Number.POSITIVE_INFINITY,
  }
}

/**
 * Whether a token holds a letter in front of a space, or a newline there: a text that goes on behind a cut is tokenized behind
 * a newline (see vocabulary.ts).
 */
function hasTokenAcrossWords(bytes: Uint8Array, offsets: Int32Array): boolean {
  for (let id = 0; id + 1 < offsets.length; id++) {
    const end = offsets[id + 1] as number
    for (let i = (offsets[id] as number) + 1; i < end; i++) {
      if (bytes[i] !== SPACE) continue
      const before = bytes[i - 1] as number
      if (isLetter(before) || before === NEWLINE) return true
    }
  }
  return false
}
