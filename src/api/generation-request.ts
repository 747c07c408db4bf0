/** A generation as it leaves the schemas: every field checked, every default applied, nothing of the wire left. */
import type { Sampling } from '../protocol/engine.ts'

export interface GenerationRequest {
  /** Null is the default model. */
  readonly modelId: string | null
  /** With the body's name for it, for messages. */
  readonly maxNewTokens: { readonly param: 'max_new_tokens' | 'max_tokens'; readonly value: number }
  readonly sampling: Sampling
  readonly stopStrings: readonly string[]
  readonly numBeams: number
  readonly priority: number
  /** What the operator told the model, which it must not say again at length. */
  readonly systemMessages: readonly string[]
}
