/**
 * Decodes UTF-8 that arrives in pieces, cut anywhere: whole characters only, each bad byte replaced as `toString` does. Unlike
 * Node's own decoders it can be copied, and says whether a character is incomplete. Used wherever a token's bytes become text.
 */
const NO_BYTES = new Uint8Array(0)

export class Utf8Decoder {
  /** The first bytes of a character that has not arrived whole. */
  #partial: Uint8Array = NO_BYTES

  /** Whether the pieces so far end within a character. */
  get isIncomplete(): boolean {
    return this.#partial.length > 0
  }

  /** The characters that these bytes complete. */
  push(bytes: Uint8Array): string {
    const [first = 0] = bytes
    // Most tokens of a byte are a character, and a buffer for each would cost more than all else that is done with one.
    if (bytes.length === 1 && first < 0x80 && this.#partial.length === 0) return String.fromCharCode(first)
    const all = this.#partial.length === 0 ? bytes : Buffer.concat([this.#partial, bytes])
    const partialBytes = incompleteSuffixBytes(all)
    // Copied: the bytes may be a view that is used again.
    this.#partial = partialBytes === 0 ? NO_BYTES : all.slice(all.length - partialBytes)
    return Buffer.from(all.buffer, all.byteOffset, all.length - partialBytes).toString('utf8')
  }

  /** Another one that stands where this one does. */
  fork(): Utf8Decoder {
    const copy = new Utf8Decoder()
    copy.#partial = this.#partial
    return copy
  }
}

/** How many bytes at the end begin a UTF-8 character without finishing it (0 to 3). */
function incompleteSuffixBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < characterBytes(byte) ? back : 0
  }
  return 0
}

function characterBytes(leadByte: number): number {
  if (leadByte >= 0xf0) return 4
  return leadByte >= 0xe0 ? 3 : 2
}
