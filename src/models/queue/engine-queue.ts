/**
 * The waiting queue as one engine sees it: its lines, and the tiers that it must keep slots for. Who owns the counts may be in
 * another process, which then has the counts of all of them.
 */
import type { Answer } from '../../core/shared-state.ts'
import type { Engine } from '../../protocol/engine.ts'
import type { QueueLimit } from './queue-limit.ts'
import { QueueLine, type QueuedRequest } from './queue-line.ts'

/** Sequences that share what they run in. */
export interface SequenceLine {
  /** @throws ServiceError `queue_full`, `queue_share_full`; nothing has entered then. */
  enter(count: number, request: QueuedRequest): Answer<void>
  /** One-way. A sequence that had entered runs now. */
  begin(request: QueuedRequest): void
  /** One-way. Sequences leave that have not begun. */
  leave(count: number, request: QueuedRequest): void
  /** One-way. Sequences have ended that ran. */
  end(count: number, request: QueuedRequest): void
}

export interface EngineQueue {
  /** Priority classes that have callers now. */
  readonly servedClasses: readonly number[]
  readonly slots: SequenceLine
  /** Null where beams change nothing. */
  readonly beams: SequenceLine | null
}

/** The queue of an engine whose counts are in this process. */
export function createEngineQueue(engine: Engine, limit: QueueLimit): EngineQueue {
  const { maxBatchSize, maxBeams } = engine.info()
  const { replicas } = engine.status()
  return {
    get servedClasses() {
      return limit.servedClasses
    },
    slots: new QueueLine(limit, maxBatchSize),
    beams: maxBeams === undefined ? null : new QueueLine(limit, maxBeams * (replicas?.all ?? 1)),
  }
}
