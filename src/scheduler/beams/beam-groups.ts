/**
 * Beam searches beside the running batch: each is a group of beams that share their prompt in the beams' own KV cache.
 * Owned by the scheduler, which adds this part to each plan. Groups have seats and room of their own, so they neither
 * wait for slots nor take any. A group starts when its seats and its longest possible texts fit; a reserve is open to
 * searches of a higher tier while ones of a lower tier occupy the rest.
 * Invariant: `checkIntegrity()` after every call.
 */
import { InvariantError, ServiceError } from '../../core/errors.ts'
import type { BeamChoice, BeamPlan, BeamRoom, BeamRun, BeamStart } from '../../protocol/model-runner.ts'
import { BeamGroup } from './beam-group.ts'
import { SeatPool } from './seat-pool.ts'
import type { PartOptions, SequenceSize } from '../scheduler-options.ts'
import { checkRule, type Sequence } from '../sequence.ts'
import { WaitingQueue } from '../queue/waiting-queue.ts'

type BeamGroupsOptions = PartOptions & { readonly room: BeamRoom }

export class BeamGroups {
  readonly #options: BeamGroupsOptions
  readonly #waiting: WaitingQueue
  readonly #pool: SeatPool
  readonly #reserve: SeatPool
  /** Seats that still hold cells of a group that has ended. */
  #dirtySeats: number[] = []
  /** The longest-running first. */
  #running: BeamGroup[] = []
  #planned: { readonly group: BeamGroup; readonly run: BeamRun }[] = []

  constructor(options: BeamGroupsOptions) {
    this.#options = options
    const { schedulePolicy: policy, maxSeqLen, room } = options
    this.#waiting = new WaitingQueue({ policy, maxSeqLen })
    this.#pool = new SeatPool({ firstSeat: 0, ...room })
    this.#reserve = new SeatPool({ firstSeat: room.seats, ...(room.reserve ?? { seats: 0, tokens: 0 }) })
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
    this.#waiting.settle(sequence, group.usedTokens)
    group.pool.release(group.seats, group.reservedTokens)
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
      if (own === undefined) throw new InvariantError(`The group of seat ${run.seat} got no choices.`)
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
    for (const pool of [this.#pool, this.#reserve]) {
      pool.checkIntegrity(this.#running.filter((group) => group.pool === pool))
    }
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

  #fillSeats(): BeamStart[] {
    const { clock, emit, onEnd, schedulePolicy } = this.#options
    const starts: BeamStart[] = []
    /** Class of the next search while it waits for room: it holds back all others except those of a higher class. */
    let blocked: number | null = null
    for (;;) {
      const nowMs = clock.nowMs()
      const sequence = this.#waiting.peek({ nowMs, above: blocked })
      if (sequence === null) return starts
      const pool = this.#poolFor(sequence, blocked)
      if (pool === null) {
        if (schedulePolicy !== 'priority') return starts
        blocked = sequence.place.priorityClass
        continue
      }
      emit(sequence.startEvent(nowMs))
      // A prompt that fills the context leaves room for no token. Its end removes it from the queue.
      if (this.#newTokensOf(sequence) === 0) onEnd(sequence, 'length')
      else starts.push(this.#start(sequence, pool))
    }
  }

  /** Where a search fits now; null makes it wait. */
  #poolFor(sequence: Sequence, blocked: number | null): SeatPool | null {
    const demand = { seats: sequence.numBeams, tokens: this.#tokensOf(sequence) }
    if (blocked === null && this.#pool.fits(demand)) return this.#pool
    const { priorityClass } = sequence.place
    const isBesideLower =
      blocked !== null || this.#running.some((group) => group.sequence.place.priorityClass < priorityClass)
    const mayUseReserve = this.#options.schedulePolicy === 'priority' && isBesideLower
    return mayUseReserve && this.#reserve.fits(demand) ? this.#reserve : null
  }

  #start(sequence: Sequence, pool: SeatPool): BeamStart {
    const { isEndOfGeneration, tokenBytes } = this.#options
    const reservedTokens = this.#tokensOf(sequence)
    this.#waiting.take(sequence)
    sequence.status = 'running'
    const group = new BeamGroup({
      sequence,
      pool,
      seats: pool.take({ seats: sequence.numBeams, tokens: reservedTokens }),
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
    const prompts = this.#running.filter(({ isPrefilling }) => isPrefilling)
    if (this.#options.prefersHigherTiers()) prompts.sort(byTier)
    const [next] = prompts
    return this.#running
      .filter((group) => !group.isPrefilling || group === next)
      .map((group) => ({ group, run: group.nextRun() }))
  }
}

/** The higher tier first; sorting keeps the longest-running first within a tier. */
function byTier(a: BeamGroup, b: BeamGroup): number {
  return b.sequence.place.priorityClass - a.sequence.place.priorityClass
}
