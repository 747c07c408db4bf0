/**
 * What the sequence of each slot samples with: its sampler, its log probabilities where it asked for them, the mask of its
 * constraint. Owned by the runner; called from the step loop, once for each token.
 * Invariant: a token comes from the slot's own sequence, which `start` has set.
 */
import { InvariantError } from '../../../core/errors.ts'
import type { SampledLogprob, SlotStart } from '../../../protocol/model-runner.ts'
import type { GrammarPool } from '../../constraints/grammar-pool.ts'
import { createCandidates, type Candidates } from '../sampling/candidates.ts'
import { lateTokensOf } from '../sampling/logit-adjustments.ts'
import { LogprobMeter } from '../sampling/logprobs.ts'
import { Sampler } from '../sampling/sampling.ts'
import { TokenMask } from '../sampling/token-mask.ts'

interface SlotSamplingOptions {
  readonly vocabSize: number
  readonly endTokenIds: readonly number[]
  readonly constraints: Pick<GrammarPool, 'start'>
}

interface SlotState {
  readonly sampler: Sampler
  readonly meter: LogprobMeter | null
  readonly mask: TokenMask | null
}

export class SlotSampling {
  readonly scratch: Candidates
  readonly #options: SlotSamplingOptions
  /** By slot; those of finished sequences too. */
  readonly #states = new Map<number, SlotState>()

  constructor(options: SlotSamplingOptions) {
    this.#options = options
    this.scratch = createCandidates(options.vocabSize)
  }

  /** Whether any slot's tokens come with their log probabilities. */
  get hasLogprobs(): boolean {
    return [...this.#states.values()].some(({ meter }) => meter !== null)
  }

  start(start: SlotStart): void {
    const { slotId, promptTokenIds, newTokenIds, sampling, endRules, topLogprobs, matcherId } = start
    const { constraints, endTokenIds } = this.#options
    const sampler = new Sampler(sampling, promptTokenIds, lateTokensOf(endRules, endTokenIds))
    this.#states.set(slotId, {
      sampler: newTokenIds === undefined ? sampler : sampler.resume(newTokenIds),
      meter: topLogprobs === undefined ? null : new LogprobMeter(topLogprobs, sampling.temperature),
      mask: matcherId === undefined ? null : new TokenMask(constraints.start(matcherId)),
    })
  }

  /** Whether the draws of its sequence can be repeated. */
  isSeeded(slotId: number): boolean {
    return this.#states.get(slotId)?.sampler.isSeeded === true
  }

  /** What comes next; adds a token's log probability where its sequence asks for them. */
  sample(slotId: number, logits: Float32Array | undefined, logprobs: SampledLogprob[]): number | null {
    const state = this.#states.get(slotId)
    if (state === undefined || logits === undefined) {
      throw new InvariantError(`Slot ${slotId} wants a token but has no sequence.`)
    }
    const { sampler, meter, mask } = state
    const masked = mask?.apply(logits) ?? null
    if (masked !== null) return masked.instead
    const tokenId = sampler.sample(logits, this.scratch)
    mask?.record(tokenId)
    if (meter !== null) logprobs.push(meter.measure(logits, tokenId, this.scratch))
    return tokenId
  }
}
