/**
 * The events of one request on their way from the step loop, or from the engine's socket, to the one who iterates.
 * Bounded by what a request may generate; who reads gets all that has come since. It ends by itself when each sequence
 * has ended. When the reader leaves early, or the signal aborts, `onCancel` is called once and nothing more follows.
 */
import { abortReason } from '../../../core/abort.ts'
import type { ServiceError } from '../../../core/errors.ts'
import type { EngineEvent } from '../../../protocol/engine.ts'
import type { EventSink } from './step-loop.ts'

export interface RequestStreamOptions {
  /** Sequences of the request. */
  readonly sequences: number
  readonly signal: AbortSignal
  readonly onCancel: () => void
}

export class RequestStream implements EventSink, AsyncIterable<readonly EngineEvent[]> {
  readonly #options: RequestStreamOptions
  #events: EngineEvent[] = []
  #openSequences: number
  #isClosed = false
  #error: Error | null = null
  #wake: (() => void) | null = null
  readonly #onAbort = (): void => this.#cancel(abortReason(this.#options.signal))

  constructor(options: RequestStreamOptions) {
    this.#options = options
    this.#openSequences = options.sequences
    options.signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Whether nothing more can come: all sequences have ended, or the request failed or was cancelled. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  deliver(events: readonly EngineEvent[]): void {
    if (this.#isClosed) return
    for (const event of events) {
      this.#events.push(event)
      if (event.type === 'sequence-end') this.#openSequences--
    }
    if (this.#openSequences === 0) this.#close()
    else this.#notify()
  }

  /** Events that were delivered before are still read. */
  fail(error: ServiceError): void {
    if (this.#isClosed) return
    this.#error = error
    this.#close()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly EngineEvent[], void, void> {
    try {
      for (;;) {
        const events = this.#events
        this.#events = []
        if (events.length > 0) yield events
        if (this.#events.length > 0) continue
        if (this.#isClosed) break
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
      if (this.#error !== null) throw this.#error
    } finally {
      this.#cancel(null)
    }
  }

  #cancel(error: Error | null): void {
    if (this.#isClosed) return
    this.#error = error
    this.#events = []
    this.#close()
    this.#options.onCancel()
  }

  #close(): void {
    this.#isClosed = true
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    this.#notify()
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = null
  }
}
