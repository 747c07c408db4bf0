/**
 * Picks the next token from logits, in the order Hugging Face applies it: repetition penalty, temperature, top_k,
 * top_p, then one draw. Pure TypeScript over a Float32Array, without native code; called from the step loop, once per
 * token. The logits row may be a view of native memory and is overwritten where the penalty applies.
 * Invariant: which token comes out depends only on the row, the sequence's own tokens and its own seed.
 */
import type { Sampling } from '../../../protocol/engine.ts'
import { findLargest, keepHeaviest, keepTop, pick, weigh, type Candidates } from './candidates.ts'
import { createRandom, type Random } from './random.ts'
import { drawFromAll } from './whole-vocabulary.ts'

/** The largest finite float. */
const MAX_LOGIT = 3.4028234663852886e38

/** Makes the tokens seen so far less likely, as Hugging Face does: positive logits shrink, negative ones grow. */
export function applyRepetitionPenalty(logits: Float32Array, seen: Iterable<number>, penalty: number): void {
  for (const tokenId of seen) {
    const logit = logits[tokenId]
    if (logit === undefined) continue
    const penalized = logit < 0 ? logit * penalty : logit / penalty
    // A penalty near 0 would leave the range of a float, and the logits would look broken.
    logits[tokenId] = Math.min(Math.max(penalized, -MAX_LOGIT), MAX_LOGIT)
  }
}

/** The sampling state of one sequence. */
export class Sampler {
  readonly #sampling: Sampling
  readonly #isGreedy: boolean
  readonly #random: Random
  /** Null where no penalty asks for them. */
  readonly #seenTokenIds: Set<number> | null

  constructor(sampling: Sampling, promptTokenIds: Int32Array) {
    this.#sampling = sampling
    this.#isGreedy = sampling.temperature === 0 || sampling.topK === 1 || sampling.topP === 0
    this.#random = createRandom(sampling.seed)
    const penalty = sampling.repetitionPenalty
    this.#seenTokenIds = penalty === 1 || penalty === 0 ? null : new Set(promptTokenIds)
  }

  /** Whether its draws can be repeated. */
  get isSeeded(): boolean {
    return this.#sampling.seed !== null
  }

  /** The next token; `scratch` is any memory of the vocabulary's size, shared by all samplers of a step loop. */
  sample(logits: Float32Array, scratch: Candidates): number {
    if (this.#seenTokenIds !== null) {
      applyRepetitionPenalty(logits, this.#seenTokenIds, this.#sampling.repetitionPenalty)
    }
    const tokenId = this.#isGreedy ? findLargest(logits) : this.#draw(logits, scratch)
    this.#seenTokenIds?.add(tokenId)
    return tokenId
  }

  #draw(logits: Float32Array, scratch: Candidates): number {
    const { temperature, topK, topP } = this.#sampling
    if (topK === 0 || topK >= logits.length) {
      return drawFromAll({ logits, head: scratch, temperature, topP }, this.#random)
    }
    keepTop(scratch, logits, topK)
    let sum = weigh(scratch, temperature)
    if (topP < 1) sum = keepHeaviest(scratch, sum, topP * sum)
    return pick(scratch, this.#random() * sum)
  }
}
