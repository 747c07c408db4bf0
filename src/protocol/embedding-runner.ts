/**
 * What the embedding loop drives: a model that makes one vector of each text, many texts at once and none of them in more than
 * one step. Implemented by llama.cpp. Called from the loop only, never concurrently.
 */
import type { ModelRunner, Runner } from './model-runner.ts'

/** Its `info().maxBatchSize` is the most texts of one batch. */
export interface EmbeddingRunner extends Runner {
  /** Tokens of a batch of several texts; one text may have as many as `info().maxSeqLen`. */
  readonly maxBatchTokens: number
  /**
   * One vector for each text, in their order; views that are valid until the next call.
   * @throws when the batch cannot be computed; the runner is then broken and its process ends.
   */
  execute(texts: readonly Int32Array[]): readonly Float32Array[]
}

export function isEmbeddingRunner(runner: ModelRunner | EmbeddingRunner): runner is EmbeddingRunner {
  return runner.info().embedding !== undefined
}
