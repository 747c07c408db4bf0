/**
 * One continuation: a prompt, the tokens made so far, and where it stands.
 *
 *   waiting ──slot──▶ running ──▶ finished
 *      │ ◀──preempted──┘              │
 *      └──────────abort / end─────────┘
 *
 * Owned by the scheduler; nothing else changes it. Counts are derived, never stored twice.
 */
import { InvariantError } from '../core/errors.ts'
import type { EndRules, QueuePlace, Sampling } from '../protocol/engine.ts'
import type { EngineEvent, SequenceEndEvent } from '../protocol/engine-events.ts'
import type { Drafter } from './drafts/drafter.ts'
import { TextAssembler } from './text-assembler.ts'
import { TextLogprobs } from './text-logprobs.ts'

/** An event of a sequence, which is named by its request's `reqId`: one start, deltas, one end. */
export type SchedulerEvent = WithReqId<
  Exclude<EngineEvent, SequenceEndEvent> | Omit<SequenceEndEvent, 'error'>
>

type WithReqId<Event> = Event extends unknown ? Omit<Event, 'index'> & { readonly reqId: number } : never

type SequenceStatus = 'waiting' | 'running' | 'finished'

/** What a caller asks of the scheduler (interface: a scheduled request has ids, req_id and max_new_tokens). */
export interface ScheduledRequest {
  /** Prompt token ids; an Int32Array is kept, not copied. */
  readonly ids: ArrayLike<number>
  /** Names the sequence, here and in events; unique among those the scheduler holds. The interface calls it so. */
  readonly reqId: number
  readonly maxNewTokens: number
  /** @default greedy */
  readonly sampling?: Sampling
  readonly stopStrings?: readonly string[]
  /** Once one of these has come, no stop string ends it. @default none */
  readonly unstoppableAfter?: readonly string[]
  /** @default the model's end tokens end it, from the first token on */
  readonly endRules?: EndRules
  /** Its text comes with the log probabilities of its tokens, unless it is a beam search. @default without */
  readonly topLogprobs?: number
  /** Of the constraint that its text keeps to. @default none */
  readonly matcherId?: number
  /** Control tokens whose bytes are part of its text, unless it is a beam search. @default none */
  readonly shownTokens?: ReadonlyMap<number, Uint8Array>
  /** Above 1 a beam search. @default 1 */
  readonly numBeams?: number
  /** What it is computed with. @default none */
  readonly adapterId?: number
  /** @default the lowest class, priority 0, one account for all */
  readonly place?: QueuePlace
}

/** Whose keys and values a KV cache holds: what decides, beside the tokens, who else may use them. */
export interface PrefixOwner {
  readonly accountId: string
  /** Null for the model's own weights. */
  readonly adapterId: number | null
}

export const GREEDY: Sampling = { temperature: 0, topK: 0, topP: 1, repetitionPenalty: 1, seed: null }

const DEFAULT_PLACE: QueuePlace = { priorityClass: 0, priority: 0, accountId: '' }

export class Sequence {
  /** The `reqId` of its request and of its events. */
  readonly sequenceId: number
  readonly promptTokenIds: Int32Array
  readonly maxNewTokens: number
  readonly sampling: Sampling
  readonly stopStrings: readonly string[]
  readonly unstoppableAfter: readonly string[]
  readonly endRules: EndRules | null
  readonly matcherId: number | null
  readonly numBeams: number
  readonly adapterId: number | null
  readonly place: QueuePlace
  readonly arrivalMs: number
  /** Position among all arrivals; breaks every tie. */
  readonly arrivalOrder: number
  readonly assembler: TextAssembler
  /** Null where there are none. */
  readonly shownTokens: ReadonlyMap<number, Uint8Array> | null
  readonly topLogprobs: number | null
  /** Null where none were asked for. */
  readonly logprobs: TextLogprobs | null
  status: SequenceStatus = 'waiting'
  /** What is computed before the next token can be sampled: the prompt, and behind it the text of one that was preempted. */
  prefillTokenIds: Int32Array
  /** How often it has lost its slot. */
  preemptions = 0
  /** Those of its tokens that were settled with the queue when it lost its slot. */
  settledTokens = 0
  /** Set while running. */
  slotId: number | null = null
  newTokens = 0
  /** The last one of its text; null while what comes before the next one is not computed. */
  lastTokenId: number | null = null
  /** The stop string that has ended it. */
  stopString: string | null = null
  /** Tokens whose KV cache is in the slot. */
  computedTokens = 0
  /** Those of the prompt that were there when it started first. */
  cachedTokens = 0
  /** Those of these that came from host memory. */
  restoredTokens = 0
  /** Null before there was room for a first draft. */
  drafter: Drafter | null = null
  /** Tokens that were guessed, and those of them that were right. */
  draftedTokens = 0
  acceptedTokens = 0

  constructor(request: ScheduledRequest, arrival: { readonly ms: number; readonly order: number }) {
    this.sequenceId = request.reqId
    this.promptTokenIds = request.ids instanceof Int32Array ? request.ids : Int32Array.from(request.ids)
    this.prefillTokenIds = this.promptTokenIds
    this.maxNewTokens = request.maxNewTokens
    this.sampling = request.sampling ?? GREEDY
    this.place = request.place ?? DEFAULT_PLACE
    this.arrivalMs = arrival.ms
    this.arrivalOrder = arrival.order
    this.stopStrings = request.stopStrings ?? []
    this.unstoppableAfter = request.unstoppableAfter ?? []
    this.endRules = request.endRules ?? null
    this.matcherId = request.matcherId ?? null
    this.numBeams = request.numBeams ?? 1
    this.adapterId = request.adapterId ?? null
    this.assembler = new TextAssembler(this.stopStrings, this.unstoppableAfter)
    this.shownTokens = request.shownTokens ?? null
    this.topLogprobs = request.topLogprobs ?? null
    this.logprobs = this.topLogprobs === null ? null : new TextLogprobs()
  }

  /** Of what it leaves in a KV cache. */
  get owner(): PrefixOwner {
    return { accountId: this.place.accountId, adapterId: this.adapterId }
  }

  get promptTokens(): number {
    return this.promptTokenIds.length
  }

  get totalTokens(): number {
    return this.promptTokens + this.newTokens
  }

  /** Tokens computed or sampled since it started; what is computed again after a preemption does not count. */
  get usedTokens(): number {
    const prompt = this.newTokens > 0 ? this.promptTokens : this.computedTokens
    return Math.max(0, prompt - this.cachedTokens) + this.newTokens
  }

  get isPrefilling(): boolean {
    return this.lastTokenId === null
  }

  /** Tokens that it computes before the next one can be sampled. */
  get missingTokens(): number {
    return this.isPrefilling ? this.prefillTokenIds.length - this.computedTokens : 1
  }

  /** Back to the queue: its text so far comes behind its prompt. @param computedTokenIds what its slot holds */
  preempt(computedTokenIds: readonly number[]): void {
    if (this.lastTokenId !== null)
      this.prefillTokenIds = Int32Array.from([...computedTokenIds, this.lastTokenId])
    this.status = 'waiting'
    this.slotId = null
    this.lastTokenId = null
    this.computedTokens = 0
    this.preemptions++
  }

  /** Tokens used since this was asked last, for the queue's account. */
  takeUsedTokens(): number {
    const used = this.usedTokens - this.settledTokens
    this.settledTokens += used
    return used
  }

  /** A seeded sequence repeats itself only if its prompt is always cut at the same places (decisions, section 4). */
  get needsFixedChunks(): boolean {
    return this.sampling.seed !== null
  }

  /** The event of its start. */
  startEvent(nowMs: number): SchedulerEvent {
    const { sequenceId: reqId, promptTokens, computedTokens: cachedTokens, restoredTokens } = this
    const queueMs = nowMs - this.arrivalMs
    const restored = restoredTokens > 0 ? { restoredTokens } : {}
    return { type: 'sequence-start', reqId, promptTokens, cachedTokens, ...restored, queueMs }
  }
}

/** @throws InvariantError unless a rule holds. */
export function checkRule(holds: boolean, rule: string): void {
  if (!holds) throw new InvariantError(rule)
}
