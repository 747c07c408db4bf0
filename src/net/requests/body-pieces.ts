/**
 * Bytes of a body that came in pieces. Small ones are copied together: a piece of one byte costs Node some 400 bytes of
 * memory, so a body in chunks of one byte would take that many times its size.
 */

/** Kept as they are from this size on. */
export const SMALL_PIECE_BYTES = 1024
const BLOCK_BYTES = 4096

export class BodyPieces {
  readonly #pieces: Buffer[] = []
  /** What small pieces are copied into. */
  #block = Buffer.alloc(0)
  #used = 0

  add(piece: Buffer): void {
    if (piece.length >= SMALL_PIECE_BYTES) {
      this.#closeBlock()
      this.#pieces.push(piece)
      return
    }
    if (this.#used + piece.length > this.#block.length) {
      this.#closeBlock()
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
    }
    this.#used += piece.copy(this.#block, this.#used)
  }

  /** All bytes since the last call; leaves none of them behind. */
  take(): Buffer {
    this.#closeBlock()
    const pieces = this.#pieces.splice(0)
    const [only] = pieces
    return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
  }

  #closeBlock(): void {
    if (this.#used > 0) this.#pieces.push(this.#block.subarray(0, this.#used))
    this.#block = Buffer.alloc(0)
    this.#used = 0
  }
}
