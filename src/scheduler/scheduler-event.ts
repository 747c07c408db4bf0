/** What the scheduler tells of its sequences, by request id: one start, deltas, one end. */
import type { DraftCounts, FinishReason } from '../protocol/engine.ts'

export type SchedulerEvent =
  | {
      readonly type: 'sequence-start'
      readonly reqId: number
      readonly promptTokens: number
      readonly cachedTokens: number
      readonly queueMs: number
    }
  | {
      readonly type: 'text-delta'
      readonly reqId: number
      readonly text: string
      readonly tokenIds: readonly number[]
    }
  | {
      readonly type: 'sequence-end'
      readonly reqId: number
      readonly finishReason: FinishReason
      /** Absent where nothing was guessed. */
      readonly drafts?: DraftCounts
    }
