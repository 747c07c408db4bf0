/**
 * A request whose body comes in small chunks hands them on joined, at most what was read at once to a turn of the event loop:
 * Node makes an object of each chunk, keeps those that are not read yet, and reads up to 2 MB of one connection before
 * another gets its turn. Both servers make their requests with it (`http-bounds.ts`).
 *
 * One read may hold 11,000 chunks of a byte, which take Node ten times as long as the rest of the work on them, and many
 * connections are read in one turn. A body of so many is therefore at fault: nothing more of it is handed on.
 * Invariant: bytes are handed on in their order, and all of them before the end.
 */
import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ownTurn } from '../../core/concurrency/turns.ts'
import { ServiceError } from '../../core/errors.ts'
import { BodyPieces, SMALL_PIECE_BYTES } from './body-pieces.ts'

/** So many are handed on at once: what clients send in a few pieces waits for no turn. */
const FREE_PIECES = 16

/** Of chunks that come at once, however small they are. */
export const MAX_TINY_CHUNKS = 1024
/** What chunks beyond that hold on average. */
export const MIN_CHUNK_BYTES = 64

/** `HTTPParser.kOnBody`: where a parser of Node keeps what it calls with each chunk. It calls nothing when that is no function. */
const ON_BODY = 3

export class JoinedRequest extends IncomingMessage {
  #freePieces = FREE_PIECES
  /** Null while nothing waits for its turn. */
  #waiting: BodyPieces | null = null
  /** Of the turn. */
  #chunks = 0
  #chunkBytes = 0
  #fault: ServiceError | null = null

  /** Why no more of the body is handed on, `malformed_request`; `fault` is emitted when that begins. */
  get fault(): ServiceError | null {
    return this.#fault
  }

  /** Called by Node's parser. Reading stops when it gives false, and goes on when the consumer wants more. */
  override push(piece: Buffer | null): boolean {
    if (this.#fault !== null) return false
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
    this.#chunkBytes += piece.length
    if (++this.#chunks > MAX_TINY_CHUNKS && this.#chunkBytes < this.#chunks * MIN_CHUNK_BYTES) this.#refuse()
    return false
  }

  #handOn(): void {
    const waiting = this.#waiting
    this.#waiting = null
    this.#chunks = 0
    this.#chunkBytes = 0
    if (waiting !== null && !this.destroyed) super.push(waiting.take())
  }

  #refuse(): void {
    this.#waiting = null
    const message = `a body in chunks must have at most ${MAX_TINY_CHUNKS} at once of fewer than ${MIN_CHUNK_BYTES} bytes on average.`
    this.#fault = new ServiceError('malformed_request', { message })
    dropChunks(this.socket)
    this.emit('fault')
  }
}

/** What is left of the read passes the parser in a fifteenth of the time. The connection is of no use afterwards. */
function dropChunks(socket: Socket): void {
  const { parser } = socket as { readonly parser?: Record<number, unknown> | null }
  const onBody = parser?.[ON_BODY]
  if (!parser || onBody === undefined) return
  parser[ON_BODY] = undefined
  // Node gives the parser to another connection then.
  socket.prependOnceListener('close', () => (parser[ON_BODY] = onBody))
}
