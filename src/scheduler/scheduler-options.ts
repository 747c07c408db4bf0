/** The scheduler's options, and those that it passes to its two parts: the running batch and the beam groups. */
import type { Clock } from '../core/clock.ts'
import type { PrefixCacheScope } from '../core/choices/prefix-cache-scope.ts'
import type { SchedulePolicy } from '../core/choices/schedule-policy.ts'
import type { FinishReason } from '../protocol/engine-events.ts'
import type { BeamRoom, DraftRoom, HostRoom } from '../protocol/model-runner.ts'
import type { SchedulerEvent, Sequence } from './sequence.ts'

export interface SchedulerOptions {
  /** Sequences that run at once. */
  readonly maxBatchSize: number
  /** Tokens a sequence may reach, prompt included; null is no limit. */
  readonly maxSeqLen: number | null
  readonly schedulePolicy: SchedulePolicy
  /** Tokens one step may compute. @default `minStepTokenBudget(maxBatchSize)`, which is also the least */
  readonly stepTokenBudget?: number
  /** Whether a slot's KV cache can be cut at any token. @default true */
  readonly canReusePrefixes?: boolean
  /** Whether what a slot holds can be continued whole where it cannot be cut. @default false */
  readonly canContinueSlots?: boolean
  /** Whether a prefix can be copied between slots. @default false */
  readonly canCopySlots?: boolean
  /** Tokens of one KV cache that all slots share, at least `maxSeqLen`; null where each has its own. @default null */
  readonly sharedTokens?: number | null
  /** Host memory for what leaves the slots; needs a KV cache that can be cut. @default null, which keeps none */
  readonly hostRoom?: HostRoom | null
  /** Whose prompts may use what others left in the cache. @default 'shared' */
  readonly prefixCacheScope?: PrefixCacheScope
  /** Most tokens guessed ahead in one step; needs a KV cache that can be cut. @default 0 */
  readonly maxDraftTokens?: number
  /** What a draft model may be asked for; needs a KV cache that can be cut. @default null, which is none */
  readonly draftRoom?: DraftRoom | null
  /** Room for beam searches; without it a request's beams change nothing. @default null */
  readonly beamRoom?: BeamRoom | null
  readonly isEndOfGeneration?: (tokenId: number) => boolean
  /** Bytes a token stands for. Without it events carry no text. */
  readonly tokenBytes?: (tokenId: number) => Uint8Array
  /** Whether a sequence with this matcher may start in this step. @default always */
  readonly isMatcherReady?: (matcherId: number) => boolean
  readonly clock?: Clock
}

export interface PartOptions extends Required<Omit<SchedulerOptions, 'beamRoom'>> {
  readonly emit: (event: SchedulerEvent) => void
  /** Whether prompts of a higher tier are computed first in this step. */
  readonly prefersHigherTiers: () => boolean
  /** Called for each sequence that is done; the scheduler answers with `remove`. */
  readonly onEnd: (sequence: Sequence, finishReason: FinishReason) => void
}

/** What the KV cache of an engine has come to. */
export interface CacheState {
  /** What finished sequences hold in host memory. */
  readonly hostBytes: number
  /** How often a sequence has lost its slot to others. */
  readonly preemptions: number
}

export const NO_CACHE_STATE: CacheState = { hostBytes: 0, preemptions: 0 }

export interface SequenceSize {
  readonly promptTokens: number
  readonly maxNewTokens: number
  /** @default 1 */
  readonly numBeams?: number
}
