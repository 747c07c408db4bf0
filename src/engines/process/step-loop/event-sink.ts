/** One request as its loop and its caller see each other: where its events go, and the caller's hold on it. Types only. */
import type { ServiceError } from '../../../core/errors.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'

/** Where one request's events go. */
export interface EventSink<Event = EngineEvent> {
  /** Called with all events of one step at once. */
  deliver(events: readonly Event[]): void
  /** The request as a whole has failed; nothing follows. */
  fail(error: ServiceError): void
  /** All its sequences have ended, or it was aborted, and no work for it is left; nothing follows. */
  end(): void
}

/** The caller's hold on a request. Aborting it is harmless once it has ended. */
export interface RequestHandle {
  abort(): void
}
