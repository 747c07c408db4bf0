/**
 * The shared state of a service with one HTTP process: everything in its memory, so each decision is atomic within one
 * turn of the event loop and answered at once. All of it is bounded, and lost when the process ends.
 */
import type { Clock } from '../../core/clock.ts'
import type { SharedState } from '../../core/shared-state.ts'
import { MemoryAttemptLimits } from './attempt-limits.ts'
import { MemoryBans } from './bans.ts'
import { type KnockSequence, MemoryKnocks, NO_SEQUENCE } from './knocks.ts'
import { MemoryRequestLimits } from './request-limits.ts'

export class MemoryState implements SharedState {
  readonly requests: MemoryRequestLimits
  readonly attempts: MemoryAttemptLimits
  readonly bans: MemoryBans
  readonly knocks: MemoryKnocks

  constructor(clock: Clock, knockSequence: KnockSequence | null = null) {
    this.requests = new MemoryRequestLimits(clock)
    this.attempts = new MemoryAttemptLimits(clock)
    this.bans = new MemoryBans(clock)
    this.knocks = new MemoryKnocks(knockSequence ?? NO_SEQUENCE, clock)
  }
}
