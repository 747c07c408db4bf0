/**
 * What changes a row of logits before a token is chosen from it: logit_bias, repetition penalty, frequency and presence
 * penalty, in this order, which is that of Hugging Face and vLLM. Called by `sampling.ts` for the text of one sequence and by
 * `beam-sampling.ts` for that of each beam.
 * Invariant: a row changes only at tokens that the options name, the prompt or the text holds.
 */
import type { Sampling } from '../../../protocol/engine.ts'

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

export class LogitAdjustments {
  readonly #sampling: Sampling
  /** Tokens of prompt and text; null where no penalty asks for them. */
  readonly #seenTokenIds: Set<number> | null
  /** How often each token stands in the text; null where no penalty asks for it. */
  readonly #textCounts: Map<number, number> | null

  private constructor(
    sampling: Sampling,
    seenTokenIds: Set<number> | null,
    textCounts: Map<number, number> | null,
  ) {
    this.#sampling = sampling
    this.#seenTokenIds = seenTokenIds
    this.#textCounts = textCounts
  }

  /** Null where the options change no logit. */
  static create(sampling: Sampling, promptTokenIds: Int32Array): LogitAdjustments | null {
    const { repetitionPenalty, presencePenalty = 0, frequencyPenalty = 0, logitBias = [] } = sampling
    const looksAtAll = repetitionPenalty !== 1 && repetitionPenalty !== 0
    const looksAtText = presencePenalty !== 0 || frequencyPenalty !== 0
    if (!looksAtAll && !looksAtText && logitBias.length === 0) return null
    return new LogitAdjustments(
      sampling,
      looksAtAll ? new Set(promptTokenIds) : null,
      looksAtText ? new Map() : null,
    )
  }

  /** The same with `tokenIds` added to the text. */
  withText(tokenIds: readonly number[]): LogitAdjustments {
    const copy = new LogitAdjustments(
      this.#sampling,
      this.#seenTokenIds && new Set(this.#seenTokenIds),
      this.#textCounts && new Map(this.#textCounts),
    )
    for (const tokenId of tokenIds) copy.record(tokenId)
    return copy
  }

  /** Takes note of the next token of the text. */
  record(tokenId: number): void {
    this.#seenTokenIds?.add(tokenId)
    this.#textCounts?.set(tokenId, (this.#textCounts.get(tokenId) ?? 0) + 1)
  }

  apply(logits: Float32Array): void {
    const { repetitionPenalty, presencePenalty = 0, frequencyPenalty = 0, logitBias = [] } = this.#sampling
    for (const [tokenId, bias] of logitBias) addTo(logits, tokenId, bias)
    if (this.#seenTokenIds !== null) applyRepetitionPenalty(logits, this.#seenTokenIds, repetitionPenalty)
    for (const [tokenId, count] of this.#textCounts ?? []) {
      addTo(logits, tokenId, -(count * frequencyPenalty + presencePenalty))
    }
  }
}

function addTo(logits: Float32Array, tokenId: number, difference: number): void {
  const logit = logits[tokenId]
  if (logit !== undefined) logits[tokenId] = logit + difference
}
