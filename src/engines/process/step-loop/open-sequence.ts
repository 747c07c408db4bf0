/** A sequence of a request that is open in the step loop, and its events as the request's client sees them. */
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { SchedulerEvent } from '../../../scheduler/continuous-batch-scheduler.ts'

export interface OpenSequence {
  readonly index: number
  /** Of its constraint; absent where it has none. */
  readonly matcherId?: number
  /** Absent where it has none. */
  readonly adapterId?: number
}

export function toEngineEvent(event: SchedulerEvent, { index }: OpenSequence): EngineEvent {
  switch (event.type) {
    case 'sequence-start': {
      const { promptTokens, cachedTokens, restoredTokens, queueMs } = event
      const restored = restoredTokens === undefined ? {} : { restoredTokens }
      return { type: 'sequence-start', index, promptTokens, cachedTokens, ...restored, queueMs }
    }
    case 'text-delta': {
      const { text, tokenIds, logprobs } = event
      return { type: 'text-delta', index, text, tokenIds, ...(logprobs && { logprobs }) }
    }
    case 'sequence-end': {
      const { finishReason, stopString, drafts } = event
      return {
        type: 'sequence-end',
        index,
        finishReason,
        // Of a sequence that runs, nothing but its constraint can fail alone.
        error: finishReason === 'error' ? { code: 'constraint_lost', params: {} } : null,
        ...(stopString !== undefined && { stopString }),
        ...(drafts && { drafts }),
      }
    }
  }
}
