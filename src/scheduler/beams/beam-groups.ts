/**
 * Beam searches beside the running batch: each is a group of beams that share their prompt in the beams' own KV cache.
 * Owned by the scheduler, which adds this part to each plan; groups take seats and room of their own, so that they
 * neither wait for slots nor take any. A group begins when its seats and its longest possible texts fit.
 * Invariant: `checkIntegrity()` after every call.
 */
import { InvariantError, ServiceError } from '../../core/errors.ts'
import type { BeamChoice, BeamPlan, BeamRoom, BeamRun, BeamStart } from '../../protocol/model-runner.ts'
import { BeamGroup } from './beam-group.ts'
import type { PartOptions, SequenceSize } from '../scheduler-options.ts'
import { checkRule, type Sequence } from '../sequence.ts'
import { WaitingQueue } from '../waiting-queue.ts'

type BeamGroupsOptions = PartOptions & { readonly room: BeamRoom }

export class BeamGroups {
  readonly #options: BeamGroupsOptions
  readonly #waiting: WaitingQueue
  #freeSeats: number[]
  /** Seats that still hold what an ended group has left there. */
  #dirtySeats: number[] = []
  /** The longest-running first. */
  #running: BeamGroup[] = []
  #planned: { readonly group: BeamGroup; readonly run: BeamRun }[] = []

  constructor(options: BeamGroupsOptions) {
    this.#options = options
    this.#waiting = new WaitingQueue(options.schedulePolicy)
    this.#freeSeats = Array.from({ length: options.room.seats }, (_, seat) => seat)
  }

  get waitingCount(): number {
    return this.#waiting.size
  }

  get runningCount(): number {
    return this.#running.length
  }

  /** @throws ServiceError `beams_too_large` when a group would not fit even alone. */
  check(size: Required<SequenceSize>): void {
    const { seats, tokens } = this.#options.room
    const { numBeams: beams, promptTokens } = size
    if (beams > seats) throw new RangeError(`numBeams must be at most ${seats}, but was ${beams}`)
    const given = this.#tokensOf(size)
    if (given <= tokens) return
    const newTokens = this.#newTokensOf(size)
    throw new ServiceError(
      'beams_too_large',
      { beams, promptTokens, newTokens, given, max: tokens },
      { param: 'num_beams' },
    )
  }

  add(sequence: Sequence): void {
    this.#waiting.add(sequence)
  }

  /** Forgets a sequence, waiting or running. */
  remove(sequence: Sequence): void {
    if (sequence.status === 'waiting') this.#waiting.remove(sequence)
    const group = this.#running.find((other) => other.sequence === sequence)
    if (group === undefined) return
    this.#running = this.#running.filter((other) => other !== group)
    this.#freeSeats.push(...group.seats)
    this.#dirtySeats.push(...group.seats)
  }

  /** The beams' part of the next step, or null when there is nothing to do. */
  plan(): BeamPlan | null {
    const starts = this.#fillSeats()
    if (this.#running.length === 0) return null
    const pending = this.#running.map((group) => group.takePending())
    const drops = [...this.#dirtySeats, ...pending.flatMap((own) => own.drops)]
    const forks = pending.flatMap((own) => own.forks)
    this.#dirtySeats = []
    this.#planned = this.#planRuns()
    return { drops, starts, forks, groups: this.#planned.map(({ run }) => run) }
  }

  /** Applies what the runner chose for the last plan. */
  update(choices: readonly (readonly BeamChoice[])[]): void {
    const { emit, onEnd } = this.#options
    let index = 0
    for (const { group, run } of this.#planned) {
      const own = run.beams.length > 0 ? choices[index++] : []
      if (own === undefined) throw new InvariantError(`The group of seat ${run.seat} was given no choices.`)
      // Aborted while the step was computed.
      if (!this.#running.includes(group)) continue
      const result = group.update(run, own)
      if (result === null) continue
      const { sequence } = group
      emit({
        type: 'text-delta',
        reqId: sequence.sequenceId,
        text: result.text,
        tokenIds: result.tokenIds,
      })
      onEnd(sequence, result.finishReason)
    }
    this.#planned = []
  }

  *[Symbol.iterator](): Iterator<Sequence> {
    yield* this.#waiting
    for (const { sequence } of this.#running) yield sequence
  }

  /** @throws InvariantError when the books do not agree. */
  checkIntegrity(): void {
    const { seats, tokens } = this.#options.room
    const all = [...this.#freeSeats, ...this.#running.flatMap((group) => group.seats)]
    checkRule(all.length === seats && new Set(all).size === seats, 'each seat is free or in one group')
    checkRule(this.#reservedTokens() <= tokens, 'groups keep to their room')
    for (const group of this.#running) group.checkIntegrity()
    for (const sequence of this.#waiting) checkRule(sequence.status === 'waiting', 'a waiting group waits')
  }

  #newTokensOf({ promptTokens, maxNewTokens }: SequenceSize): number {
    const { maxSeqLen } = this.#options
    return maxSeqLen === null ? maxNewTokens : Math.min(maxNewTokens, maxSeqLen - promptTokens)
  }

  /** Beams share their prompt and, at worst, nothing else. */
  #tokensOf(size: Required<SequenceSize>): number {
    return size.promptTokens + size.numBeams * this.#newTokensOf(size)
  }

  #reservedTokens(): number {
    return this.#running.reduce((sum, { reservedTokens }) => sum + reservedTokens, 0)
  }

  #fillSeats(): BeamStart[] {
    const { clock, room, emit, onEnd } = this.#options
    const starts: BeamStart[] = []
    for (;;) {
      const nowMs = clock.nowMs()
      // The next group waits until it fits, and the others behind it: smaller groups would starve it.
      const sequence = this.#waiting.peek(nowMs)
      if (sequence === null) return starts
      const reservedTokens = this.#tokensOf(sequence)
      const freeTokens = room.tokens - this.#reservedTokens()
      if (sequence.numBeams > this.#freeSeats.length || reservedTokens > freeTokens) return starts
      this.#waiting.take(sequence)
      emit(sequence.startEvent(nowMs))
      // A prompt that fills the context leaves room for no token.
      if (this.#newTokensOf(sequence) === 0) onEnd(sequence, 'length')
      else starts.push(this.#start(sequence, reservedTokens))
    }
  }

  #start(sequence: Sequence, reservedTokens: number): BeamStart {
    const { isEndOfGeneration, tokenBytes } = this.#options
    sequence.status = 'running'
    const group = new BeamGroup({
      sequence,
      seats: this.#freeSeats.sort((a, b) => a - b).splice(0, sequence.numBeams),
      reservedTokens,
      maxNewTokens: this.#newTokensOf(sequence),
      isEndOfGeneration,
      tokenBytes,
    })
    this.#running.push(group)
    return group.start()
  }

  /** One prompt a step, so that streams beside it do not wait for two. */
  #planRuns(): { group: BeamGroup; run: BeamRun }[] {
    const prefilling = this.#running.find(({ isPrefilling }) => isPrefilling)
    return this.#running
      .filter((group) => !group.isPrefilling || group === prefilling)
      .map((group) => ({ group, run: group.nextRun() }))
  }
}
