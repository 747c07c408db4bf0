/**
 * The events of one request on their way from the step loop, or from the engine's socket, to the one who iterates.
 * Bounded by what a request may generate; who reads gets all that has come since. When the reader leaves early, or the signal
 * aborts, `onCancel` is called once, no more events follow, and the iteration ends as soon as the engine has: what the caller
 * holds for the request, a permit or a lease, it holds while there is work behind it.
 */
import { abortReason } from '../../../core/concurrency/abort.ts'
import type { ServiceError } from '../../../core/errors.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { EventSink } from './event-sink.ts'

export interface RequestStreamOptions {
  readonly signal: AbortSignal
  readonly onCancel: () => void
}

export class RequestStream<Event = EngineEvent> implements EventSink<Event>, AsyncIterable<readonly Event[]> {
  readonly #options: RequestStreamOptions
  #events: Event[] = []
  #isCancelled = false
  #isClosed = false
  #error: Error | null = null
  #wake: (() => void) | null = null
  readonly #onAbort = (): void => this.#cancel(abortReason(this.#options.signal))

  constructor(options: RequestStreamOptions) {
    this.#options = options
    options.signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  deliver(events: readonly Event[]): void {
    if (this.#isCancelled || this.#isClosed) return
    for (const event of events) this.#events.push(event)
    this.#notify()
  }

  /** Events that were delivered before are still read. */
  fail(error: ServiceError): void {
    if (!this.#isCancelled && !this.#isClosed) this.#error = error
    this.end()
  }

  end(): void {
    this.#isClosed = true
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    this.#notify()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Event[], void, void> {
    try {
      for (;;) {
        const events = this.#events
        this.#events = []
        if (events.length > 0) yield events
        if (this.#events.length > 0) continue
        if (this.#isClosed) break
        await this.#nextCall()
      }
      if (this.#error !== null) throw this.#error
    } finally {
      this.#cancel(null)
      while (!this.#isClosed) await this.#nextCall()
    }
  }

  #nextCall(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #cancel(error: Error | null): void {
    if (this.#isCancelled || this.#isClosed) return
    this.#isCancelled = true
    this.#error = error
    this.#events = []
    this.#options.onCancel()
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = null
  }
}
