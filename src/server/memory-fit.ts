/**
 * Whether a model fits into memory, decided from its headers before anything of it is loaded. While a model is replaced
 * the old one stays, so both count. The engine asks once more by itself, when it knows the model.
 */
import { createRequire } from 'node:module'
import type { ServerConfig } from '../config/server-config.ts'
import { StartError } from '../core/errors.ts'
import type { CheckpointOutline } from './checkpoint-outline.ts'

/** llama.cpp gives each sequence a multiple of this many tokens. */
const SEQUENCE_TOKENS_UNIT = 256
/** The KV cache is F16. */
const KV_ELEMENT_BYTES = 2

export interface MemoryNeed {
  /** Of one replica. */
  readonly weightBytes: number
  readonly kvCacheBytes: number
  readonly replicas: number
}

export interface MemoryThere {
  readonly availableBytes: number
  /**
   * Weights of the models that serve. They are mapped files, which the system counts as available although every step
   * reads them.
   */
  readonly servingBytes: number
  /** What models that load at the same time will take. */
  readonly loadingBytes: number
}

export function memoryNeed(
  { sizeBytes, maxSeqLen, kvElementsPerToken }: CheckpointOutline,
  { maxBatchSize, replicas }: Pick<ServerConfig, 'maxBatchSize' | 'replicas'>,
): MemoryNeed {
  const slotTokens = Math.ceil(maxSeqLen / SEQUENCE_TOKENS_UNIT) * SEQUENCE_TOKENS_UNIT
  const kvCacheBytes = slotTokens * maxBatchSize * kvElementsPerToken * KV_ELEMENT_BYTES
  return { weightBytes: sizeBytes, kvCacheBytes, replicas }
}

export function neededBytes({ weightBytes, kvCacheBytes, replicas }: MemoryNeed): number {
  return (weightBytes + kvCacheBytes) * replicas
}

/** @throws StartError naming the numbers when what is needed is more than what is there. */
export function checkFit(modelId: string, need: MemoryNeed, there: MemoryThere): void {
  const { availableBytes, servingBytes, loadingBytes } = there
  const needed = neededBytes(need)
  if (needed + servingBytes + loadingBytes <= availableBytes) return
  const parts = `${inGigabytes(need.weightBytes)} weights, ${inGigabytes(need.kvCacheBytes)} KV cache`
  const each = need.replicas === 1 ? '' : ` for each of ${need.replicas} replicas`
  const others = [
    servingBytes > 0 ? `${inGigabytes(servingBytes)} for the models that serve` : '',
    loadingBytes > 0 ? `${inGigabytes(loadingBytes)} for those that load` : '',
  ].filter((part) => part !== '')
  const beside = others.length === 0 ? '' : `, beside ${others.join(' and ')}`
  throw new StartError(
    `'${modelId}' needs ${inGigabytes(needed)} of memory (${parts}${each})${beside}, ` +
      `but ${inGigabytes(availableBytes)} is available: lower max_batch_size or max_seq_len.`,
    1,
  )
}

function inGigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`
}

/** Whether models may go to a GPU: what fits there is for its driver to say. */
export function mayUseGpu({ gpu, gpuLayers }: Pick<ServerConfig, 'gpu' | 'gpuLayers'>): boolean {
  if (gpu === 'off' || gpuLayers === 0) return false
  if (process.platform === 'darwin') return true
  const require = createRequire(import.meta.url)
  const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  return ['cuda', 'vulkan'].some((kind) => {
    try {
      require.resolve(`@node-llama-cpp/${platform}-${kind}`)
      return true
    } catch {
      return false
    }
  })
}
