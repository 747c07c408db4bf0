/**
 * What the scheduler drives: a model with a fixed number of slots that computes one planned step at a time.
 * Implemented by llama.cpp and by the passthrough model. Called from the step loop only, never concurrently.
 */
import type { ModelInfo, Prompt, Sampling } from './engine.ts'

/** A sequence takes a slot, whose former sampling state is forgotten: what the runner must know before it runs. */
export interface SlotStart {
  readonly slotId: number
  /** The whole prompt, cached tokens included: the repetition penalty looks at all of it. */
  readonly promptTokenIds: Int32Array
  readonly sampling: Sampling
  /** Tokens at the start of the prompt whose KV cache is kept; the rest of the slot's cache is dropped. */
  readonly cachedTokens: number
  /** Another slot to copy those cached tokens from first; null when they are the slot's own. */
  readonly copyFromSlotId: number | null
}

/** Tokens of one slot to compute in this step, at consecutive positions from `position`. */
export interface SlotRun {
  readonly slotId: number
  readonly position: number
  readonly tokenIds: ArrayLike<number>
  /** True when the next token is to be sampled after the last of these. */
  readonly wantsToken: boolean
}

/** One step, whole: starts are applied in order before the runs are computed together. */
export interface StepPlan {
  readonly starts: readonly SlotStart[]
  readonly runs: readonly SlotRun[]
}

/**
 * The tokens sampled in a step: `tokenIds[i]` belongs to the i-th run that wanted one. Null says that the text
 * ends here without a token for it (a model with an end token samples that instead).
 */
export interface StepOutput {
  readonly tokenIds: ArrayLike<number | null>
}

export interface ModelRunner {
  info(): ModelInfo
  /** Most tokens one `execute` takes. */
  readonly maxStepTokens: number
  /** Whether a slot's KV cache can be cut at any token, so that a prompt's known beginning is kept. */
  readonly canReusePrefixes: boolean
  /** Whether such a beginning can also be copied from another slot. */
  readonly canCopySlots: boolean
  /** Longest text a single token can stand for, in bytes; proves prompts too long without tokenizing them. */
  readonly maxTokenBytes: number
  /** @throws ServiceError `prompt_empty` when there is nothing to begin with. */
  tokenize(prompt: Prompt): Int32Array
  /** The bytes a token stands for in generated text; empty for control tokens. */
  tokenBytes(tokenId: number): Uint8Array
  isEndOfGeneration(tokenId: number): boolean
  /** @throws when the step cannot be computed; the runner is then broken and its process ends. */
  execute(plan: StepPlan): StepOutput
  close(): void
}
