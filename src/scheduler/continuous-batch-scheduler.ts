/**
 * Decides what each step computes. Pure: no I/O, no model, the clock is passed in. The step loop calls
 *
 *   plan() → runner.execute(plan) → update(output) → events
 *
 * and nothing in between except `add` and `abort`. A plan holds one decode token for each running sequence and
 * shares the rest of the step's token budget out as prefill chunks, so a long prompt never stalls the streams that
 * run. Every slot owns its room in the KV cache, so nothing is ever preempted. Beam searches run beside the slots, in
 * seats of their own (`beam-groups.ts`).
 * Invariant: `checkIntegrity()` after every call.
 */
import { InvariantError, ServiceError } from '../core/errors.ts'
import { systemClock, type Clock } from '../core/clock.ts'
import type { FinishReason } from '../protocol/engine.ts'
import type { BeamRoom, SlotRun, SlotStart, StepOutput, StepPlan } from '../protocol/model-runner.ts'
import { BeamGroups } from './beam-groups.ts'
import type { SchedulerEvent } from './scheduler-event.ts'
import { Sequence, type ScheduledRequest } from './sequence.ts'
import { SlotTable, type Slot } from './slot-table.ts'
import type { SchedulePolicy } from '../core/schedule-policy.ts'
import { WaitingQueue } from './waiting-queue.ts'

export type { SchedulerEvent } from './scheduler-event.ts'

/** Prefill tokens in a step that also decodes: bounds the gap between two tokens of the running streams. */
const PREFILL_CHUNK_TOKENS = 128
const DEFAULT_STEP_TOKEN_BUDGET = 512

/** Tokens a step must have room for, so that a full batch of decodes never starves a prefill. */
export function minStepTokenBudget(maxBatchSize: number): number {
  return Math.max(DEFAULT_STEP_TOKEN_BUDGET, maxBatchSize + PREFILL_CHUNK_TOKENS)
}
const DEFAULT_MAX_QUEUE = 512

export interface SchedulerOptions {
  /** Sequences that run at once. */
  readonly maxBatchSize: number
  /** Tokens a sequence may reach, prompt included; null is no limit. */
  readonly maxSeqLen: number | null
  readonly schedulePolicy: SchedulePolicy
  /** Sequences that may wait for a slot. @default 512 */
  readonly maxQueue?: number
  /** Tokens one step may compute. @default `minStepTokenBudget(maxBatchSize)`, which is also the least */
  readonly stepTokenBudget?: number
  /** Whether a slot's KV cache can be cut at any token. @default true */
  readonly canReusePrefixes?: boolean
  /** Whether a prefix can be copied between slots. @default false */
  readonly canCopySlots?: boolean
  /** Room for beam searches; without it a request's beams change nothing. @default null */
  readonly beamRoom?: BeamRoom | null
  readonly isEndOfGeneration?: (tokenId: number) => boolean
  /** Bytes a token stands for. Without it events carry no text. */
  readonly tokenBytes?: (tokenId: number) => Uint8Array
  readonly clock?: Clock
}

export interface SequenceSize {
  readonly promptTokens: number
  readonly maxNewTokens: number
  /** @default 1 */
  readonly numBeams?: number
}

const NO_BYTES = new Uint8Array(0)

export class ContinuousBatchScheduler {
  readonly #options: Required<Omit<SchedulerOptions, 'clock'>>
  readonly #clock: Clock
  readonly #waiting: WaitingQueue
  readonly #slots: SlotTable
  /** Null where beams change nothing. */
  readonly #beams: BeamGroups | null
  /** Every sequence that waits or runs, by request id. */
  readonly #sequences = new Map<number, Sequence>()
  /** Running sequences, the longest-running first. */
  #running: Sequence[] = []
  #planned: { readonly sequence: Sequence; readonly run: SlotRun }[] | null = null
  #events: SchedulerEvent[] = []
  #arrivals = 0

  constructor(options: SchedulerOptions) {
    this.#options = {
      maxQueue: DEFAULT_MAX_QUEUE,
      stepTokenBudget: minStepTokenBudget(options.maxBatchSize),
      canReusePrefixes: true,
      canCopySlots: false,
      beamRoom: null,
      isEndOfGeneration: () => false,
      tokenBytes: () => NO_BYTES,
      ...options,
    }
    if (this.#options.stepTokenBudget < options.maxBatchSize + PREFILL_CHUNK_TOKENS) {
      throw new RangeError(
        `stepTokenBudget must be at least maxBatchSize + ${PREFILL_CHUNK_TOKENS}, but was ${this.#options.stepTokenBudget}`,
      )
    }
    this.#clock = options.clock ?? systemClock
    this.#waiting = new WaitingQueue(options.schedulePolicy)
    this.#slots = new SlotTable({
      slots: options.maxBatchSize,
      canReusePrefixes: this.#options.canReusePrefixes,
      canCopySlots: this.#options.canCopySlots,
    })
    this.#beams = this.#createBeamGroups()
  }

  get waitingCount(): number {
    return this.#waiting.size + (this.#beams?.waitingCount ?? 0)
  }

  /** Sequences that run; a beam search is one. */
  get runningCount(): number {
    return this.#running.length + (this.#beams?.runningCount ?? 0)
  }

  get hasWork(): boolean {
    return this.#sequences.size > 0
  }

  /** Whether such a sequence could ever run. @throws ServiceError `prompt_too_long` or `beams_too_large`. */
  check({ promptTokens, maxNewTokens, numBeams = 1 }: SequenceSize): void {
    const max = this.#options.maxSeqLen
    if (max !== null && promptTokens > max) {
      throw new ServiceError('prompt_too_long', { given: promptTokens, max }, { param: 'prompt' })
    }
    this.#beamGroupsOf({ numBeams })?.check({ promptTokens, maxNewTokens, numBeams })
  }

  /** @throws ServiceError `queue_full`. */
  add(request: ScheduledRequest): void {
    this.addBlock([request])
  }

  /**
   * Queues requests with one arrival time, all or none. A block larger than the queue is taken when nothing waits.
   * @throws ServiceError `queue_full`.
   */
  addBlock(requests: readonly ScheduledRequest[]): void {
    if (requests.length === 0) return
    for (const request of requests) this.#checkRequest(request)
    const free = this.#freePlaces(requests)
    const room = free + this.#options.maxQueue - this.waitingCount
    const isQueueEmpty = this.waitingCount <= free
    const isBlock = requests.length > 1
    if (requests.length > room && !(isBlock && isQueueEmpty)) this.#refuse(requests.length)
    const ms = this.#clock.nowMs()
    for (const request of requests) {
      const sequence = new Sequence(request, { ms, order: this.#arrivals++ })
      this.#sequences.set(sequence.reqId, sequence)
      const groups = this.#beamGroupsOf(sequence)
      if (groups === null) this.#waiting.add(sequence)
      else groups.add(sequence)
    }
  }

  /** Drops a sequence in whatever state it is; no further event comes for it. False when it is not held. */
  abort(reqId: number): boolean {
    const sequence = this.#sequences.get(reqId)
    if (sequence === undefined) return false
    this.#events = this.#events.filter((event) => event.reqId !== reqId)
    this.#leave(sequence)
    return true
  }

  /** The next step, or null when there is nothing to do. */
  plan(): StepPlan | null {
    if (this.#planned !== null) throw new InvariantError('plan() was called twice without update()')
    const starts = this.#fillSlots()
    const beams = this.#beams?.plan((sequence) => this.#end(sequence, 'length')) ?? null
    if (this.#running.length === 0 && beams === null) return null
    this.#planned = this.#planRuns()
    return { starts, runs: this.#planned.map(({ run }) => run), ...(beams !== null && { beams }) }
  }

  /** Applies what the runner computed for the last plan and returns all events since the last call. */
  update(output: StepOutput): SchedulerEvent[] {
    if (this.#planned === null) throw new InvariantError('update() was called without plan()')
    let outputIndex = 0
    for (const { sequence, run } of this.#planned) {
      const tokenId = run.wantsToken ? output.tokenIds[outputIndex++] : undefined
      // Aborted while the step was computed.
      if (sequence.slotId === null) continue
      this.#recordComputed(sequence, run)
      if (tokenId === null) this.#endText(sequence)
      else if (tokenId !== undefined) this.#takeToken(sequence, tokenId)
    }
    this.#planned = null
    this.#beams?.update(output.beamChoices ?? [], (sequence, reason) => this.#end(sequence, reason))
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
    const seated = this.#slots.slots.filter(({ sequence }) => sequence !== null)
    const check = (isTrue: boolean, rule: string): void => {
      if (!isTrue) throw new InvariantError(rule)
    }
    check(seated.length + this.#slots.free === this.#options.maxBatchSize, 'slots + free = total')
    check(seated.length === this.#running.length, 'each running sequence has one slot')
    check(this.runningCount + this.waitingCount === this.#sequences.size, 'waiting + running = all')
    this.#beams?.checkIntegrity()
    for (const sequence of this.#beams ?? []) {
      check(this.#sequences.get(sequence.reqId) === sequence, 'a group is known')
      check(sequence.slotId === null, 'a group has no slot')
    }
    for (const sequence of this.#waiting) {
      check(sequence.status === 'waiting' && sequence.slotId === null, 'a waiting sequence has no slot')
      check(this.#sequences.get(sequence.reqId) === sequence, 'a waiting sequence is known')
    }
    for (const sequence of this.#running) {
      const slot = this.#slotOf(sequence)
      check(sequence.status === 'running' && slot.sequence === sequence, 'slot and sequence agree')
      const cachedTokens = this.#options.canReusePrefixes
        ? slot.cachedTokenIds.length
        : sequence.computedTokens
      check(sequence.computedTokens === cachedTokens, 'the cache holds the computed tokens')
      check(sequence.computedTokens <= sequence.totalTokens, 'no token is computed before it is known')
      check(sequence.newTokens < sequence.maxNewTokens, 'a full sequence has ended')
    }
    const runTokens = (this.#planned ?? []).reduce((sum, { run }) => sum + run.tokenIds.length, 0)
    check(runTokens <= this.#options.stepTokenBudget, 'a plan keeps to its token budget')
  }

  #refuse(given: number): never {
    const params = { waiting: this.#waiting.size, max: this.#options.maxQueue, given }
    throw new ServiceError('queue_full', params, { retryAfterSeconds: 1 })
  }

  #checkRequest(request: ScheduledRequest): void {
    if (this.#sequences.has(request.reqId)) throw new InvariantError(`reqId ${request.reqId} is in use`)
    this.check({ ...request, promptTokens: request.ids.length })
  }

  #createBeamGroups(): BeamGroups | null {
    const { beamRoom, maxSeqLen, schedulePolicy, isEndOfGeneration, tokenBytes } = this.#options
    if (beamRoom === null) return null
    return new BeamGroups({
      room: beamRoom,
      maxSeqLen,
      schedulePolicy,
      isEndOfGeneration,
      tokenBytes,
      clock: this.#clock,
      emit: (event) => this.#events.push(event),
    })
  }

  /** Where a request of that many beams runs: null for the slots. */
  #beamGroupsOf({ numBeams }: { numBeams: number }): BeamGroups | null {
    return numBeams > 1 ? this.#beams : null
  }

  /** How many of these requests could run at once; a block is all beam searches or none. */
  #freePlaces([first]: readonly ScheduledRequest[]): number {
    const numBeams = first?.numBeams ?? 1
    return this.#beamGroupsOf({ numBeams })?.freeGroups(numBeams) ?? this.#slots.free
  }

  #fillSlots(): SlotStart[] {
    const starts: SlotStart[] = []
    while (this.#slots.free > 0) {
      const sequence = this.#waiting.next(this.#clock.nowMs())
      if (sequence === null) break
      // A prompt that fills the context leaves room for no token, so it needs no slot.
      if (sequence.promptTokens === this.#options.maxSeqLen) {
        this.#announceStart(sequence)
        this.#end(sequence, 'length')
      } else starts.push(this.#start(sequence))
    }
    return starts
  }

  #start(sequence: Sequence): SlotStart {
    const choice = this.#slots.acquire(sequence)
    if (choice === null) throw new InvariantError('a free slot could not be taken')
    const { slot, cachedTokens, copyFrom } = choice
    sequence.status = 'running'
    sequence.slotId = slot.slotId
    sequence.computedTokens = cachedTokens
    this.#running.push(sequence)
    this.#announceStart(sequence)
    return {
      slotId: slot.slotId,
      promptTokenIds: sequence.promptTokenIds,
      sampling: sequence.sampling,
      cachedTokens,
      copyFromSlotId: copyFrom?.slotId ?? null,
    }
  }

  #announceStart({ reqId, promptTokens, computedTokens, arrivalMs }: Sequence): void {
    const queueMs = this.#clock.nowMs() - arrivalMs
    this.#events.push({ type: 'sequence-start', reqId, promptTokens, cachedTokens: computedTokens, queueMs })
  }

  #planRuns(): { sequence: Sequence; run: SlotRun }[] {
    const decodes = this.#running.filter((sequence) => !sequence.isPrefilling)
    const planned = decodes.map((sequence) => ({ sequence, run: decodeRun(sequence) }))
    let budget = this.#options.stepTokenBudget - planned.length
    if (planned.length > 0) budget = Math.min(budget, PREFILL_CHUNK_TOKENS)
    for (const sequence of this.#running) {
      if (!sequence.isPrefilling) continue
      const left = sequence.promptTokens - sequence.computedTokens
      const wanted = sequence.needsFixedChunks ? Math.min(left, PREFILL_CHUNK_TOKENS) : left
      // A fixed chunk is never cut; those behind it wait, or it might never find room. An empty prompt needs none.
      if (wanted > 0 && (budget === 0 || (sequence.needsFixedChunks && wanted > budget))) break
      const tokens = Math.min(wanted, budget)
      planned.push({ sequence, run: prefillRun(sequence, tokens) })
      budget -= tokens
    }
    return planned
  }

  #recordComputed(sequence: Sequence, run: SlotRun): void {
    this.#slots.recordComputed(this.#slotOf(sequence), run.tokenIds)
    sequence.computedTokens += run.tokenIds.length
  }

  #takeToken(sequence: Sequence, tokenId: number): void {
    sequence.newTokens++
    sequence.lastTokenId = tokenId
    const { text, finishReason } = this.#read(sequence, tokenId)
    const rest = finishReason === null || finishReason === 'stop-string' ? '' : sequence.assembler.flush()
    this.#events.push({ type: 'text-delta', reqId: sequence.reqId, text: text + rest, tokenIds: [tokenId] })
    if (finishReason !== null) this.#end(sequence, finishReason === 'length' ? 'length' : 'stop')
  }

  /** The runner has nothing more to say and made no token of that. */
  #endText(sequence: Sequence): void {
    const text = sequence.assembler.flush()
    if (text !== '') this.#events.push({ type: 'text-delta', reqId: sequence.reqId, text, tokenIds: [] })
    this.#end(sequence, 'stop')
  }

  #read(
    sequence: Sequence,
    tokenId: number,
  ): { text: string; finishReason: 'stop' | 'stop-string' | 'length' | null } {
    if (this.#options.isEndOfGeneration(tokenId)) return { text: '', finishReason: 'stop' }
    const { text, isMatched } = sequence.assembler.push(this.#options.tokenBytes(tokenId))
    if (isMatched) return { text, finishReason: 'stop-string' }
    const isFull =
      sequence.newTokens >= sequence.maxNewTokens ||
      (this.#options.maxSeqLen !== null && sequence.totalTokens >= this.#options.maxSeqLen)
    return { text, finishReason: isFull ? 'length' : null }
  }

  #end(sequence: Sequence, finishReason: FinishReason): void {
    this.#events.push({ type: 'sequence-end', reqId: sequence.reqId, finishReason })
    this.#leave(sequence)
  }

  #leave(sequence: Sequence): void {
    const groups = this.#beamGroupsOf(sequence)
    if (groups !== null) groups.remove(sequence)
    else if (sequence.status === 'waiting') this.#waiting.remove(sequence)
    else if (sequence.status === 'running') {
      this.#slots.release(this.#slotOf(sequence))
      this.#running = this.#running.filter((other) => other !== sequence)
    }
    sequence.status = 'finished'
    sequence.slotId = null
    this.#sequences.delete(sequence.reqId)
  }

  #slotOf(sequence: Sequence): Slot {
    const slot = sequence.slotId === null ? undefined : this.#slots.slots[sequence.slotId]
    if (slot === undefined) throw new InvariantError(`sequence ${sequence.reqId} has no slot`)
    return slot
  }
}

function decodeRun(sequence: Sequence): SlotRun {
  const { slotId, lastTokenId, computedTokens } = sequence
  if (slotId === null || lastTokenId === null) throw new InvariantError('a decode needs a slot and a token')
  return { slotId, position: computedTokens, tokenIds: [lastTokenId], wantsToken: true }
}

function prefillRun(sequence: Sequence, tokens: number): SlotRun {
  const { slotId, promptTokenIds, computedTokens } = sequence
  if (slotId === null) throw new InvariantError('a prefill needs a slot')
  const tokenIds = promptTokenIds.subarray(computedTokens, computedTokens + tokens)
  const wantsToken = computedTokens + tokens === promptTokenIds.length
  return { slotId, position: computedTokens, tokenIds, wantsToken }
}
