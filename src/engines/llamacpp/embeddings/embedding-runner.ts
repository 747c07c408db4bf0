/**
 * The EmbeddingRunner over llama.cpp: tokenizes, computes batches, normalizes the vectors. The embedding loop of an engine
 * process drives it; it plans nothing.
 * Invariant: a vector has length 1, unless it is a score.
 */
import { availableMemoryBytes } from '../../../checkpoints/memory/available-memory.ts'
import { onHost } from '../../../checkpoints/memory/host-need.ts'
import {
  checkMemory,
  embeddedSeqLen,
  MAX_STEP_TOKENS,
  memoryNeed,
  neededBytes,
} from '../../../checkpoints/memory/memory-need.ts'
import { InvariantError, StartError } from '../../../core/errors.ts'
import type { EmbeddingRunner } from '../../../protocol/embedding-runner.ts'
import type { EmbeddingInfo, ModelInfo, RankedPair } from '../../../protocol/model-info.ts'
import type { LoadProgress, RunnerOptions } from '../../../protocol/runner-options.ts'
import { BaseRunner, type BaseRunnerOptions } from '../base-runner.ts'
import { defaultThreads } from '../threads/cpu-cores.ts'
import { type LoadPlan, loadWithPlan, placementOf } from '../devices/load-plan.ts'
import { type Bindings, loadLlama } from '../ffi/bindings.ts'
import { checkGguf, type GgufSummary } from '../gguf-check.ts'
import { type Model, openModel } from '../model.ts'
import type { Vocabulary } from '../tokenizing/vocabulary.ts'
import { PooledContext } from './pooled-context.ts'

/** Texts of one batch; more of them would not be faster, since a batch of short ones is full of tokens before. */
const MAX_TEXTS = 64
/** Of which llama.cpp makes probabilities of the classes: those of one class would always be 1. */
const JUDGING_ARCHITECTURE = 'qwen3'
/** Qwen3-Reranker's, as llama.cpp's converter names them. */
const JUDGEMENTS = ['yes', 'no']
const WARM_UP_TOKEN_IDS = Int32Array.of(0, 0, 0)

/**
 * Opens an embedding model; the process is blocked while it loads.
 * @throws StartError in one sentence when the file, the libraries or the memory do not allow it.
 */
export async function openEmbeddingRunner(
  options: RunnerOptions,
  onProgress: LoadProgress,
): Promise<EmbeddingRunner> {
  const api = loadLlama(options.gpu)
  const { modelPath, embedding } = options
  if (embedding === undefined) throw new InvariantError(`${modelPath} was not opened as an embedding model.`)
  const summary = checkGguf(api, modelPath)
  const opened = await loadWithPlan(api, options, (plan) =>
    openOnce(api, { options: { ...options, embedding }, summary, plan, onProgress }),
  )
  try {
    return new LlamaEmbeddingRunner(api, opened)
  } catch (error) {
    opened.context.close()
    opened.model.close()
    throw error
  }
}

interface OpenWork {
  readonly options: RunnerOptions & { readonly embedding: EmbeddingInfo }
  readonly summary: GgufSummary
  readonly plan: LoadPlan | null
  readonly onProgress: LoadProgress
}

interface OpenedModel {
  readonly model: Model
  readonly context: PooledContext
  readonly options: LlamaEmbeddingOptions
}

function openOnce(api: Bindings, { options, summary, plan, onProgress }: OpenWork): OpenedModel {
  const { modelPath, embedding } = options
  const { architecture, characterMap, kvElementsPerToken } = summary
  const modelOptions = { ...options, architecture, characterMap, kvElementsPerToken, plan }
  const model = openModel(api, modelOptions, onProgress)
  try {
    const maxSeqLen = embeddedSeqLen(options.maxSeqLen, model.trainContextTokens)
    const need = memoryNeed({ ...model, maxSeqLen, embedding }, options)
    const memory = { availableBytes: availableMemoryBytes(), servingBytes: 0, loadingBytes: 0 }
    checkMemory(modelPath, onHost(need, plan?.plan ?? null), memory)
    const opened: LlamaEmbeddingOptions = {
      ...options,
      embedding: { ...embedding, dimensions: vectorSize(api, model, embedding) },
      maxSeqLen,
      maxThreads: options.threads ?? defaultThreads(model.sizeBytes),
      memoryBytes: neededBytes(need),
      usesGpu: plan !== null && plan.devices.length > 0,
    }
    const context = new PooledContext(api, model, { ...opened, ...opened.embedding, maxTexts: MAX_TEXTS })
    const placement = placementOf(api, plan)
    return { model, context, options: { ...opened, ...(placement !== undefined && { placement }) } }
  } catch (error) {
    model.close()
    throw error
  }
}

/** As llama.cpp computes it. @throws StartError for a classifier whose first output is no score */
function vectorSize(
  api: Bindings,
  { handle, path, architecture }: Model,
  { pooling }: EmbeddingInfo,
): number {
  if (pooling !== 'rank') return api.modelEmbeddingOut(handle)
  const outputs = api.modelClassifierOutputs(handle)
  const judges = architecture === JUDGING_ARCHITECTURE
  const labels = Array.from({ length: outputs }, (_, index) => api.modelClassifierLabel(handle, index))
  if (judges ? labels.join() === JUDGEMENTS.join() : outputs === 1) return outputs
  const why = judges
    ? 'reranking models of its architecture have the classes "yes" and "no"'
    : `it sorts texts into ${outputs} classes, and gives no score`
  throw new StartError(`'${path}' cannot be served: ${why}.`, 1)
}

interface LlamaEmbeddingOptions extends BaseRunnerOptions {
  readonly embedding: EmbeddingInfo
  readonly usesGpu: boolean
}

class LlamaEmbeddingRunner extends BaseRunner implements EmbeddingRunner {
  readonly maxBatchTokens = MAX_STEP_TOKENS
  readonly #options: LlamaEmbeddingOptions
  readonly #context: PooledContext
  readonly #info: ModelInfo

  constructor(api: Bindings, { model, context, options }: OpenedModel) {
    super(api, model, options)
    this.#options = options
    this.#context = context
    this.#info = {
      ...this.describe(options),
      maxBatchSize: MAX_TEXTS,
      embedding: {
        ...options.embedding,
        ...(options.embedding.pooling === 'rank' && { pair: rankedPair(api, model, this.vocabulary) }),
      },
      chatTemplate: null,
    }
    // So that the first request does not wait for the weights' pages.
    this.execute([WARM_UP_TOKEN_IDS])
  }

  info(): ModelInfo {
    return this.#info
  }

  execute(texts: readonly Int32Array[]): readonly Float32Array[] {
    const startedMs = performance.now()
    const vectors = this.#context.compute(texts, this.governor.threads)
    this.#observe(texts, performance.now() - startedMs)
    if (this.#options.embedding.pooling !== 'rank') for (const vector of vectors) normalize(vector)
    return vectors
  }

  /** As a batch of the next power of two: only steps of the same work are compared, and hardly two batches are alike. */
  #observe(texts: readonly Int32Array[], ms: number): void {
    const tokens = texts.reduce((sum, { length }) => sum + length, 0)
    const rows = 2 ** Math.round(Math.log2(tokens))
    this.governor.observe({ rows, contextTokens: rows }, (ms * rows) / tokens)
  }

  override close(): void {
    this.#context.close()
    super.close()
  }
}

/** As llama-server: by the model's template for it, or with what its tokenizer puts between two texts. */
function rankedPair(api: Bindings, model: Model, { pairSeparator }: Vocabulary): RankedPair {
  const { handle, architecture } = model
  const output = { ...(architecture === JUDGING_ARCHITECTURE && { isProbability: true }) }
  const template = api.modelChatTemplate(handle, 'rerank')
  const [, before = '', between = '', after = ''] =
    /^([^]*)\{query\}([^]*)\{document\}([^]*)$/.exec(template ?? '') ?? []
  if (between !== '') return { before, between, after, addSpecial: false, ...output }
  return { before: '', between: pairSeparator, after: '', addSpecial: true, ...output }
}

/** In place. A vector of zeros stays one. */
function normalize(vector: Float32Array): void {
  let sum = 0
  for (const value of vector) sum += value * value
  if (sum === 0) return
  const factor = 1 / Math.sqrt(sum)
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) * factor
}
