/** A generation as it leaves the schemas: every field checked, every default applied, nothing of the wire left. */
import type { ChatMessage } from '../models/chat/chat-template.ts'
import type { Sampling } from '../protocol/engine.ts'

export interface GenerationRequest {
  /** Null is the default model. */
  readonly modelId: string | null
  readonly input: GenerationInput
  /** As asked for; the caller's tier may allow fewer. */
  readonly maxNewTokens: number
  readonly sampling: Sampling
  readonly stopStrings: readonly string[]
  readonly numBeams: number
  readonly priority: number
}

export type GenerationInput = PromptsInput | ChatInput

export interface PromptsInput {
  readonly kind: 'prompts'
  readonly prompts: readonly InputText[]
  /**
   * How a batch queues: as one block, accepted or refused whole, or each prompt separately, so that one may be refused
   * and the others run. Null where there is no batch: then a failed sequence fails the request.
   */
  readonly batch: 'block' | 'separate' | null
}

interface ChatInput {
  readonly kind: 'chat'
  readonly messages: readonly ChatMessage[]
}

export interface InputText {
  /** The body's name for it, for messages. */
  readonly name: string
  readonly text: string
}
