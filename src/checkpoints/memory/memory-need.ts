/**
 * How much memory a model needs: its weights and KV cache. The server checks it before anything is loaded
 * or quantized, by the headers (`MemoryFit`); the engine process checks again when it knows the model. Linux grants memory
 * that does not exist and kills the process later, so what does not fit is refused before it is allocated.
 */
import { StartError } from '../../core/errors.ts'
import type { EmbeddingInfo } from '../../protocol/model-info.ts'
import type { RunnerOptions } from '../../protocol/runner-options.ts'
import { CELLS_UNIT, kvRoomOf, MAX_DEFAULT_SEQ_LEN, slotTokens } from './kv-room.ts'

/** Tokens that a step computes at once, where one text has no more. */
export const MAX_STEP_TOKENS = 512
/** Numbers that Q8_0 packs together, with one scale. */
export const BLOCK_ELEMENTS = 32
const BLOCK_BYTES: Readonly<Record<RunnerOptions['kvCacheType'], number>> = { f16: 64, q8_0: 34, f32: 128 }
const BYTES_PER_MB = 1_000_000
/** A KV cache that is made smaller for want of memory leaves so much to everything else. */
const LEFT_FREE_BYTES = 512 * 1024 * 1024
/** Of the memory that a model leaves free, for conversations that lose their slot, where no size is configured. */
const PREFIX_CACHE_SHARE = 1 / 4
const MAX_PREFIX_CACHE_BYTES = 2000 * BYTES_PER_MB

export interface MemoryNeed {
  /** Of one replica. */
  readonly weightBytes: number
  /** Of one replica; 0 while the shape of the model is not known. */
  readonly kvCacheBytes: number
  /** Weights and KV cache of one replica's draft model. @default it has none */
  readonly draftBytes?: number
  readonly replicas: number
  /** Host memory for conversations that lost their slot, of all replicas; absent where its size is chosen by what is left. */
  readonly prefixCacheBytes?: number
  /** What is on GPUs and not in these numbers, for a refusal: `12 of 33 layers on CUDA0`. @default nothing */
  readonly onDevices?: string
  /** Of the full-precision weights that new ones are made from; 0 where nothing is quantized. */
  readonly sourceBytes: number
}

interface MemoryInUse {
  readonly availableBytes: number
  /** Weights of the models that serve: mapped files, which the system counts as available. */
  readonly servingBytes: number
  /** What the loads under way will take. */
  readonly loadingBytes: number
}

interface OthersInMemory {
  readonly servingBytes: number
  readonly freedBytes: number
  readonly ignoresLoads: boolean
}

/** Tokens that a text of an embedding model may have: its learned positions end with the context that it was trained for. */
export function embeddedSeqLen(configured: number | null, trainedContext: number | null): number {
  return Math.min(configured ?? MAX_DEFAULT_SEQ_LEN, trainedContext ?? MAX_DEFAULT_SEQ_LEN)
}

/** Tokens that an embedding model computes at once: those of the longest text, or of a batch of short ones. */
export function stepTokens(maxSeqLen: number): number {
  return slotTokens(Math.max(MAX_STEP_TOKENS, maxSeqLen))
}

export function kvCacheBytes(elements: number, kvCacheType: RunnerOptions['kvCacheType']): number {
  return (elements * BLOCK_BYTES[kvCacheType]) / BLOCK_ELEMENTS
}

interface Weights {
  readonly sizeBytes: number
  readonly kvElementsPerToken: number
}

interface Shape extends Weights {
  readonly maxSeqLen: number
  /** Set where texts are computed in one step each, and nothing of them is kept for the next. */
  readonly embedding?: EmbeddingInfo
  /** The model that drafts for it, with as many tokens in its KV cache. @default none */
  readonly draft?: Weights | null
}

export function memoryNeed(
  { sizeBytes, maxSeqLen, kvElementsPerToken, embedding, draft = null }: Shape,
  options: Pick<RunnerOptions, 'maxBatchSize' | 'kvCacheType' | 'kvCacheTokens'> & {
    readonly replicas?: number
    readonly prefixCacheMb?: number | 'auto'
  },
): MemoryNeed {
  const { kvCacheType, replicas = 1, prefixCacheMb = 'auto' } = options
  const isOfFixedSize = prefixCacheMb !== 'auto' && prefixCacheMb > 0 && embedding === undefined
  const tokens = embedding === undefined ? kvRoomOf({ ...options, maxSeqLen }).tokens : stepTokens(maxSeqLen)
  const cacheBytes = (ofModel: Weights) => kvCacheBytes(tokens * ofModel.kvElementsPerToken, kvCacheType)
  return {
    weightBytes: sizeBytes,
    kvCacheBytes: cacheBytes({ sizeBytes, kvElementsPerToken }),
    ...(draft !== null && { draftBytes: draft.sizeBytes + cacheBytes(draft) }),
    replicas,
    ...(isOfFixedSize && { prefixCacheBytes: prefixCacheMb * BYTES_PER_MB }),
    sourceBytes: 0,
  }
}

export function neededBytes(need: MemoryNeed): number {
  const { weightBytes, kvCacheBytes, draftBytes = 0, replicas, prefixCacheBytes = 0, sourceBytes } = need
  return sourceBytes + (weightBytes + kvCacheBytes + draftBytes) * replicas + prefixCacheBytes
}

/**
 * Tokens of a KV cache: those that are configured, or where the default does not fit into memory as many as do, but room for
 * one sequence at least. Null for the default. @param inUse null where the memory that is left is not known
 */
export function fittingKvTokens(
  outline: Shape,
  options: Parameters<typeof memoryNeed>[1],
  inUse: MemoryInUse | null,
): number | null {
  const { kvCacheTokens = null, replicas = 1 } = options
  if (kvCacheTokens !== null || inUse === null || outline.embedding !== undefined) return kvCacheTokens
  const need = memoryNeed(outline, options)
  const { availableBytes, servingBytes, loadingBytes } = inUse
  const missingBytes = neededBytes(need) - (availableBytes - servingBytes - loadingBytes)
  if (missingBytes <= 0 || need.kvCacheBytes === 0) return null
  const draftCacheBytes = (need.draftBytes ?? 0) - (outline.draft?.sizeBytes ?? 0)
  const { tokens } = kvRoomOf({ ...options, maxSeqLen: outline.maxSeqLen })
  const missingTokens =
    ((missingBytes + LEFT_FREE_BYTES) / replicas / (need.kvCacheBytes + draftCacheBytes)) * tokens
  const fitting = Math.floor((tokens - missingTokens) / CELLS_UNIT) * CELLS_UNIT
  return fitting >= outline.maxSeqLen ? fitting : null
}

/** What conversations that lose their slot may take beside a model: what is configured, or a part of what is left free. */
export function prefixCacheBytes(
  prefixCacheMb: number | 'auto',
  need: MemoryNeed,
  { availableBytes, servingBytes, loadingBytes }: MemoryInUse,
): number {
  if (prefixCacheMb !== 'auto') return prefixCacheMb * BYTES_PER_MB
  const freeBytes = availableBytes - servingBytes - loadingBytes - neededBytes(need)
  return Math.floor(Math.min(MAX_PREFIX_CACHE_BYTES, Math.max(0, freeBytes * PREFIX_CACHE_SHARE)))
}

/** @throws StartError with the numbers when more is needed than there is. */
export function checkMemory(model: string, need: MemoryNeed, inUse: MemoryInUse): void {
  const problem = findMemoryProblem(model, need, inUse)
  if (problem !== null) throw new StartError(problem)
}

/** One sentence with the numbers when more is needed than there is; null when it fits. */
export function findMemoryProblem(model: string, need: MemoryNeed, inUse: MemoryInUse): string | null {
  const { availableBytes, servingBytes, loadingBytes } = inUse
  const fits = neededBytes(need) + servingBytes + loadingBytes <= availableBytes
  return fits ? null : toRefusal(model, need, inUse)
}

function toRefusal(model: string, need: MemoryNeed, inUse: MemoryInUse): string {
  const { weightBytes, kvCacheBytes, draftBytes = 0, replicas, prefixCacheBytes = 0, sourceBytes } = need
  const { availableBytes, servingBytes, loadingBytes } = inUse
  const isQuantizing = sourceBytes > 0
  const each = replicas === 1 ? '' : ` for each of ${replicas} replicas`
  const parts = [
    ...(isQuantizing ? [`${neededMegabytes(sourceBytes)} source`] : []),
    `${neededMegabytes(weightBytes)} ${isQuantizing ? 'new weights' : 'weights'}`,
    ...(kvCacheBytes === 0 ? [] : [`${neededMegabytes(kvCacheBytes)} KV cache`]),
    ...(draftBytes === 0 ? [] : [`${neededMegabytes(draftBytes)} draft model`]),
  ]
  const cache = prefixCacheBytes === 0 ? '' : `, ${neededMegabytes(prefixCacheBytes)} prefix cache`
  const others = [
    ...(servingBytes > 0 ? [`${neededMegabytes(servingBytes)} for the models that serve`] : []),
    ...(loadingBytes > 0 ? [`${neededMegabytes(loadingBytes)} for those that load`] : []),
  ]
  const beside = others.length === 0 ? '' : `, beside ${others.join(' and ')}`
  const remedies = [
    ...(kvCacheBytes === 0
      ? []
      : [`lower ${prefixCacheBytes === 0 ? '' : 'prefix_cache_mb, '}kv_cache_tokens or max_seq_len`]),
    ...(isQuantizing ? ['quantize the checkpoint beforehand (sluice quantize)'] : []),
  ]
  const remedy = remedies.length === 0 ? '' : `: ${remedies.join(', or ')}`
  const available = `${Math.floor(availableBytes / BYTES_PER_MB)} MB is available`
  const needed = `'${model}' needs ${neededMegabytes(neededBytes(need))} of memory`
  const away = need.onDevices === undefined ? '' : `, with ${need.onDevices}`
  return `${needed} (${parts.join(', ')}${each}${cache}${away})${beside}, but ${available}${remedy}.`
}

/** In MB (10^6 bytes), rounded so that a refusal never shows less needed than available. */
function neededMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / BYTES_PER_MB)} MB`
}

/**
 * Counts what the loads of this server take together, so that two at the same time do not count the same free memory.
 * While a model is replaced the old one stays, so both count. One for a server; each load holds a reservation until its
 * engine has started.
 */
export class MemoryFit {
  readonly #readAvailableBytes: () => number
  #loadingBytes = 0

  constructor(readAvailableBytes: () => number) {
    this.#readAvailableBytes = readAvailableBytes
  }

  inUse(servingBytes: number): MemoryInUse {
    return { availableBytes: this.#readAvailableBytes(), servingBytes, loadingBytes: this.#loadingBytes }
  }

  /** Whether a model would have room if others gave some back; `ignoresLoads` where what loads now gives back its own, too. */
  fits(need: MemoryNeed, { servingBytes, freedBytes, ignoresLoads }: OthersInMemory): boolean {
    const { availableBytes, loadingBytes } = this.inUse(servingBytes)
    return neededBytes(need) + servingBytes + (ignoresLoads ? 0 : loadingBytes) <= availableBytes + freedBytes
  }

  /**
   * Counts what a model will take until the caller disposes it. `servingBytes` are the weights of the models that serve.
   * @throws StartError with the numbers when more is needed than there is.
   */
  reserve(modelId: string, need: MemoryNeed, servingBytes: number): Disposable {
    checkMemory(modelId, need, this.inUse(servingBytes))
    const bytes = neededBytes(need)
    this.#loadingBytes += bytes
    return {
      [Symbol.dispose]: () => {
        this.#loadingBytes -= bytes
      },
    }
  }
}
