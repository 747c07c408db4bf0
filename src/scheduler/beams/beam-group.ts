/**
 * One beam search at work: its beams, the seats they hold, what it computes next and the text that comes of it. Owned by
 * the beam groups, which give it its seats.
 */
import { InvariantError } from '../../core/errors.ts'
import type { BeamChoice, BeamRun, BeamStart, SeatRun } from '../../protocol/model-runner.ts'
import { BeamSearch, CANDIDATES_PER_BEAM, type Beam, type BeamEnd } from './beam-search.ts'
import { reseat, type Reseating } from './beam-seats.ts'
import { checkRule, type Sequence } from '../sequence.ts'
import { TextAssembler } from '../text-assembler.ts'

/** Prompt tokens of groups in one step. Always cut at the same places, so that a seeded group repeats itself. */
const PREFILL_CHUNK_TOKENS = 128
const NOTHING_PENDING = { drops: [], forks: [] }

/** The text of a beam so far, kept only where stop strings are looked for. */
type BeamText = TextAssembler | null

export interface BeamGroupOptions {
  readonly sequence: Sequence
  /** One for each beam. */
  readonly seats: readonly number[]
  /** Room that its longest possible texts take. */
  readonly reservedTokens: number
  readonly maxNewTokens: number
  readonly isEndOfGeneration: (tokenId: number) => boolean
  readonly tokenBytes: (tokenId: number) => Uint8Array
}

/** What a search has come to. */
export interface BeamResult {
  readonly text: string
  readonly tokenIds: readonly number[]
  readonly finishReason: BeamEnd
}

export class BeamGroup {
  readonly sequence: Sequence
  readonly seats: readonly number[]
  readonly reservedTokens: number
  readonly #options: BeamGroupOptions
  readonly #search: BeamSearch<BeamText>
  /** By beam. */
  #beamSeats: readonly number[]
  /** What the next plan does to the seats before it runs them. */
  #pending: Pick<Reseating, 'drops' | 'forks'> = NOTHING_PENDING

  constructor(options: BeamGroupOptions) {
    const { sequence, seats, reservedTokens } = options
    this.sequence = sequence
    this.seats = seats
    this.reservedTokens = reservedTokens
    this.#options = options
    this.#search = new BeamSearch({
      numBeams: sequence.numBeams,
      firstState: sequence.stopStrings.length === 0 ? null : new TextAssembler(sequence.stopStrings),
      extend: (beam, tokenId) => this.#extend(beam, tokenId),
    })
    this.#beamSeats = [this.#firstSeat]
  }

  get isPrefilling(): boolean {
    return this.#search.beams[0]?.tokenIds.length === 0
  }

  start(): BeamStart {
    const { promptTokenIds, sampling } = this.sequence
    return { seat: this.#firstSeat, promptTokenIds, sampling }
  }

  /** What is to be done to its seats before they run again; given once. */
  takePending(): Pick<Reseating, 'drops' | 'forks'> {
    const pending = this.#pending
    this.#pending = NOTHING_PENDING
    return pending
  }

  nextRun(): BeamRun {
    return this.isPrefilling ? this.#prefillRun() : this.#decodeRun()
  }

  /** Takes what the runner chose after a run; what the search has come to when it is done. */
  update(run: BeamRun, choices: readonly BeamChoice[]): BeamResult | null {
    const { sequence } = this
    if (sequence.computedTokens < sequence.promptTokens) {
      sequence.computedTokens += run.runs[0]?.tokenIds.length ?? 0
    }
    if (run.beams.length === 0) return null
    const parents = this.#search.advance(choices)
    if (this.#search.isDone) {
      const { tokenIds, finishReason } = this.#search.best
      return { text: this.#textOf(tokenIds), tokenIds, finishReason }
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
    if (isEndOfGeneration(tokenId)) return { state, end: 'stop' }
    const text = state?.fork() ?? null
    if (text?.push(tokenBytes(tokenId)).isMatched === true) return { state: text, end: 'stop' }
    return { state: text, end: tokenIds.length + 1 >= maxNewTokens ? 'length' : null }
  }

  #textOf(tokenIds: readonly number[]): string {
    const { isEndOfGeneration, tokenBytes } = this.#options
    const assembler = new TextAssembler(this.sequence.stopStrings)
    let text = ''
    for (const tokenId of tokenIds) {
      if (isEndOfGeneration(tokenId)) break
      const added = assembler.push(tokenBytes(tokenId))
      text += added.text
      if (added.isMatched) return text
    }
    return text + assembler.flush()
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
