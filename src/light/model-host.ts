/** What the endpoints see of the models: the passthrough model on worker threads, or a checkpoint in its engine process. */
import type { ModelRecord } from '../models/model-record.ts'
import type { Continuation } from './continuation.ts'
import type { GenerateRequest } from './generate-request.ts'

interface GenerateRun {
  readonly requestId: string
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
  /**
   * Calls back when the connection ends, until the function that it gives is called: for those who need no signal, which
   * costs more.
   */
  onLeave(callback: () => void): () => void
}

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
  /** Requests that still run fail with `shutting_down`. */
  close(): Promise<void>
}
