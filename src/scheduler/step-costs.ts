/**
 * The cost of a step, estimated from those before it, and how many prompt tokens one may therefore compute beside running
 * streams: what the streams' own tokens take and what a prompt token takes, each a running average. They follow the
 * model, the machine, the number of streams and the length of their contexts.
 */
import type { StepTimes } from '../protocol/model-runner.ts'
import { TILE_TOKENS } from './slot-runs.ts'

/** How long a step may take while anything streams: ten tokens a second are still read as they come. */
const TARGET_STEP_MS = 100
/** Where the streams' own tokens take longer than half of that: prompts get as much of a step as they do. */
const TARGET_DECODES = 2
/** Before anything is known. */
const FIRST_PROMPT_TOKENS = 128
/** Weight of the newest step. */
const NEWEST = 0.3

export class StepCosts {
  #decodeMs: number | null = null
  #promptTokenMs: number | null = null

  /** A step took so long, with so many tokens of prompts in it. */
  observe(promptTokens: number, { decodeMs, promptMs }: StepTimes): void {
    if (decodeMs > 0) this.#decodeMs = mix(this.#decodeMs, decodeMs)
    if (promptTokens > 0) this.#promptTokenMs = mix(this.#promptTokenMs, promptMs / promptTokens)
  }

  /** Prompt tokens that a step may compute beside running streams; some in every step, so that no prompt starves. */
  promptTokensBesideDecodes(): number {
    if (this.#promptTokenMs === null) return FIRST_PROMPT_TOKENS
    const decodeMs = this.#decodeMs ?? 0
    const targetMs = Math.max(TARGET_STEP_MS, TARGET_DECODES * decodeMs)
    return Math.max(TILE_TOKENS, Math.floor((targetMs - decodeMs) / this.#promptTokenMs))
  }
}

function mix(average: number | null, newest: number): number {
  return average === null ? newest : average + NEWEST * (newest - average)
}
