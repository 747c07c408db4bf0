/**
 * Beam search over one prompt: selects the running beams of each step, keeps the finished ones and decides when the search
 * is done. Pure: it takes the best candidates of each step and knows no model, no text and no cache.
 * The rules are Hugging Face's with `length_penalty` 1.0 and `early_stopping=False`: a continuation's score is the sum
 * of its log-probabilities, an ended one is ranked by its score per token, its end token counted.
 */
import { InvariantError } from '../../core/errors.ts'
import type { BeamChoice } from '../../protocol/model-runner.ts'

/** Candidates per beam that a step must provide: half of them may be ends. */
export const CANDIDATES_PER_BEAM = 2

export type BeamEnd = 'stop' | 'length'

export interface Beam<State> {
  /** Generated so far. */
  readonly tokenIds: readonly number[]
  readonly score: number
  /** The caller's own; see `BeamSearchOptions.extend`. */
  readonly state: State
}

/** A continuation that has ended. */
export interface Hypothesis {
  readonly tokenIds: readonly number[]
  readonly score: number
  /** Score per token. */
  readonly normalizedScore: number
  readonly finishReason: BeamEnd
}

export interface BeamSearchOptions<State> {
  readonly numBeams: number
  /** State of the initial beam. */
  readonly firstState: State
  /** Returns the state of a beam extended by a token, and whether it ends there. Called for each candidate. */
  readonly extend: (beam: Beam<State>, tokenId: number) => { state: State; end: BeamEnd | null }
}

export class BeamSearch<State> {
  readonly #options: BeamSearchOptions<State>
  #beams: readonly Beam<State>[]
  /** The finished beams, best first; at most `numBeams`. */
  #hypotheses: readonly Hypothesis[] = []
  #isDone = false

  constructor(options: BeamSearchOptions<State>) {
    this.#options = options
    this.#beams = [{ tokenIds: [], score: 0, state: options.firstState }]
  }

  /** The running beams, best first; initially one, whose prompt all beams will share. */
  get beams(): readonly Beam<State>[] {
    return this.#beams
  }

  /** Whether no running beam can still beat the finished ones. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Best first. */
  get hypotheses(): readonly Hypothesis[] {
    return this.#hypotheses
  }

  /** The result, once the search is done. */
  get best(): Hypothesis {
    const [best] = this.#hypotheses
    if (best === undefined) throw new InvariantError('A beam search has ended nothing yet.')
    return best
  }

  /**
   * Takes the candidates of one step: the best `CANDIDATES_PER_BEAM * numBeams`, best first, or that many drawn ones in
   * the order of their draws. Returns, for each beam that runs now, the index of the one it continues.
   */
  advance(candidates: readonly BeamChoice[]): readonly number[] {
    const { numBeams, extend } = this.#options
    const running: { beam: Beam<State>; parent: number }[] = []
    const ended: Hypothesis[] = []
    for (const [rank, { beam: parent, tokenId, score }] of candidates.entries()) {
      const before = this.#beams[parent]
      if (before === undefined) throw new InvariantError(`There is no beam ${parent} to continue.`)
      const { state, end } = extend(before, tokenId)
      const tokenIds = [...before.tokenIds, tokenId]
      if (end === null) running.push({ beam: { tokenIds, score, state }, parent })
      // An end further down would push out a beam that is likelier than it.
      else if (rank < numBeams) {
        ended.push({ tokenIds, score, normalizedScore: score / tokenIds.length, finishReason: end })
      }
    }
    const chosen = running.sort((a, b) => b.beam.score - a.beam.score).slice(0, numBeams)
    this.#beams = chosen.map(({ beam }) => beam)
    this.#hypotheses = [...this.#hypotheses, ...ended]
      .sort((a, b) => b.normalizedScore - a.normalizedScore)
      .slice(0, numBeams)
    this.#isDone = !this.#canImprove()
    return chosen.map(({ parent }) => parent)
  }

  #canImprove(): boolean {
    const [likeliest] = this.#beams
    if (likeliest === undefined) return false
    const worst = this.#hypotheses[this.#options.numBeams - 1]
    return worst === undefined || likeliest.score / likeliest.tokenIds.length > worst.normalizedScore
  }
}
