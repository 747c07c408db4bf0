/**
 * Ranks, or draws, the ways to continue a group of beams from their logits, as Hugging Face does: log-softmax,
 * logit_bias, penalties and, where it samples, temperature, top_k, top_p and min_p; then each beam's own score is added
 * and all beams compete. Pure TypeScript over logits rows, which are overwritten.
 * Invariant: what comes out depends only on the rows, the beams and the group's own seed.
 */
import type { Sampling } from '../../../protocol/engine.ts'
import type { BeamChoice } from '../../../protocol/model-runner.ts'
import { keepAtLeast, keepHeaviest, keepTop, largestWeight, weigh, type Candidates } from './candidates.ts'
import { fastExp } from './fast-exp.ts'
import { LogitAdjustments, type LateTokens } from './logit-adjustments.ts'
import { logSoftmaxOf } from './logprobs.ts'
import { createRandom, type Random } from './random.ts'

/** A beam must have another way to go on when its likeliest token ends it. */
const MIN_TOKENS_TO_KEEP = 2

interface RankedBeam {
  readonly score: number
  readonly tokenIds: readonly number[]
}

/** What may be drawn for one beam. */
interface DrawRow {
  readonly ids: Int32Array
  /** Relative to the row's likeliest; 0 once drawn. */
  readonly weights: Float64Array
  /** Of all weights that are left. */
  sum: number
  /** Score of the beam with the row's likeliest token. */
  readonly topScore: number
}

/** The sampling state of one group. */
export class BeamSampler {
  readonly #sampling: Sampling
  readonly #random: Random
  /** Of a beam without text; null where there are none. */
  readonly #adjustments: LogitAdjustments | null

  constructor(sampling: Sampling, promptTokenIds: Int32Array, lateTokens: LateTokens | null = null) {
    this.#sampling = sampling
    this.#random = createRandom(sampling.seed)
    this.#adjustments = LogitAdjustments.create({ sampling, lateTokens }, promptTokenIds)
  }

  /** The `count` best continuations over all beams, best first; or as many drawn ones, fewer where there are not. */
  choose(
    rows: readonly { readonly beam: RankedBeam; readonly logits: Float32Array }[],
    count: number,
    scratch: Candidates,
  ): BeamChoice[] {
    for (const { beam, logits } of rows) this.#adjust(beam, logits)
    if (this.#sampling.temperature === 0) {
      const choices = rows.flatMap(({ beam, logits }, index) =>
        rankRow({ beam, index, logits }, count, scratch),
      )
      return choices.sort(byScore).slice(0, count)
    }
    return this.#draw(
      rows.map(({ beam, logits }) => this.#drawRow(beam, logits, scratch)),
      count,
    )
  }

  /** Bias and penalties fall on log-probabilities, and what they change is not normalised again. */
  #adjust({ tokenIds }: RankedBeam, logits: Float32Array): void {
    const logSoftmax = logSoftmaxOf(logits, 1)
    for (let i = 0; i < logits.length; i++) logits[i] = logSoftmax(logits[i] as number)
    this.#adjustments?.withText(tokenIds).apply(logits)
  }

  #drawRow({ score }: RankedBeam, logProbs: Float32Array, scratch: Candidates): DrawRow {
    const { temperature, topK, topP, minP = 0 } = this.#sampling
    keepTop(scratch, logProbs, topK === 0 ? logProbs.length : Math.max(topK, MIN_TOKENS_TO_KEEP))
    const topScore = score + largestWeight(scratch) / temperature
    let sum = weigh(scratch, temperature)
    if (topP < 1) sum = keepHeaviest(scratch, sum, topP * sum)
    if (minP > 0) sum = keepAtLeast(scratch, minP)
    if (scratch.count < MIN_TOKENS_TO_KEEP) {
      keepTop(scratch, logProbs, MIN_TOKENS_TO_KEEP)
      sum = weigh(scratch, temperature)
    }
    const { ids, weights, count } = scratch
    return { ids: ids.slice(0, count), weights: weights.slice(0, count), sum, topScore }
  }

  /** Draws without putting back. */
  #draw(rows: readonly DrawRow[], count: number): BeamChoice[] {
    const best = Math.max(...rows.map(({ topScore }) => topScore))
    const factors = rows.map(({ topScore }) => fastExp(topScore - best))
    const choices: BeamChoice[] = []
    while (choices.length < count) {
      const shares = rows.map(({ sum }, beam) => sum * (factors[beam] as number))
      const total = shares.reduce((all, share) => all + share, 0)
      if (!(total > 0)) break
      const beam = pick(shares, this.#random() * total)
      const row = rows[beam] as DrawRow
      const place = pick(row.weights, this.#random() * row.sum)
      const score = row.topScore + Math.log(row.weights[place] as number)
      choices.push({ beam, tokenId: row.ids[place] as number, score })
      row.weights[place] = 0
      // Summed anew: what is left may be far smaller than the rounding of a difference.
      row.sum = row.weights.reduce((all, weight) => all + weight, 0)
    }
    return choices
  }
}

/** Best first; equals in the order of beam and token, so that the same rows always give the same choices. */
function byScore(a: BeamChoice, b: BeamChoice): number {
  return b.score - a.score || a.beam - b.beam || a.tokenId - b.tokenId
}

function rankRow(
  { beam, index, logits }: { beam: RankedBeam; index: number; logits: Float32Array },
  count: number,
  scratch: Candidates,
): BeamChoice[] {
  keepTop(scratch, logits, count)
  return Array.from({ length: scratch.count }, (_, i) => ({
    beam: index,
    tokenId: scratch.ids[i] as number,
    score: beam.score + (scratch.weights[i] as number),
  }))
}

/** Index of the weight in which `target` falls; never one of weight 0. */
function pick(weights: ArrayLike<number>, target: number): number {
  let reached = 0
  let last = 0
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i] as number
    if (weight === 0) continue
    reached += weight
    last = i
    if (reached > target) break
  }
  return last
}
