/**
 * What the embedding loop drives: a model that makes one vector of each text, many texts at once and none of them in more than
 * one step. Implemented by llama.cpp. Called from the loop only, never concurrently.
 */
import type { ModelInfo, TextPrompt } from './engine.ts'
import type { LongPrompt, ModelRunner, TokenizingJob } from './model-runner.ts'

export interface EmbeddingRunner {
  /** Its `maxBatchSize` is the most texts of one batch. */
  info(): ModelInfo
  /** Tokens of a batch of several texts; one text may have as many as `info().maxSeqLen`. */
  readonly maxBatchTokens: number
  /** As `ModelRunner.maxTokenBytes`. */
  readonly maxTokenBytes: number
  /** As `ModelRunner.shareCores`. */
  shareCores?(busyEngines: number): void
  /** @throws ServiceError `prompt_empty` for a text without tokens. */
  tokenize(prompt: TextPrompt): Int32Array
  /** As `ModelRunner.beginTokenizing`. */
  beginTokenizing(prompt: LongPrompt): TokenizingJob
  /**
   * One vector for each text, in their order; views that are valid until the next call.
   * @throws when the batch cannot be computed; the runner is then broken and its process ends.
   */
  execute(texts: readonly Int32Array[]): readonly Float32Array[]
  close(): void
}

export function isEmbeddingRunner(runner: ModelRunner | EmbeddingRunner): runner is EmbeddingRunner {
  return runner.info().embedding !== undefined
}
