/**
 * What changes a row of logits before a token is chosen from it: logit_bias, repetition penalty, frequency and presence
 * penalty, in this order, which is that of Hugging Face and vLLM; then the tokens that may not come yet. Called by `sampling.ts` for the text of one sequence and by
 * `beam-sampling.ts` for that of each beam.
 * Invariant: a row changes only at tokens that the options name, the prompt or the text holds.
 */
import type { EndRules, Sampling } from '../../../protocol/engine.ts'

/** The largest finite float. */
const MAX_LOGIT = 3.4028234663852886e38

/** Makes the tokens seen so far less likely, as Hugging Face does: positive logits shrink, negative ones grow. */
export function applyRepetitionPenalty(logits: Float32Array, seen: Iterable<number>, penalty: number): void {
  for (const tokenId of seen) {
    const logit = logits[tokenId]
    // What a constraint forbids stays forbidden.
    if (logit === undefined || logit === Number.NEGATIVE_INFINITY) continue
    const penalized = logit < 0 ? logit * penalty : logit / penalty
    // A penalty near 0 would leave the range of a float, and the logits would look broken.
    logits[tokenId] = Math.min(Math.max(penalized, -MAX_LOGIT), MAX_LOGIT)
  }
}

/** Tokens that are not to be chosen among the first `places` of a text. */
export interface LateTokens {
  readonly tokenIds: readonly number[]
  readonly places: number
}

/** What may not end a text yet; null where it may end at any token. @param endTokenIds the model's own */
export function lateTokensOf(rules: EndRules | undefined, endTokenIds: readonly number[]): LateTokens | null {
  if (rules === undefined || rules.minTokens === 0) return null
  const ownTokenIds = rules.ignoresEndTokens ? [] : endTokenIds
  return { tokenIds: [...rules.stopTokenIds, ...ownTokenIds], places: rules.minTokens }
}

export interface AdjustmentOptions {
  readonly sampling: Sampling
  /** @default none */
  readonly lateTokens?: LateTokens | null
}

export class LogitAdjustments {
  readonly #options: AdjustmentOptions
  /** Tokens of prompt and text; null where no penalty asks for them. */
  readonly #seenTokenIds: Set<number> | null
  /** How often each token stands in the text; null where no penalty asks for it. */
  readonly #textCounts: Map<number, number> | null
  #textLength = 0

  private constructor(
    options: AdjustmentOptions,
    seenTokenIds: Set<number> | null,
    textCounts: Map<number, number> | null,
  ) {
    this.#options = options
    this.#seenTokenIds = seenTokenIds
    this.#textCounts = textCounts
  }

  /** Null where the options change no logit. */
  static create(options: AdjustmentOptions, promptTokenIds: Int32Array): LogitAdjustments | null {
    const { sampling, lateTokens = null } = options
    const { repetitionPenalty, presencePenalty = 0, frequencyPenalty = 0, logitBias = [] } = sampling
    const looksAtAll = repetitionPenalty !== 1 && repetitionPenalty !== 0
    const looksAtText = presencePenalty !== 0 || frequencyPenalty !== 0
    if (!looksAtAll && !looksAtText && logitBias.length === 0 && lateTokens === null) return null
    return new LogitAdjustments(
      options,
      looksAtAll ? new Set(promptTokenIds) : null,
      looksAtText ? new Map() : null,
    )
  }

  /** The same with `tokenIds` added to the text. */
  withText(tokenIds: readonly number[]): LogitAdjustments {
    const copy = new LogitAdjustments(
      this.#options,
      this.#seenTokenIds && new Set(this.#seenTokenIds),
      this.#textCounts && new Map(this.#textCounts),
    )
    copy.#textLength = this.#textLength
    for (const tokenId of tokenIds) copy.record(tokenId)
    return copy
  }

  /** Takes note of the next token of the text. */
  record(tokenId: number): void {
    this.#textLength++
    this.#seenTokenIds?.add(tokenId)
    this.#textCounts?.set(tokenId, (this.#textCounts.get(tokenId) ?? 0) + 1)
  }

  apply(logits: Float32Array): void {
    const { sampling, lateTokens } = this.#options
    const { repetitionPenalty, presencePenalty = 0, frequencyPenalty = 0, logitBias = [] } = sampling
    for (const [tokenId, bias] of logitBias) addTo(logits, tokenId, bias)
    if (this.#seenTokenIds !== null) applyRepetitionPenalty(logits, this.#seenTokenIds, repetitionPenalty)
    for (const [tokenId, count] of this.#textCounts ?? []) {
      addTo(logits, tokenId, -(count * frequencyPenalty + presencePenalty))
    }
    if (lateTokens && this.#textLength < lateTokens.places) ban(logits, lateTokens.tokenIds)
  }
}

function addTo(logits: Float32Array, tokenId: number, difference: number): void {
  const logit = logits[tokenId]
  if (logit !== undefined) logits[tokenId] = logit + difference
}

/** Finite, because logits of nothing but minus infinity cannot be chosen from: a constraint may allow nothing else. */
function ban(logits: Float32Array, tokenIds: readonly number[]): void {
  for (const tokenId of tokenIds) {
    if (tokenId < logits.length) logits[tokenId] = Math.min(logits[tokenId] as number, -MAX_LOGIT)
  }
}
