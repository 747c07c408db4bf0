/**
 * A llama.cpp context that makes one vector of each text: an encoder's, which keeps nothing, or a decoder's, whose KV cache is
 * emptied for each batch. It knows tokens, not texts. Called by the runner only.
 */
import { poolingTypeId } from '../../../checkpoints/gguf/embedding-model.ts'
import { stepTokens } from '../../../checkpoints/memory/memory-need.ts'
import { InvariantError } from '../../../core/errors.ts'
import type { Pooling } from '../../../protocol/model-info.ts'
import { Batch } from '../batch.ts'
import { NativeLoadError } from '../devices/load-plan.ts'
import { type Bindings, viewFloat32 } from '../ffi/bindings.ts'
import type { Pointer } from '../ffi/structs.ts'
import type { Model } from '../model.ts'

/** `LLAMA_FLASH_ATTN_TYPE_AUTO` */
const FLASH_ATTENTION_AUTO = -1
/** On a CPU llama.cpp's flash attention computes batches of at least so many tokens in tiles, and smaller ones token by token. */
const TILED_TOKENS = 64
/** From here on a batch is computed faster with a text behind it that fills it up to `TILED_TOKENS`. */
const FILLED_FROM_TOKENS = 40
const FILLER_TOKEN_ID = 0

export interface PooledContextOptions {
  readonly maxSeqLen: number
  /** Texts of one batch. */
  readonly maxTexts: number
  readonly maxThreads: number
  readonly pooling: Pooling
  /** Numbers of a vector. */
  readonly dimensions: number
  readonly usesGpu: boolean
}

export class PooledContext {
  readonly #api: Bindings
  readonly #options: PooledContextOptions
  readonly #context: Pointer
  /** Null for an encoder. */
  readonly #memory: Pointer | null
  readonly #threadpool: Pointer
  readonly #batch: Batch
  /** Of the last step. */
  #threads: number

  constructor(api: Bindings, model: Model, options: PooledContextOptions) {
    this.#api = api
    this.#options = options
    this.#context = createContext(api, model, options)
    this.#memory = api.contextMemory(this.#context)
    this.#threadpool = api.createThreadpool(options.maxThreads)
    this.#threads = options.maxThreads
    api.attachThreadpool(this.#context, this.#threadpool, this.#threadpool)
    this.#batch = new Batch(api, stepTokens(options.maxSeqLen))
  }

  /** A vector for each text, in their order: views of native memory, valid until the next call. */
  compute(texts: readonly Int32Array[], threads: number): readonly Float32Array[] {
    if (threads !== this.#threads) {
      this.#api.setThreads(this.#context, threads, threads)
      this.#threads = threads
    }
    const runs = texts.map((tokenIds, slotId) => ({ slotId, position: 0, tokenIds, wantsToken: true }))
    const filler = this.#options.usesGpu ? 0 : fillerTokens(texts)
    if (filler > 0) {
      const tokenIds = new Int32Array(filler).fill(FILLER_TOKEN_ID)
      runs.push({ slotId: texts.length, position: 0, tokenIds, wantsToken: true })
    }
    const batch = this.#batch.fillPooled(runs)
    if (this.#memory !== null) this.#api.memoryClear(this.#memory, false)
    const compute = this.#memory === null ? this.#api.encode : this.#api.decode
    const status = compute(this.#context, batch)
    if (status !== 0) throw new InvariantError(`llama.cpp failed with status ${status}.`)
    return texts.map((_, index) => this.#vector(index))
  }

  close(): void {
    this.#batch.close()
    this.#api.contextFree(this.#context)
    this.#api.freeThreadpool(this.#threadpool)
  }

  #vector(index: number): Float32Array {
    const address = this.#api.pooledVector(this.#context, index)
    if (address === null) throw new InvariantError('llama.cpp gave no vector.')
    return viewFloat32(address, this.#options.dimensions)
  }
}

/** Texts do not see each other, so that one more changes no vector. */
function fillerTokens(texts: readonly Int32Array[]): number {
  const tokens = texts.reduce((sum, { length }) => sum + length, 0)
  return tokens >= FILLED_FROM_TOKENS && tokens < TILED_TOKENS ? TILED_TOKENS - tokens : 0
}

function createContext(api: Bindings, model: Model, options: PooledContextOptions): Pointer {
  const tokens = stepTokens(options.maxSeqLen)
  const context = api.contextInit(model.handle, {
    ...api.contextDefaultParams(),
    n_ctx: tokens,
    n_batch: tokens,
    // A text must be computed whole: each token looks at those behind it too.
    n_ubatch: tokens,
    n_seq_max: options.maxTexts,
    n_threads: options.maxThreads,
    n_threads_batch: options.maxThreads,
    pooling_type: poolingTypeId(options.pooling),
    flash_attn_type: FLASH_ATTENTION_AUTO,
    embeddings: true,
    offload_kqv: options.usesGpu,
    op_offload: options.usesGpu,
    no_perf: true,
    kv_unified: true,
  })
  if (context !== null) return context
  throw new NativeLoadError(
    `llama.cpp cannot make room for texts of ${options.maxSeqLen} tokens of '${model.path}': lower max_seq_len.`,
    1,
  )
}
