/**
 * Log probabilities of a sampled token and of the likeliest ones: the log-softmax of the row as the sampler leaves it, after
 * bias, penalties and tokens that may not come, divided by the temperature; before top_k, top_p and min_p. At temperature 0 the
 * row is divided by nothing. Called by the runner for sequences that ask; one pass over the row, and one more for the likeliest.
 */
import type { SampledLogprob } from '../../../protocol/model-runner.ts'
import { findLargest, inverseOf, keepTop, type Candidates } from './candidates.ts'
import { fastExp } from './fast-exp.ts'

/** Instead of less, as OpenAI does; JSON has no infinity. */
const MIN_LOGPROB = -9999
/** Short loops are optimized as a whole (see `whole-vocabulary.ts`). */
const SLICE_TOKENS = 1024

/** What one sequence asked for. */
export class LogprobMeter {
  readonly #top: number
  readonly #temperature: number

  constructor(top: number, temperature: number) {
    this.#top = top
    this.#temperature = temperature === 0 ? 1 : temperature
  }

  /** @param logits as `Sampler.sample` leaves them */
  measure(logits: Float32Array, tokenId: number, scratch: Candidates): SampledLogprob {
    const logSoftmax = logSoftmaxOf(logits, this.#temperature)
    const logprobOf = (logit: number): number => Math.max(logSoftmax(logit), MIN_LOGPROB)
    return {
      logprob: logprobOf(logits[tokenId] as number),
      top: this.#likeliest(logits, scratch)
        .map((id) => ({ tokenId: id, logprob: logprobOf(logits[id] as number) }))
        .filter(({ logprob }) => logprob > MIN_LOGPROB),
    }
  }

  #likeliest(logits: Float32Array, scratch: Candidates): number[] {
    if (this.#top === 0) return []
    keepTop(scratch, logits, this.#top)
    const ids = Array.from(scratch.ids.subarray(0, scratch.count))
    return ids.sort((a, b) => (logits[b] as number) - (logits[a] as number) || a - b).slice(0, this.#top)
  }
}

/** The log-softmax of each logit of a row. Differences between logits keep the digits that large logits would cost. */
export function logSoftmaxOf(logits: Float32Array, temperature: number): (logit: number) => number {
  const largest = logits[findLargest(logits)] as number
  const inverse = inverseOf(temperature)
  let sum = 0
  for (let start = 0; start < logits.length; start += SLICE_TOKENS) {
    sum += sumOfExp(logits.subarray(start, start + SLICE_TOKENS), largest, inverse)
  }
  const logSum = Math.log(sum)
  return (logit) => (logit - largest) * inverse - logSum
}

function sumOfExp(logits: Float32Array, largest: number, inverse: number): number {
  let sum = 0
  for (let i = 0; i < logits.length; i++) sum += fastExp(((logits[i] as number) - largest) * inverse)
  return sum
}
