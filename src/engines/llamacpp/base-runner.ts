/**
 * What both runners over llama.cpp have beside their contexts: the weights, the vocabulary, the thread that tokenizes long
 * prompts, and the governor of the compute threads. The runners of generating and of embedding models extend it.
 * Invariant: the weights are freed last, when no thread reads the vocabulary.
 */
import type { TextPrompt } from '../../protocol/engine.ts'
import type { ModelInfo } from '../../protocol/model-info.ts'
import type { Placement } from '../../protocol/compute-device.ts'
import type { LongPrompt, Runner, TokenizingJob } from '../../protocol/model-runner.ts'
import type { RunnerOptions } from '../../protocol/runner-options.ts'
import { availableCores, createSpareCoresMeter } from './threads/cpu-cores.ts'
import type { Bindings } from './ffi/bindings.ts'
import type { Model } from './model.ts'
import { ThreadGovernor } from './threads/thread-governor.ts'
import { TokenizerThread } from './tokenizing/tokenizer-thread.ts'
import { Vocabulary } from './tokenizing/vocabulary.ts'

export interface BaseRunnerOptions extends RunnerOptions {
  readonly maxSeqLen: number
  readonly maxThreads: number
  readonly memoryBytes: number
  /** Absent where no GPU may be used or is there. */
  readonly placement?: Placement
}

export abstract class BaseRunner implements Runner {
  readonly maxTokenBytes: number
  protected readonly vocabulary: Vocabulary
  /** Chooses the threads of a step: on a machine that others use, fewer are faster (decision 0020). */
  protected readonly governor: ThreadGovernor
  readonly #model: Model
  readonly #tokenizerThread: TokenizerThread

  constructor(api: Bindings, model: Model, { modelId, gpu, maxSeqLen, maxThreads }: BaseRunnerOptions) {
    this.#model = model
    this.vocabulary = Vocabulary.read(api, { ...model, modelId })
    this.maxTokenBytes = this.vocabulary.maxTokenBytes
    this.governor = new ThreadGovernor({
      maxThreads,
      spareCores: createSpareCoresMeter(),
      nowMs: () => performance.now(),
    })
    this.#tokenizerThread = new TokenizerThread({ gpu, vocabulary: this.vocabulary.data, maxSeqLen })
  }

  abstract info(): ModelInfo

  shareCores(busyEngines: number): void {
    this.governor.setLimit(Math.floor(availableCores() / busyEngines))
  }

  tokenize(prompt: TextPrompt): Int32Array {
    return this.vocabulary.tokenize(prompt)
  }

  beginTokenizing(prompt: LongPrompt): TokenizingJob {
    return this.#tokenizerThread.begin(prompt)
  }

  close(): void {
    void this.#tokenizerThread.close().then(() => this.#model.close())
  }

  /** The part of its info that both kinds of models have. */
  protected describe({ maxSeqLen, maxThreads, memoryBytes, placement }: BaseRunnerOptions) {
    const { architecture, parameters, sizeBytes, quantization, vocabSize } = this.#model
    const { bosText, eosText, specialTexts } = this.vocabulary
    return {
      ...{ architecture, parameters, sizeBytes, quantization, vocabSize, bosText, eosText, specialTexts },
      ...{ maxSeqLen, threads: maxThreads, memoryBytes, engine: 'llama.cpp' },
      ...(placement !== undefined && { placement }),
      ...(Number.isFinite(this.maxTokenBytes) && { maxTokenBytes: this.maxTokenBytes }),
    }
  }
}
