/**
 * One request to an upstream and its answer: undici's handler on one side, an iterator over the bytes on the other, which gives what has
 * come since it was last asked. Reads no faster than it is asked, and waits only so long. Made by `endpoint.ts`.
 *
 * Invariant: it is over once, when its answer has come whole, failed or was left; nothing more of it is read then.
 */
import type { Dispatcher } from 'undici'
import { ServiceError } from '../../core/errors.ts'
import { answerLost } from './upstream-errors.ts'

/** Bytes that are read ahead of whoever reads. */
const MAX_AHEAD_BYTES = 65_536
/** From the end of what matters of an answer to its last byte. */
const LAST_BYTES_MS = 1000

export interface ExchangeOptions {
  /** The caller's. */
  readonly signal: AbortSignal
  readonly firstByteMs: number
  /** Between two pieces of an answer. */
  readonly betweenMs: number
  readonly onOver: () => void
  /** Called when there is a connection and the request begins to leave. */
  readonly onSent?: (() => void) | undefined
}

export interface AnswerHead {
  readonly status: number
  readonly retryAfter: string | undefined
}

export class UpstreamExchange implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array> {
  readonly #options: ExchangeOptions
  readonly #onAbort = (): void => this.#stop(this.#options.signal.reason)
  #controller: Dispatcher.DispatchController | null = null
  #timer: NodeJS.Timeout | null = null
  #head: AnswerHead | null = null
  #pieces: Uint8Array[] = []
  #aheadBytes = 0
  /** Why there are no more bytes; null while there may be. */
  #end: { readonly error: unknown } | 'read' | null = null
  #isOver = false
  #hasLeft = false
  #wake: (() => void) | null = null

  /** Waits for the first byte from here on. */
  constructor(options: ExchangeOptions) {
    this.#options = options
    options.signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Once the first byte has come, or an answer without any. @throws an error of the connection, or that nothing came in time */
  async head(): Promise<AnswerHead> {
    const { firstByteMs } = this.#options
    while (
      this.#end === null &&
      (this.#head === null || (this.#head.status === 200 && this.#aheadBytes === 0))
    )
      await this.#change(firstByteMs, 'nothing came in time')
    if (this.#aheadBytes === 0 && this.#end !== null && this.#end !== 'read') throw this.#end.error
    if (this.#head === null) throw new Error('it answered without a status')
    return this.#head
  }

  /** @throws ServiceError `engine_failed` where the answer breaks off; the signal's reason */
  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const { betweenMs, signal } = this.#options
    while (this.#aheadBytes === 0 && this.#end === null)
      await this.#change(betweenMs, 'it was silent for too long')
    if (this.#aheadBytes > 0) return { value: this.#take(), done: false }
    if (this.#end === 'read' || this.#end === null) return { value: undefined, done: true }
    signal.throwIfAborted()
    const { error } = this.#end
    throw error instanceof ServiceError ? error : answerLost('broke off', error)
  }

  /** Leaving early ends the request at the upstream. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#stop(new Error('the answer was left'))
    return { value: undefined, done: true }
  }

  /** All that matters has been read: what little follows is read too, so that the connection can be used again. */
  finish(): void {
    if (this.#isOver) return
    this.#hasLeft = true
    this.#pieces = []
    this.#aheadBytes = 0
    this.#controller?.resume()
    this.#over()
    this.#timer = setTimeout(
      () => this.#controller?.abort(new Error('the answer does not end')),
      LAST_BYTES_MS,
    )
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#end === null) this.#options.onSent?.()
    if (this.#end !== null && this.#end !== 'read') controller.abort(toError(this.#end.error))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // Others follow one below 200.
    if (status < 200) return
    const retryAfter = headers['retry-after']
    this.#head = { status, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined }
    if (status !== 200) this.#changed()
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Uint8Array): void {
    if (this.#hasLeft) return
    this.#pieces.push(bytes)
    this.#aheadBytes += bytes.length
    if (this.#aheadBytes >= MAX_AHEAD_BYTES) controller.pause()
    this.#changed()
  }

  onResponseEnd(): void {
    this.#end ??= 'read'
    this.#over()
    this.#changed()
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#end ??= { error }
    this.#over()
    this.#changed()
  }

  #take(): Uint8Array {
    const [first] = this.#pieces
    const bytes = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#aheadBytes = 0
    this.#controller?.resume()
    return bytes
  }

  #stop(reason: unknown): void {
    if (this.#isOver) return
    this.#end ??= { error: reason }
    this.#over()
    this.#controller?.abort(toError(reason))
    this.#changed()
  }

  /** Counted only while the upstream is waited for: a slow reader is no fault of its. */
  async #change(ms: number, problem: string): Promise<void> {
    this.#timer = setTimeout(() => this.#stop(new Error(problem)), ms)
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  #changed(): void {
    this.#clearTimer()
    this.#wake?.()
    this.#wake = null
  }

  #over(): void {
    this.#clearTimer()
    if (this.#isOver) return
    this.#isOver = true
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    this.#options.onOver()
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
