/**
 * A llama.cpp context of a model: its KV cache, one stream per slot or one that all share, the batch, the compute threads
 * and the logits of the last step. It knows slots and tokens, not sequences, sampling or text. Called from the step loop only.
 */
import { InvariantError, StartError } from '../../core/errors.ts'
import type { SlotRun } from '../../protocol/model-runner.ts'
import type { RunnerOptions } from '../../protocol/runner-options.ts'
import type { ActiveAdapter } from './lora/adapters.ts'
import { Batch } from './batch.ts'
import { NativeLoadError } from './devices/load-plan.ts'
import { type Bindings, viewFloat32 } from './ffi/bindings.ts'
import { slotTokens } from '../../checkpoints/memory/kv-room.ts'
import { MAX_STEP_TOKENS } from '../../checkpoints/memory/memory-need.ts'
import type { Model } from './model.ts'
import { StepWatch } from './threads/step-watch.ts'
import type { ContextParams, NativeBatch, Pointer } from './ffi/structs.ts'

const GGML_TYPES = { f32: 0, f16: 1, q8_0: 8 } as const
const TO_THE_END = -1
/** What `llama_decode` returns. */
const DECODED = 0
const BROKEN_OFF = 2
/** Flags of a copy: every layer, in this machine's memory. */
const WHOLE_STATE = 0
/**
 * `LLAMA_FLASH_ATTN_TYPE_...`. In half precision, which flash attention computes in, it is off by 3e-3 in a logit of a
 * cache of F32, against 1e-5 without it. Values in Q8_0 can be read by nothing else.
 */
const FLASH_ATTENTION = { f32: 0, f16: -1, q8_0: 1 } as const

export interface ContextOptions extends Pick<RunnerOptions, 'maxBatchSize' | 'kvCacheType'> {
  readonly usesGpu: boolean
  readonly maxSeqLen: number
  /** Compute threads; a step may use fewer. */
  readonly maxThreads: number
  /** Guessed tokens of one step, after each of which logits may be wanted. @default 0 */
  readonly maxDraftTokens?: number
  /** Computes with the threads of this context, which is closed later, instead of its own. @default null */
  readonly threadsOf?: Context | null
  /** Tokens of one KV cache that all slots share, where a copy costs nothing; null gives each slot its own. */
  readonly sharedTokens: number | null
}

export class Context {
  readonly maxStepTokens: number
  readonly #api: Bindings
  readonly #context: Pointer
  readonly #memory: Pointer
  readonly #threadpool: Pointer
  readonly #ownsThreads: boolean
  readonly #batch: Batch
  readonly #vocabSize: number
  readonly #maxThreads: number
  /** Of the last step. */
  #threads: number
  /** What decodes are for; null for the model's own weights. */
  #adapter: ActiveAdapter | null = null
  /** Whether the next decode plans its memory anew, and would say so in a dozen lines. */
  #isReplanned = false
  /** Rows of logits that there is always room for; llama.cpp makes more room when a step wants more. */
  readonly #leastRows: number
  /** Rows of logits that the last step wanted. */
  #wantedRows = 0
  #logitsAddress: Pointer | null = null
  #logitsRows: readonly Float32Array[] = []
  /** Null before the first step that may be broken off. */
  #watch: StepWatch | null = null

  /** @throws StartError where there is no room for it */
  static open(api: Bindings, model: Model, options: ContextOptions): Context {
    const native = api.contextInit(model.handle, contextParams(api, options))
    return new Context(api, model, { ...options, native })
  }

  /** The same, while other contexts of the model go on. */
  static async openAsync(api: Bindings, model: Model, options: ContextOptions): Promise<Context> {
    const native = await api.contextInitAsync(model.handle, contextParams(api, options))
    return new Context(api, model, { ...options, native })
  }

  private constructor(api: Bindings, model: Model, options: ContextOptions & { native: Pointer | null }) {
    if (options.native === null) throw noRoom(model, options)
    this.#api = api
    this.#leastRows = options.maxBatchSize
    this.maxStepTokens = maxStepTokensOf(options)
    this.#vocabSize = model.vocabSize
    this.#context = options.native
    const memory = api.contextMemory(this.#context)
    if (memory === null) {
      api.contextFree(this.#context)
      throw new StartError(`'${model.path}' cannot generate text: it keeps no KV cache.`, 1)
    }
    this.#memory = memory
    const { threadsOf = null } = options
    this.#ownsThreads = threadsOf === null
    this.#threadpool = threadsOf === null ? api.createThreadpool(options.maxThreads) : threadsOf.#threadpool
    this.#maxThreads = options.maxThreads
    this.#threads = options.maxThreads
    api.attachThreadpool(this.#context, this.#threadpool, this.#threadpool)
    this.#batch = new Batch(api, this.maxStepTokens)
  }

  /** Drops a slot's KV cache from a position on; false where the model's cache cannot be cut there. */
  trimSlot(slotId: number, fromPosition: number): boolean {
    return this.#api.memorySeqRm(this.#memory, slotId, fromPosition, TO_THE_END)
  }

  /**
   * Copies a slot's whole KV cache over another's: between streams llama.cpp copies all of it or aborts; in a shared
   * one it only notes that the cells are the other's too, which must hold nothing.
   */
  copySlot(fromSlotId: number, toSlotId: number): void {
    this.#api.memorySeqCp(this.#memory, fromSlotId, toSlotId, TO_THE_END, TO_THE_END)
  }

  /** Bytes of a copy of what a slot holds. */
  slotBytes(slotId: number): number {
    return this.#api.stateSeqSize(this.#context, slotId, WHOLE_STATE)
  }

  /** Copies what a slot holds into native memory of that many bytes. @throws InvariantError when they are not enough */
  saveSlot(slotId: number, target: Pointer, bytes: number): void {
    const written = this.#api.stateSeqGet(this.#context, target, bytes, slotId, WHOLE_STATE)
    if (written !== bytes)
      throw new InvariantError(`Slot ${slotId} was copied to ${written} of ${bytes} bytes.`)
  }

  /** Puts a copy in the place of what a slot holds. @throws InvariantError when it does not fit */
  restoreSlot(slotId: number, source: Pointer, bytes: number): void {
    const read = this.#api.stateSeqSet(this.#context, source, bytes, slotId, WHOLE_STATE)
    if (read !== bytes) throw new InvariantError(`Slot ${slotId} took ${read} of ${bytes} bytes of a copy.`)
  }

  /** Every decode from now on is computed with this adapter; null is the model's own weights. A change costs a few milliseconds. */
  useAdapter(adapter: ActiveAdapter | null): void {
    if (adapter === this.#adapter) return
    const handles = BigUint64Array.from(adapter === null ? [] : [adapter.handle])
    const scales = Float32Array.from(adapter === null ? [] : [adapter.scale])
    this.#api.setAdapters(this.#context, handles, handles.length, scales)
    this.#adapter = adapter
    this.#isReplanned = true
  }

  /** What decodes are computed with now. */
  get adapter(): ActiveAdapter | null {
    return this.#adapter
  }

  clear(): void {
    this.#api.memoryClear(this.#memory, false)
  }

  /** Computes the runs of a step. @throws InvariantError when it fails; the cache's state is then unknown. */
  decode(runs: readonly SlotRun[], threads = this.#maxThreads): void {
    const batch = this.#fill(runs, threads)
    const isSilent = this.#isReplanned
    this.#isReplanned = false
    const run = () => this.#api.decode(this.#context, batch)
    requireDecoded(isSilent ? this.#api.silently(run) : run())
  }

  /**
   * The same, unless it takes longer than `patienceMs`: then false, and the cache is as before. For models whose cache can be cut.
   */
  decodeWithin(patienceMs: number, runs: readonly SlotRun[], threads: number): boolean {
    if (patienceMs === Number.POSITIVE_INFINITY) {
      this.decode(runs, threads)
      return true
    }
    this.#watch ??= this.#openWatch()
    const batch = this.#fill(runs, threads)
    this.#isReplanned = false
    // It would say that it takes the step's tokens out again.
    const decode = () => this.#api.silently(() => this.#api.decode(this.#context, batch))
    const status = this.#watch.run(patienceMs, decode)
    if (status !== BROKEN_OFF) {
      requireDecoded(status)
      return true
    }
    // Slots that do not lie side by side are computed one after the other, and those that were done are kept.
    for (const { slotId, position } of runs) this.trimSlot(slotId, position)
    return false
  }

  #fill(runs: readonly SlotRun[], threads: number): NativeBatch {
    if (threads !== this.#threads) {
      this.#api.setThreads(this.#context, threads, threads)
      this.#threads = threads
    }
    this.#wantedRows = runs.reduce(countRows, 0)
    return this.#batch.fill(runs)
  }

  #openWatch(): StepWatch {
    const watch = new StepWatch()
    this.#api.setFlagToEnd(this.#context, watch.flag)
    return watch
  }

  /**
   * Logits after the runs that wanted a token, in their order, a row more for each guess: views of native memory, valid
   * until the next decode.
   */
  logits(): readonly Float32Array[] {
    const address = this.#api.logits(this.#context)
    if (address === null) throw new InvariantError('llama.cpp gave no logits.')
    const rows = Math.max(this.#leastRows, this.#wantedRows)
    if (address !== this.#logitsAddress || rows > this.#logitsRows.length) {
      const all = viewFloat32(address, rows * this.#vocabSize)
      this.#logitsAddress = address
      this.#logitsRows = Array.from({ length: rows }, (_, row) =>
        all.subarray(row * this.#vocabSize, (row + 1) * this.#vocabSize),
      )
    }
    return this.#logitsRows
  }

  close(): void {
    this.#watch?.close()
    this.#batch.close()
    this.#api.contextFree(this.#context)
    if (this.#ownsThreads) this.#api.freeThreadpool(this.#threadpool)
  }
}

function requireDecoded(status: number): void {
  if (status !== DECODED) throw new InvariantError(`llama_decode failed with status ${status}.`)
}

function countRows(rows: number, { wantsToken, draftTokens = 0 }: SlotRun): number {
  return wantsToken ? rows + 1 + draftTokens : rows
}

function maxStepTokensOf({ maxBatchSize }: ContextOptions): number {
  return Math.max(MAX_STEP_TOKENS, maxBatchSize)
}

function contextParams(api: Bindings, options: ContextOptions): ContextParams {
  const type = GGML_TYPES[options.kvCacheType]
  return {
    ...api.contextDefaultParams(),
    n_ctx: options.sharedTokens ?? slotTokens(options.maxSeqLen) * options.maxBatchSize,
    n_batch: maxStepTokensOf(options),
    n_ubatch: MAX_STEP_TOKENS,
    n_seq_max: options.maxBatchSize,
    // Buffers for more would only take memory.
    n_outputs_max: options.maxBatchSize + (options.maxDraftTokens ?? 0),
    n_threads: options.maxThreads,
    n_threads_batch: options.maxThreads,
    type_k: type,
    type_v: type,
    flash_attn_type: FLASH_ATTENTION[options.kvCacheType],
    offload_kqv: options.usesGpu,
    op_offload: options.usesGpu,
    no_perf: true,
    // A full-size cache for sliding windows too, so that every slot can be cut back to a prefix.
    swa_full: true,
    // A stream for each slot is faster: attention in a shared cache looks at the cells of all (decision 0034).
    kv_unified: options.sharedTokens !== null,
  }
}

function noRoom(model: Model, { maxBatchSize, maxSeqLen, sharedTokens }: ContextOptions): StartError {
  const isShared = sharedTokens !== null
  const room = isShared ? `${sharedTokens} tokens` : `${maxBatchSize} sequences of ${maxSeqLen} tokens`
  const remedy = isShared ? 'kv_cache_tokens' : 'max_batch_size or max_seq_len'
  return new NativeLoadError(`llama.cpp cannot make room for ${room} of '${model.path}': lower ${remedy}.`, 1)
}
