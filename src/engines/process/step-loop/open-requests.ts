/**
 * The open requests of a loop, by their sequences: hands each request its events of a step, and ends it with the last of its
 * sequences. Owned by the step loop and by the embedding loop, which schedule the sequences.
 * Invariant: every sink is called a last time, with `end` or `fail`. No other part counts which sequences are open.
 */
import type { ServiceError } from '../../../core/errors.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { EventSink } from './event-sink.ts'

export interface OpenRequest<Key, Open> {
  readonly sink: EventSink
  readonly arrivalMs: number
  /** Drops it before it has sequences; null at other times. */
  drop: (() => void) | null
  /** The sequences that have not ended. */
  readonly open: Map<Key, Open>
}

export interface OpenRequestsOptions<Key, Open, Event> {
  readonly keyOf: (event: Event) => Key
  readonly toEngineEvent: (event: Event, open: Open) => EngineEvent
  /** The sequence has ended by itself. */
  readonly onEnd: (key: Key, open: Open) => void
  /** The sequence must not run, or not go on. */
  readonly onDrop: (key: Key, open: Open) => void
}

/** A sequence of a request that cannot run. */
export interface RefusedSequence {
  readonly index: number
  readonly error: ServiceError
}

export class OpenRequests<Key, Open, Event> {
  readonly #options: OpenRequestsOptions<Key, Open, Event>
  readonly #requests = new Map<Key, OpenRequest<Key, Open>>()

  constructor(options: OpenRequestsOptions<Key, Open, Event>) {
    this.#options = options
  }

  add(request: OpenRequest<Key, Open>, key: Key, open: Open): void {
    request.open.set(key, open)
    this.#requests.set(key, request)
  }

  /** Called when all its sequences that can run have been added. */
  begin({ sink, open }: OpenRequest<Key, Open>, refused: readonly RefusedSequence[]): void {
    if (refused.length > 0) {
      sink.deliver(
        refused.map(({ index, error: { code, params } }) => {
          return { type: 'sequence-end', index, finishReason: 'error', error: { code, params } }
        }),
      )
    }
    if (open.size === 0) sink.end()
  }

  /** Events of sequences that were dropped go nowhere. */
  deliver(events: readonly Event[]): void {
    const { keyOf, toEngineEvent, onEnd } = this.#options
    const byRequest = new Map<OpenRequest<Key, Open>, EngineEvent[]>()
    for (const event of events) {
      const key = keyOf(event)
      const request = this.#requests.get(key)
      const open = request?.open.get(key)
      if (request === undefined || open === undefined) continue
      const own = byRequest.get(request)
      const engineEvent = toEngineEvent(event, open)
      if (own === undefined) byRequest.set(request, [engineEvent])
      else own.push(engineEvent)
      if (engineEvent.type !== 'sequence-end') continue
      onEnd(key, open)
      request.open.delete(key)
      this.#requests.delete(key)
    }
    for (const [{ sink, open }, own] of byRequest) {
      sink.deliver(own)
      if (open.size === 0) sink.end()
    }
  }

  abort(request: OpenRequest<Key, Open>): void {
    if (request.drop !== null) return request.drop()
    if (request.open.size === 0) return
    this.#drop(request)
    request.sink.end()
  }

  /** Of the requests that have sequences. */
  failAll(error: ServiceError): void {
    for (const request of new Set(this.#requests.values())) {
      this.#drop(request)
      request.sink.fail(error)
    }
  }

  #drop({ open }: OpenRequest<Key, Open>): void {
    for (const [key, sequence] of open) {
      this.#options.onDrop(key, sequence)
      this.#requests.delete(key)
    }
    open.clear()
  }
}
