/** What the endpoints see of the models: the passthrough model on worker threads, or a checkpoint in its engine process. */
import type { FoldedSequence } from '../generation/sequence-fold.ts'
import type { ModelRecord } from '../models/model-record.ts'
import type { GenerateRequest } from './generate-request.ts'

interface GenerateRun {
  readonly requestId: string
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
  /** Calls back when the connection ends, until the function that it returns is called. A signal costs as much as the rest of a short generation. */
  onLeave(callback: () => void): () => void
}

/** What a prompt came to. */
export type Continuation = Pick<FoldedSequence, 'text' | 'tokenIds' | 'promptTokens' | 'finishReason'>

interface Generated extends Continuation {
  /** The real id, also where the request named an alias. */
  readonly modelId: string
}

export interface ModelHost {
  list(): readonly ModelRecord[]
  /** Null and `default` name the default model. @throws ServiceError `model_not_found`. */
  get(modelId: string | null): ModelRecord
  /** @throws ServiceError when the request is refused or fails, the signal's reason when that aborts. */
  generate(request: GenerateRequest, run: GenerateRun): Promise<Generated>
  close(): Promise<void>
}
