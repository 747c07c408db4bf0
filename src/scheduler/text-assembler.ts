/**
 * Turns the bytes of one sequence's tokens into text that can be shown: whole characters only, nothing of a stop
 * string. Owned by a sequence, called by the scheduler's update.
 */
import { StopMatcher, type MatchResult } from './stop-matcher.ts'

const NO_BYTES = new Uint8Array(0)

export class TextAssembler {
  #matcher: StopMatcher
  /** The first bytes of a character that has not arrived whole. */
  #partial: Uint8Array = NO_BYTES

  constructor(stopStrings: readonly string[]) {
    this.#matcher = new StopMatcher(stopStrings)
  }

  /** @param mayStop whether a stop string that ends in these bytes counts */
  push(bytes: Uint8Array, mayStop = true): MatchResult {
    return this.#matcher.push(this.#decode(bytes), mayStop)
  }

  /** The text held back for a stop string that never came. An incomplete character is dropped. */
  flush(): string {
    return this.#matcher.flush()
  }

  /** Another one that stands where this one does; what is pushed to either changes only that. */
  fork(): TextAssembler {
    const copy = new TextAssembler([])
    copy.#matcher = this.#matcher.fork()
    copy.#partial = this.#partial
    return copy
  }

  #decode(bytes: Uint8Array): string {
    const [first = 0] = bytes
    // Most tokens of a byte are a character, and a buffer for each would cost more than all else that is done with one.
    if (bytes.length === 1 && first < 0x80 && this.#partial.length === 0) return String.fromCharCode(first)
    const all = this.#partial.length === 0 ? bytes : Buffer.concat([this.#partial, bytes])
    const partialBytes = incompleteSuffixBytes(all)
    // Copied: the runner's bytes may be a view that it uses again.
    this.#partial = partialBytes === 0 ? NO_BYTES : all.slice(all.length - partialBytes)
    return Buffer.from(all.buffer, all.byteOffset, all.length - partialBytes).toString('utf8')
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
