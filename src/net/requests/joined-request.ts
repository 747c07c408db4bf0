/**
 * A request whose body comes in small chunks hands them on joined, at most what was read at once to a turn of the event loop:
 * Node makes an object of each chunk, keeps those that are not read yet, and reads up to 2 MB of one connection before
 * another gets its turn. Both servers make their requests with it (`http-bounds.ts`).
 * Invariant: bytes are handed on in their order, and all of them before the end.
 */
import { IncomingMessage } from 'node:http'
import { ownTurn } from '../../core/concurrency/turns.ts'
import { BodyPieces, SMALL_PIECE_BYTES } from './body-pieces.ts'

/** So many are handed on at once: what clients send in a few pieces waits for no turn. */
const FREE_PIECES = 16

export class JoinedRequest extends IncomingMessage {
  #freePieces = FREE_PIECES
  /** Null while nothing waits for its turn. */
  #waiting: BodyPieces | null = null

  /** Called by Node's parser. Reading stops when it gives false, and goes on when the consumer wants more. */
  override push(piece: Buffer | null): boolean {
    if (piece === null) {
      this.#handOn()
      return super.push(null)
    }
    const isFree = piece.length >= SMALL_PIECE_BYTES || this.#freePieces-- > 0
    if (isFree && this.#waiting === null) return super.push(piece)
    if (this.#waiting === null) {
      this.#waiting = new BodyPieces()
      void ownTurn().then(() => this.#handOn())
    }
    this.#waiting.add(piece)
    return false
  }

  #handOn(): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting !== null && !this.destroyed) super.push(waiting.take())
  }
}
