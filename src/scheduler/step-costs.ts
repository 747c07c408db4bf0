/**
 * Estimates what the streams' tokens and what a prompt token cost in a step, as running averages over the steps before, and
 * from them how many prompt tokens a step may compute beside running streams. The averages follow the model, the machine, the
 * number of streams and the length of their contexts.
 */
import type { StepTimes } from '../protocol/model-runner.ts'
import { TILE_TOKENS } from './slots/slot-runs.ts'

/** Target time of a step while anything streams: at ten tokens a second a reader still keeps up with the text. */
const TARGET_STEP_MS = 100
/** Where the streams' own tokens take longer than half of the target, prompts get as much time as they do. */
const TARGET_DECODES = 2
/** Target beside streams of a higher tier: their texts are finished sooner, and prompts lose little by smaller chunks. */
const TARGET_STEP_MS_BESIDE_HIGHER_TIER = 25
/** Prompt tokens before the first measurement. */
const FIRST_PROMPT_TOKENS = 128
/** Weight of the newest step. */
const NEWEST = 0.3

export class StepCosts {
  #decodeMs: number | null = null
  #promptTokenMs: number | null = null

  /** Records the times of a step and its prompt tokens. */
  observe(promptTokens: number, { decodeMs, promptMs, draft }: StepTimes): void {
    const draftMs = draft === undefined ? 0 : draft.proposalsMs + draft.catchUpMs
    if (decodeMs > 0) this.#decodeMs = mix(this.#decodeMs, decodeMs + draftMs)
    if (promptTokens > 0) this.#promptTokenMs = mix(this.#promptTokenMs, promptMs / promptTokens)
  }

  /** Prompt tokens that a step may compute beside running streams; at least a tile, so that no prompt starves. */
  promptTokensBesideDecodes(): number {
    return this.#promptTokens(TARGET_STEP_MS)
  }

  /** The same for prompts of a lower tier than a stream beside them. */
  promptTokensBesideHigherTier(): number {
    return this.#promptTokens(TARGET_STEP_MS_BESIDE_HIGHER_TIER)
  }

  #promptTokens(targetMs: number): number {
    if (this.#promptTokenMs === null) return FIRST_PROMPT_TOKENS
    const decodeMs = this.#decodeMs ?? 0
    const stepMs = Math.max(targetMs, TARGET_DECODES * decodeMs)
    return Math.max(TILE_TOKENS, Math.floor((stepMs - decodeMs) / this.#promptTokenMs))
  }
}

function mix(average: number | null, newest: number): number {
  return average === null ? newest : average + NEWEST * (newest - average)
}
