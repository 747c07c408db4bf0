/**
 * Decides what each step computes. Pure: no I/O, no model, the clock is passed in. The step loop calls
 *
 *   plan() → runner.execute(plan) → update(output) → events
 *
 * and nothing in between except `add` and `abort`. A plan holds one decode token for each running sequence and
 * shares the rest of the step's token budget out as prefill chunks, so a long prompt never stalls the streams that
 * run (`running-batch.ts`). Beam searches run beside the slots, in seats of their own (`beam-groups.ts`). It holds the waiting
 * sequences and the events not yet taken; the caller bounds how many may wait.
 * Invariant: `checkIntegrity()` after every call.
 */
import { InvariantError, ServiceError } from '../core/errors.ts'
import { systemClock, type Clock } from '../core/clock.ts'
import type { FinishReason } from '../protocol/engine-events.ts'
import type { HeldPrefix, StepOutput, StepPlan } from '../protocol/model-runner.ts'
import { BeamGroups } from './beams/beam-groups.ts'
import { RunningBatch } from './running-batch.ts'
import type { SchedulerOptions, SequenceSize } from './scheduler-options.ts'
import { checkRule, Sequence, type ScheduledRequest, type SchedulerEvent } from './sequence.ts'
import { FIXED_CHUNK_TOKENS, minStepTokenBudget } from './slots/slot-runs.ts'
import { SCHEDULE_POLICIES } from '../core/choices/schedule-policy.ts'

export type { SchedulerOptions } from './scheduler-options.ts'
export type { SchedulerEvent } from './sequence.ts'

const NO_BYTES = new Uint8Array(0)
/** One step in so many prefers the longest-running prompt, so that prompts of a higher tier cannot starve it. */
const STEPS_PER_OLDEST_PROMPT = 16

export class ContinuousBatchScheduler {
  readonly #options: Required<Omit<SchedulerOptions, 'clock'>>
  readonly #clock: Clock
  readonly #batch: RunningBatch
  /** Null where beams change nothing. */
  readonly #beams: BeamGroups | null
  /** Every sequence that waits or runs, by its `reqId`. */
  readonly #sequences = new Map<number, Sequence>()
  #isPlanned = false
  #steps = 0
  #events: SchedulerEvent[] = []
  #arrivals = 0

  /** @throws RangeError for an option outside its range. */
  constructor(options: SchedulerOptions) {
    checkOptions(options)
    this.#options = {
      stepTokenBudget: minStepTokenBudget(options.maxBatchSize),
      canReusePrefixes: true,
      canContinueSlots: false,
      canCopySlots: false,
      sharedTokens: null,
      hostRoom: null,
      prefixCacheScope: 'shared',
      maxDraftTokens: 0,
      draftRoom: null,
      beamRoom: null,
      isEndOfGeneration: () => false,
      tokenBytes: () => NO_BYTES,
      isMatcherReady: () => true,
      ...options,
    }
    if (this.#options.stepTokenBudget < options.maxBatchSize + FIXED_CHUNK_TOKENS) {
      throw new RangeError(
        `stepTokenBudget must be at least maxBatchSize + ${FIXED_CHUNK_TOKENS}, but was ${this.#options.stepTokenBudget}`,
      )
    }
    this.#clock = options.clock ?? systemClock
    const { beamRoom: room } = this.#options
    const shared = {
      ...this.#options,
      clock: this.#clock,
      prefersHigherTiers: () =>
        this.#options.schedulePolicy === 'priority' && this.#steps % STEPS_PER_OLDEST_PROMPT !== 0,
      emit: (event: SchedulerEvent) => void this.#events.push(event),
      onEnd: (sequence: Sequence, reason: FinishReason) => this.#end(sequence, reason),
    }
    this.#batch = new RunningBatch(shared)
    this.#beams = room === null ? null : new BeamGroups({ ...shared, room })
  }

  get waitingCount(): number {
    return this.#batch.waitingCount + (this.#beams?.waitingCount ?? 0)
  }

  /** Sequences that run; a beam search is one. */
  get runningCount(): number {
    return this.#batch.runningCount + (this.#beams?.runningCount ?? 0)
  }

  /** Bytes that finished sequences hold in host memory. */
  get hostBytes(): number {
    return this.#batch.hostBytes
  }

  /** What is held of sequences that have ended, the most recently used first; not between `plan` and `update`. */
  held(): readonly HeldPrefix[] {
    return this.#batch.held()
  }

  /** How often a sequence has lost its slot to others. */
  get preemptions(): number {
    return this.#batch.preemptions
  }

  get hasWork(): boolean {
    return this.#sequences.size > 0
  }

  /** Whether such a sequence could ever run. @throws ServiceError `context_length_exceeded` or `beams_too_large`. */
  check({ promptTokens, maxNewTokens, numBeams = 1 }: SequenceSize): void {
    const max = this.#options.maxSeqLen
    if (max !== null && promptTokens > max) {
      throw new ServiceError('context_length_exceeded', { given: promptTokens, max }, { param: 'prompt' })
    }
    this.#beamGroupsOf({ numBeams })?.check({ promptTokens, maxNewTokens, numBeams })
  }

  /** @throws ServiceError `context_length_exceeded`, `beams_too_large`; RangeError for a number that is none. */
  add(request: ScheduledRequest): void {
    this.addBlock([request])
  }

  /**
   * Queues requests with one arrival time, all or none. The caller bounds how many may wait.
   * @param arrivalMs when they came, where that was before they could be queued
   * @throws as `add`.
   */
  addBlock(requests: readonly ScheduledRequest[], arrivalMs = this.#clock.nowMs()): void {
    if (requests.length === 0) return
    const own = new Set<number>()
    for (const request of requests) {
      const { reqId } = request
      if (this.#sequences.has(reqId) || own.has(reqId)) throw new InvariantError(`reqId ${reqId} is in use`)
      own.add(reqId)
      this.#checkRequest(request)
    }
    for (const request of requests) {
      const sequence = new Sequence(request, { ms: arrivalMs, order: this.#arrivals++ })
      this.#sequences.set(sequence.sequenceId, sequence)
      this.#partOf(sequence).add(sequence)
    }
  }

  /** Drops a sequence in whatever state it is; no further event comes for it. False when it is not held. */
  abort(sequenceId: number): boolean {
    const sequence = this.#sequences.get(sequenceId)
    if (sequence === undefined) return false
    this.#events = this.#events.filter((event) => event.reqId !== sequenceId)
    this.#leave(sequence)
    return true
  }

  /** The next step, or null when there is nothing to do. */
  plan(): StepPlan | null {
    if (this.#isPlanned) throw new InvariantError('plan() was called twice without update()')
    this.#steps++
    const batch = this.#batch.plan()
    const beams = this.#beams?.plan() ?? null
    if (this.#batch.runningCount === 0 && beams === null) return null
    this.#isPlanned = true
    return { ...batch, ...(beams !== null && { beams }) }
  }

  /** Applies what the runner computed for the last plan and returns all events since the last call. */
  update(output: StepOutput): SchedulerEvent[] {
    if (!this.#isPlanned) throw new InvariantError('update() was called without plan()')
    this.#batch.update(output)
    this.#isPlanned = false
    this.#beams?.update(output.beamChoices ?? [])
    return this.takeEvents()
  }

  /** Events that need no step: those of sequences that have just been given a slot. */
  takeEvents(): SchedulerEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }

  /** @throws InvariantError when the books do not agree. For tests, after every call. */
  checkIntegrity(): void {
    checkRule(this.runningCount + this.waitingCount === this.#sequences.size, 'waiting + running = all')
    this.#batch.checkIntegrity()
    this.#beams?.checkIntegrity()
    for (const sequence of this.#beams ?? []) checkRule(sequence.slotId === null, 'a group has no slot')
    for (const sequence of [...this.#batch, ...(this.#beams ?? [])]) {
      checkRule(this.#sequences.get(sequence.sequenceId) === sequence, 'what waits or runs is known')
    }
  }

  #checkRequest(request: ScheduledRequest): void {
    checkCount('maxNewTokens', request.maxNewTokens)
    checkCount('numBeams', request.numBeams ?? 1)
    this.check({ ...request, promptTokens: request.ids.length })
  }

  /** Where a request of that many beams runs: null for the slots. */
  #beamGroupsOf({ numBeams }: { numBeams: number }): BeamGroups | null {
    return numBeams > 1 ? this.#beams : null
  }

  #partOf(sequence: Sequence): RunningBatch | BeamGroups {
    return this.#beamGroupsOf(sequence) ?? this.#batch
  }

  #end(sequence: Sequence, finishReason: FinishReason): void {
    const { sequenceId: reqId, stopString, draftedTokens, acceptedTokens } = sequence
    this.#events.push({
      type: 'sequence-end',
      reqId,
      finishReason,
      ...(stopString !== null && { stopString }),
      ...(draftedTokens > 0 && { drafts: { draftedTokens, acceptedTokens } }),
    })
    this.#leave(sequence)
  }

  #leave(sequence: Sequence): void {
    this.#partOf(sequence).remove(sequence)
    sequence.status = 'finished'
    sequence.slotId = null
    this.#sequences.delete(sequence.sequenceId)
  }
}

function checkOptions(options: SchedulerOptions): void {
  const { maxBatchSize, maxSeqLen, schedulePolicy, sharedTokens = null } = options
  checkCount('maxBatchSize', maxBatchSize)
  if (maxSeqLen !== null) checkCount('maxSeqLen', maxSeqLen)
  if (sharedTokens !== null && (maxSeqLen === null || sharedTokens < maxSeqLen))
    throw new RangeError(`sharedTokens must be at least maxSeqLen (${maxSeqLen}), but was ${sharedTokens}`)
  if (!SCHEDULE_POLICIES.includes(schedulePolicy)) {
    throw new RangeError(
      `schedulePolicy must be one of ${SCHEDULE_POLICIES.join(', ')}, but was '${schedulePolicy}'`,
    )
  }
}

function checkCount(name: string, given: number): void {
  if (Number.isInteger(given) && given >= 1) return
  throw new RangeError(`${name} must be a whole number of at least 1, but was ${given}`)
}
