/**
 * What every token of a vocabulary is, read out of llama.cpp once: its bytes, whether it ends a text, which texts
 * become control tokens.
 */
import type { Bindings } from './ffi/bindings.ts'
import type { Pointer } from './ffi/structs.ts'

/** Bits of `llama_token_attr`. */
const UNKNOWN = 1 << 0
const CONTROL = 1 << 3
const STRIPS_SPACE = (1 << 7) | (1 << 8)
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
  /** Infinity where a token may stand for any number of bytes, or none. */
  readonly maxTokenBytes: number
}

export function readTokenTable(api: Bindings, vocab: Pointer): TokenTable {
  const size = api.vocabTokens(vocab)
  const offsets = new Int32Array(size + 1)
  const isEndOfGeneration = new Uint8Array(size)
  const specialTexts: string[] = []
  const hasByte = new Uint8Array(256)
  let bytes = new Uint8Array(size * 8)
  let maxTokenBytes = 1
  let isExact = EXACT_VOCAB_TYPES.includes(api.vocabType(vocab))

  for (let id = 0; id < size; id++) {
    const start = offsets[id] as number
    let length = api.tokenToPiece(vocab, id, bytes.subarray(start), bytes.length - start, 0, false)
    if (length < 0) {
      const larger = new Uint8Array(bytes.length * 2 - length)
      larger.set(bytes)
      bytes = larger
      length = api.tokenToPiece(vocab, id, bytes.subarray(start), bytes.length - start, 0, false)
    }
    offsets[id + 1] = start + length
    maxTokenBytes = Math.max(maxTokenBytes, length)
    if (length === 1) hasByte[bytes[start] as number] = 1
    if (api.vocabIsEog(vocab, id)) isEndOfGeneration[id] = 1

    const attributes = api.vocabAttributes(vocab, id)
    if ((attributes & STRIPS_SPACE) !== 0) isExact = false
    if ((attributes & (CONTROL | UNKNOWN)) === 0) continue
    const text = api.vocabText(vocab, id)
    if (text !== '') specialTexts.push(text)
    maxTokenBytes = Math.max(maxTokenBytes, Buffer.byteLength(text))
  }
  // A byte without a token of its own may vanish, and then the length of a text proves nothing.
  isExact &&= hasByte.every((has, byte) => has === 1 || NEVER_IN_UTF8(byte))
  return {
    bytes: bytes.slice(0, offsets[size]),
    offsets,
    isEndOfGeneration,
    specialTexts,
    maxTokenBytes: isExact ? maxTokenBytes : Number.POSITIVE_INFINITY,
  }
}
