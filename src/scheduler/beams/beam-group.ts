/**
 * One running beam search: its beams, the seats they hold, its next run and its final text. Owned by the beam groups,
 * which assign its seats.
 */
import { InvariantError } from '../../core/errors.ts'
import type { BeamChoice, BeamRun, BeamStart, SeatRun } from '../../protocol/model-runner.ts'
import { BeamSearch, CANDIDATES_PER_BEAM, type Beam, type BeamEnd } from './beam-search.ts'
import { reseat, type Reseating } from './beam-seats.ts'
import { endsText, mayEnd } from '../end-rules.ts'
import { checkRule, type Sequence } from '../sequence.ts'
import type { MatchResult } from '../stop-matcher.ts'
import { TextAssembler } from '../text-assembler.ts'
import type { SeatPool } from './seat-pool.ts'

/** Prompt tokens of groups in one step. Fixed, so that a seeded group repeats itself. */
const PREFILL_CHUNK_TOKENS = 128
const NOTHING_PENDING = { drops: [], forks: [] }

/** The text of a beam so far; null without stop strings. */
type BeamText = TextAssembler | null

export interface BeamGroupOptions {
  readonly sequence: Sequence
  /** Where its seats and its room come from. */
  readonly pool: SeatPool
  /** One for each beam. */
  readonly seats: readonly number[]
  /** Room that its longest possible texts take. */
  readonly reservedTokens: number
  readonly maxNewTokens: number
  readonly isEndOfGeneration: (tokenId: number) => boolean
  readonly tokenBytes: (tokenId: number) => Uint8Array
}

/** The outcome of a search. */
export interface BeamResult {
  readonly text: string
  readonly tokenIds: readonly number[]
  readonly finishReason: BeamEnd
}

export class BeamGroup {
  readonly sequence: Sequence
  readonly pool: SeatPool
  readonly seats: readonly number[]
  readonly reservedTokens: number
  readonly #options: BeamGroupOptions
  readonly #search: BeamSearch<BeamText>
  /** By beam. */
  #beamSeats: readonly number[]
  /** Changes of seats that the next plan makes before its runs. */
  #pending: Pick<Reseating, 'drops' | 'forks'> = NOTHING_PENDING
  #usedTokens = 0

  constructor(options: BeamGroupOptions) {
    const { sequence, pool, seats, reservedTokens } = options
    const { stopStrings, unstoppableAfter } = sequence
    this.sequence = sequence
    this.pool = pool
    this.seats = seats
    this.reservedTokens = reservedTokens
    this.#options = options
    this.#search = new BeamSearch({
      numBeams: sequence.numBeams,
      firstState: stopStrings.length === 0 ? null : new TextAssembler(stopStrings, unstoppableAfter),
      extend: (beam, tokenId) => this.#extend(beam, tokenId),
    })
    this.#beamSeats = [this.#firstSeat]
  }

  get isPrefilling(): boolean {
    return this.#search.beams[0]?.tokenIds.length === 0
  }

  /** Tokens computed so far, over all beams. */
  get usedTokens(): number {
    return this.#usedTokens
  }

  start(): BeamStart {
    const { promptTokenIds, sampling, endRules, adapterId } = this.sequence
    return {
      ...{ seat: this.#firstSeat, promptTokenIds, sampling },
      ...(endRules !== null && { endRules }),
      ...(adapterId !== null && { adapterId }),
    }
  }

  /** Changes of its seats before they run again; returned once. */
  takePending(): Pick<Reseating, 'drops' | 'forks'> {
    const pending = this.#pending
    this.#pending = NOTHING_PENDING
    return pending
  }

  nextRun(): BeamRun {
    return this.isPrefilling ? this.#prefillRun() : this.#decodeRun()
  }

  /** Applies the runner's choices after a run. Returns the outcome when the search is done. */
  update(run: BeamRun, choices: readonly BeamChoice[]): BeamResult | null {
    const { sequence } = this
    for (const { tokenIds } of run.runs) this.#usedTokens += tokenIds.length
    if (sequence.computedTokens < sequence.promptTokens) {
      sequence.computedTokens += run.runs[0]?.tokenIds.length ?? 0
    }
    if (run.beams.length === 0) return null
    const parents = this.#search.advance(choices)
    if (this.#search.isDone) {
      const { tokenIds, finishReason } = this.#search.best
      const { text, stopString } = this.#textOf(tokenIds)
      sequence.stopString = stopString
      return { text, tokenIds, finishReason }
    }
    const { seats, drops, forks } = reseat(parents, this.#beamSeats, this.seats)
    this.#beamSeats = seats
    this.#pending = { drops, forks }
    return null
  }

  /** @throws InvariantError when the books do not agree. */
  checkIntegrity(): void {
    const { beams, isDone } = this.#search
    checkRule(this.sequence.status === 'running', 'a group is running')
    checkRule(this.seats.length === this.sequence.numBeams, 'a group has a seat for each beam')
    checkRule(new Set(this.#beamSeats).size === beams.length, 'each beam has one seat')
    checkRule(
      this.#beamSeats.every((seat) => this.seats.includes(seat)),
      'a beam sits in a seat of its group',
    )
    checkRule(!isDone, 'a search that is done has ended')
    const [first] = beams
    checkRule(
      first === undefined || first.tokenIds.length < this.#options.maxNewTokens,
      'a full beam has ended',
    )
  }

  get #firstSeat(): number {
    const [seat] = this.seats
    if (seat === undefined) throw new InvariantError('a group needs a seat')
    return seat
  }

  #extend({ state, tokenIds }: Beam<BeamText>, tokenId: number): { state: BeamText; end: BeamEnd | null } {
    const { isEndOfGeneration, tokenBytes, maxNewTokens } = this.#options
    const { endRules } = this.sequence
    const place = tokenIds.length + 1
    if (endsText(endRules, { tokenId, place }, isEndOfGeneration)) return { state, end: 'stop' }
    const text = state?.fork() ?? null
    const stopString = text?.push(tokenBytes(tokenId), mayEnd(endRules, place)).stopString ?? null
    if (stopString !== null) return { state: text, end: 'stop' }
    return { state: text, end: place >= maxNewTokens ? 'length' : null }
  }

  #textOf(tokenIds: readonly number[]): MatchResult {
    const { isEndOfGeneration, tokenBytes } = this.#options
    const { endRules, stopStrings, unstoppableAfter } = this.sequence
    const assembler = new TextAssembler(stopStrings, unstoppableAfter)
    let text = ''
    for (const [index, tokenId] of tokenIds.entries()) {
      const place = index + 1
      if (endsText(endRules, { tokenId, place }, isEndOfGeneration)) break
      const added = assembler.push(tokenBytes(tokenId), mayEnd(endRules, place))
      text += added.text
      if (added.stopString !== null) return { text, stopString: added.stopString }
    }
    return { text: text + assembler.flush(), stopString: null }
  }

  #prefillRun(): BeamRun {
    const { promptTokenIds, computedTokens, promptTokens, numBeams } = this.sequence
    const tokenIds = promptTokenIds.subarray(computedTokens, computedTokens + PREFILL_CHUNK_TOKENS)
    const wantsToken = computedTokens + tokenIds.length === promptTokens
    return {
      seat: this.#firstSeat,
      runs: [{ seat: this.#firstSeat, position: computedTokens, tokenIds, wantsToken }],
      beams: wantsToken ? this.#search.beams : [],
      candidates: wantsToken ? CANDIDATES_PER_BEAM * numBeams : 0,
    }
  }

  #decodeRun(): BeamRun {
    const { beams } = this.#search
    const { promptTokens, numBeams } = this.sequence
    const runs = beams.map(({ tokenIds }, beam): SeatRun => {
      const seat = this.#beamSeats[beam]
      const last = tokenIds.at(-1)
      if (seat === undefined || last === undefined)
        throw new InvariantError('a beam needs a seat and a token')
      const position = promptTokens + tokenIds.length - 1
      return { seat, position, tokenIds: [last], wantsToken: true }
    })
    return { seat: this.#firstSeat, runs, beams, candidates: CANDIDATES_PER_BEAM * numBeams }
  }
}
