/**
 * Picks the next token from logits, in the order Hugging Face applies it: logit_bias, repetition penalty, frequency and
 * presence penalty, temperature, top_k, top_p, min_p, then one draw. Pure TypeScript over a Float32Array, without native
 * code; called from the step loop, once per token. The logits row may be a view of native memory and is overwritten where
 * bias and penalties apply.
 * Invariant: which token comes out depends only on the row, the sequence's own tokens and its own seed.
 */
import type { Sampling } from '../../../protocol/engine.ts'
import {
  findLargest,
  keepAtLeast,
  keepHeaviest,
  keepTop,
  pick,
  weigh,
  type Candidates,
} from './candidates.ts'
import { LogitAdjustments, type LateTokens } from './logit-adjustments.ts'
import { createRandom, type Random } from './random.ts'
import { drawFromAll } from './whole-vocabulary.ts'

/** The sampling state of one sequence. */
export class Sampler {
  readonly #sampling: Sampling
  readonly #isGreedy: boolean
  readonly #random: Random
  /** Null where the row is taken as it is. */
  readonly #adjustments: LogitAdjustments | null

  constructor(sampling: Sampling, promptTokenIds: Int32Array, lateTokens: LateTokens | null = null) {
    this.#sampling = sampling
    this.#isGreedy = sampling.temperature === 0 || sampling.topK === 1 || sampling.topP === 0
    this.#random = createRandom(sampling.seed)
    this.#adjustments = LogitAdjustments.create({ sampling, lateTokens }, promptTokenIds)
  }

  /** Goes on behind tokens that were sampled before, one draw for each. */
  resume(tokenIds: Int32Array): this {
    for (const tokenId of tokenIds) {
      if (!this.#isGreedy) this.#random()
      this.#adjustments?.record(tokenId)
    }
    return this
  }

  /** Whether its draws can be repeated. */
  get isSeeded(): boolean {
    return this.#sampling.seed !== null
  }

  /** The next token; `scratch` is any memory of the vocabulary's size, shared by all samplers of a step loop. */
  sample(logits: Float32Array, scratch: Candidates): number {
    this.#adjustments?.apply(logits)
    const tokenId = this.#isGreedy ? findLargest(logits) : this.#draw(logits, scratch)
    this.#adjustments?.record(tokenId)
    return tokenId
  }

  #draw(logits: Float32Array, scratch: Candidates): number {
    const { temperature, topK, topP, minP = 0 } = this.#sampling
    if (topK === 0 || topK >= logits.length) {
      return drawFromAll({ logits, head: scratch, temperature, topP, minP }, this.#random)
    }
    keepTop(scratch, logits, topK)
    let sum = weigh(scratch, temperature)
    if (topP < 1) sum = keepHeaviest(scratch, sum, topP * sum)
    if (minP > 0) sum = keepAtLeast(scratch, minP)
    return pick(scratch, this.#random() * sum)
  }
}
