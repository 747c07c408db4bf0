/**
 * Beam searches beside the running batch: each is a group of beams that share their prompt in the beams' own KV cache.
 * Owned by the scheduler, which adds this part to each plan; groups take seats and room of their own, so that they
 * neither wait for slots nor take any. A group begins when its seats and its longest possible texts fit.
 * Invariant: `checkIntegrity()` after every call.
 */
import type { Clock } from '../core/clock.ts'
import { InvariantError, ServiceError } from '../core/errors.ts'
import type { SchedulePolicy } from '../core/schedule-policy.ts'
import type { BeamChoice, BeamPlan, BeamRoom, BeamRun, BeamStart, SlotRun } from '../protocol/model-runner.ts'
import { BeamSearch, CANDIDATES_PER_BEAM, type Beam, type BeamEnd } from './beam-search.ts'
import { reseat, type Reseating } from './beam-seats.ts'
import type { SchedulerEvent } from './scheduler-event.ts'
import type { Sequence } from './sequence.ts'
import { TextAssembler } from './text-assembler.ts'
import { WaitingQueue } from './waiting-queue.ts'

/** Prompt tokens of groups in one step. Always cut at the same places, so that a seeded group repeats itself. */
const PREFILL_CHUNK_TOKENS = 128

export interface BeamGroupsOptions {
  readonly room: BeamRoom
  readonly maxSeqLen: number | null
  readonly schedulePolicy: SchedulePolicy
  readonly isEndOfGeneration: (tokenId: number) => boolean
  readonly tokenBytes: (tokenId: number) => Uint8Array
  readonly clock: Clock
  readonly emit: (event: SchedulerEvent) => void
}

/** The text of a beam so far, kept only where stop strings are looked for. */
type BeamText = TextAssembler | null

interface BeamGroup {
  readonly sequence: Sequence
  readonly seats: readonly number[]
  readonly search: BeamSearch<BeamText>
  readonly reservedTokens: number
  /** By beam. */
  beamSeats: readonly number[]
  /** What the next plan does to the seats before it runs them. */
  pending: Pick<Reseating, 'drops' | 'forks'>
}

const NOTHING_PENDING = { drops: [], forks: [] }

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
  check(request: { promptTokens: number; maxNewTokens: number; numBeams: number }): void {
    const { seats, tokens } = this.#options.room
    if (request.numBeams > seats) {
      throw new RangeError(`numBeams must be at most ${seats}, but was ${request.numBeams}`)
    }
    const given = this.#tokensOf(request)
    if (given <= tokens) return
    const { numBeams: beams, promptTokens } = request
    const newTokens = this.#newTokensOf(request)
    throw new ServiceError(
      'beams_too_large',
      { beams, promptTokens, newTokens, given, max: tokens },
      { param: 'num_beams' },
    )
  }

  add(sequence: Sequence): void {
    this.#waiting.add(sequence)
  }

  /** Groups of this size that could begin now, were nothing else waiting. */
  freeGroups(numBeams: number): number {
    return Math.floor(this.#freeSeats.length / numBeams)
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

  /** The beams' part of the next step, or null when there is nothing to do; `onEnd` is told what ended without one. */
  plan(onEnd: (sequence: Sequence) => void): BeamPlan | null {
    const starts = this.#fillSeats(onEnd)
    if (this.#running.length === 0) return null
    const drops = [...this.#dirtySeats, ...this.#running.flatMap(({ pending }) => pending.drops)]
    const forks = this.#running.flatMap(({ pending }) => pending.forks)
    this.#dirtySeats = []
    for (const group of this.#running) group.pending = NOTHING_PENDING
    this.#planned = this.#planRuns()
    return { drops, starts, forks, groups: this.#planned.map(({ run }) => run) }
  }

  /** Applies what the runner chose for the last plan. `onEnd` is told of each search that is done. */
  update(
    choices: readonly (readonly BeamChoice[])[],
    onEnd: (sequence: Sequence, finishReason: BeamEnd) => void,
  ): void {
    let index = 0
    for (const { group, run } of this.#planned) {
      const own = run.beams.length > 0 ? choices[index++] : []
      if (own === undefined) throw new InvariantError(`The group of seat ${run.seat} was given no choices.`)
      // Aborted while the step was computed.
      if (!this.#running.includes(group)) continue
      const { sequence } = group
      if (sequence.computedTokens < sequence.promptTokens) {
        sequence.computedTokens += run.runs[0]?.tokenIds.length ?? 0
      }
      if (run.beams.length > 0) this.#advance(group, own, onEnd)
    }
    this.#planned = []
  }

  *[Symbol.iterator](): Iterator<Sequence> {
    yield* this.#waiting
    for (const { sequence } of this.#running) yield sequence
  }

  /** @throws InvariantError when the books do not agree. */
  checkIntegrity(): void {
    const check = (isTrue: boolean, rule: string): void => {
      if (!isTrue) throw new InvariantError(rule)
    }
    const { seats, tokens } = this.#options.room
    const all = [...this.#freeSeats, ...this.#running.flatMap((group) => group.seats)]
    check(all.length === seats && new Set(all).size === seats, 'each seat is free or in one group')
    check(this.#reservedTokens() <= tokens, 'groups keep to their room')
    for (const { sequence, seats: own, beamSeats, search } of this.#running) {
      check(sequence.status === 'running', 'a group is running')
      check(own.length === sequence.numBeams, 'a group has a seat for each beam')
      check(new Set(beamSeats).size === search.beams.length, 'each beam has one seat')
      check(
        beamSeats.every((seat) => own.includes(seat)),
        'a beam sits in a seat of its group',
      )
      check(!search.isDone, 'a search that is done has ended')
      const [first] = search.beams
      check(
        first === undefined || first.tokenIds.length < this.#newTokensOf(sequence),
        'a full beam has ended',
      )
    }
    for (const sequence of this.#waiting) check(sequence.status === 'waiting', 'a waiting group waits')
  }

  #newTokensOf({ promptTokens, maxNewTokens }: { promptTokens: number; maxNewTokens: number }): number {
    const { maxSeqLen } = this.#options
    return maxSeqLen === null ? maxNewTokens : Math.min(maxNewTokens, maxSeqLen - promptTokens)
  }

  /** Beams share their prompt and, at worst, nothing else. */
  #tokensOf(request: { promptTokens: number; maxNewTokens: number; numBeams: number }): number {
    return request.promptTokens + request.numBeams * this.#newTokensOf(request)
  }

  #reservedTokens(): number {
    return this.#running.reduce((sum, { reservedTokens }) => sum + reservedTokens, 0)
  }

  #fillSeats(onEnd: (sequence: Sequence) => void): BeamStart[] {
    const starts: BeamStart[] = []
    for (;;) {
      const nowMs = this.#options.clock.nowMs()
      // The one whose turn it is waits for its room, and the others behind it: smaller groups would starve it.
      const sequence = this.#waiting.peek(nowMs)
      if (sequence === null) return starts
      const reservedTokens = this.#tokensOf(sequence)
      const room = this.#options.room.tokens - this.#reservedTokens()
      if (sequence.numBeams > this.#freeSeats.length || reservedTokens > room) return starts
      this.#waiting.next(nowMs)
      this.#announceStart(sequence, nowMs)
      // A prompt that fills the context leaves room for no token.
      if (this.#newTokensOf(sequence) === 0) onEnd(sequence)
      else starts.push(this.#start(sequence, reservedTokens))
    }
  }

  #start(sequence: Sequence, reservedTokens: number): BeamStart {
    const seats = this.#freeSeats.sort((a, b) => a - b).splice(0, sequence.numBeams)
    const [seat] = seats
    if (seat === undefined) throw new InvariantError('a group needs a seat')
    sequence.status = 'running'
    this.#running.push({
      sequence,
      seats,
      search: this.#createSearch(sequence),
      reservedTokens,
      beamSeats: [seat],
      pending: NOTHING_PENDING,
    })
    return { seat, promptTokenIds: sequence.promptTokenIds, sampling: sequence.sampling }
  }

  #announceStart({ reqId, promptTokens, arrivalMs }: Sequence, nowMs: number): void {
    const queueMs = nowMs - arrivalMs
    this.#options.emit({ type: 'sequence-start', reqId, promptTokens, cachedTokens: 0, queueMs })
  }

  #createSearch(sequence: Sequence): BeamSearch<BeamText> {
    const maxNewTokens = this.#newTokensOf(sequence)
    const firstState = sequence.stopStrings.length === 0 ? null : new TextAssembler(sequence.stopStrings)
    return new BeamSearch({
      numBeams: sequence.numBeams,
      firstState,
      extend: (beam, tokenId) => this.#extend(beam, tokenId, maxNewTokens),
    })
  }

  #extend(
    { state, tokenIds }: Beam<BeamText>,
    tokenId: number,
    maxNewTokens: number,
  ): { state: BeamText; end: BeamEnd | null } {
    if (this.#options.isEndOfGeneration(tokenId)) return { state, end: 'stop' }
    const text = state?.fork() ?? null
    if (text?.push(this.#options.tokenBytes(tokenId)).isMatched === true) return { state: text, end: 'stop' }
    return { state: text, end: tokenIds.length + 1 >= maxNewTokens ? 'length' : null }
  }

  #planRuns(): { group: BeamGroup; run: BeamRun }[] {
    const planned: { group: BeamGroup; run: BeamRun }[] = []
    let hasPrefill = false
    for (const group of this.#running) {
      const isPrefilling = group.search.beams[0]?.tokenIds.length === 0
      if (isPrefilling && hasPrefill) continue
      hasPrefill ||= isPrefilling
      planned.push({ group, run: isPrefilling ? prefillRun(group) : decodeRun(group) })
    }
    return planned
  }

  #advance(
    group: BeamGroup,
    choices: readonly BeamChoice[],
    onEnd: (sequence: Sequence, finishReason: BeamEnd) => void,
  ): void {
    const { search, sequence } = group
    const parents = search.advance(choices)
    if (search.isDone) {
      const { tokenIds, finishReason } = search.best
      const text = this.#textOf(sequence, tokenIds)
      this.#options.emit({ type: 'text-delta', reqId: sequence.reqId, text, tokenIds })
      onEnd(sequence, finishReason)
      return
    }
    const { seats, drops, forks } = reseat(parents, group.beamSeats, group.seats)
    group.beamSeats = seats
    group.pending = { drops, forks }
  }

  #textOf({ stopStrings }: Sequence, tokenIds: readonly number[]): string {
    const assembler = new TextAssembler(stopStrings)
    let text = ''
    for (const tokenId of tokenIds) {
      if (this.#options.isEndOfGeneration(tokenId)) break
      const added = assembler.push(this.#options.tokenBytes(tokenId))
      text += added.text
      if (added.isMatched) return text
    }
    return text + assembler.flush()
  }
}

function prefillRun({ sequence, seats, search }: BeamGroup): BeamRun {
  const [seat] = seats
  if (seat === undefined) throw new InvariantError('a group needs a seat')
  const { promptTokenIds, computedTokens, promptTokens, numBeams } = sequence
  const tokenIds = promptTokenIds.subarray(computedTokens, computedTokens + PREFILL_CHUNK_TOKENS)
  const wantsToken = computedTokens + tokenIds.length === promptTokens
  return {
    seat,
    runs: [{ slotId: seat, position: computedTokens, tokenIds, wantsToken }],
    beams: wantsToken ? search.beams : [],
    candidates: wantsToken ? CANDIDATES_PER_BEAM * numBeams : 0,
  }
}

function decodeRun({ sequence, seats, search, beamSeats }: BeamGroup): BeamRun {
  const runs = search.beams.map(({ tokenIds }, beam): SlotRun => {
    const slotId = beamSeats[beam]
    const last = tokenIds.at(-1)
    if (slotId === undefined || last === undefined)
      throw new InvariantError('a beam needs a seat and a token')
    const position = sequence.promptTokens + tokenIds.length - 1
    return { slotId, position, tokenIds: [last], wantsToken: true }
  })
  const candidates = CANDIDATES_PER_BEAM * sequence.numBeams
  return { seat: seats[0] ?? 0, runs, beams: search.beams, candidates }
}
