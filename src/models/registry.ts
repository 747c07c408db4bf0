/** Placeholder of the types that `api/` builds against; the registry itself follows in the next commit. */
import type { Engine, ModelInfo, Prompt } from '../protocol/engine.ts'

export type ModelState = 'loading' | 'ready' | 'draining' | 'failed'

/** A model as `/v1/models` shows it. */
export interface ModelRecord {
  readonly id: string
  readonly createdUnixSeconds: number
  readonly state: ModelState
  /** 0 to 1 while loading. */
  readonly loadFraction: number
  /** Why it failed, one sentence. */
  readonly failure: string | null
  /** Null until the first load has finished. */
  readonly info: ModelInfo | null
}

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/** A request's hold on a loaded model. The holder disposes it; a swap waits until every lease is gone. */
export interface ModelLease extends Disposable {
  readonly modelId: string
  readonly engine: Engine
  readonly info: ModelInfo
  /** @throws ServiceError `chat_template_failed` when the model's template refuses the messages. */
  renderChat(messages: readonly ChatMessage[]): Prompt
}

export interface ModelRegistry {
  list(): readonly ModelRecord[]
  /** `null` and `default` name the default model. @throws ServiceError `model_not_found`. */
  get(modelId: string | null): ModelRecord
  /**
   * Waits for a first load that is under way.
   * @throws ServiceError `model_not_found`, `model_loading_failed`, `queue_full`.
   */
  acquire(modelId: string | null, signal: AbortSignal): Promise<ModelLease>
}
