/**
 * The one check whether a model fits into memory, made before anything of it is loaded or quantized. While a model is
 * replaced the old one stays, so both count, and so does the source while new weights are made from it. What loads at
 * the same time is remembered here. The engine asks once more by itself, when it knows the model.
 */
import { createRequire } from 'node:module'
import type { ServerConfig } from '../config/server-config.ts'
import { StartError } from '../core/errors.ts'
import { kvCacheBytes, slotTokens } from '../engines/llamacpp/kv-cache.ts'
import { availableMegabytes, neededMegabytes } from '../engines/llamacpp/memory.ts'
import type { CheckpointOutline } from './checkpoint-outline.ts'

export interface MemoryNeed {
  /** Of one replica. */
  readonly weightBytes: number
  readonly kvCacheBytes: number
  readonly replicas: number
  /** Of the full-precision weights that new ones are made from; 0 where there is nothing to make. */
  readonly sourceBytes: number
}

export function memoryNeed(
  { sizeBytes, maxSeqLen, kvElementsPerToken }: CheckpointOutline,
  { maxBatchSize, kvCacheType, replicas }: Pick<ServerConfig, 'maxBatchSize' | 'kvCacheType' | 'replicas'>,
): MemoryNeed {
  const elements = slotTokens(maxSeqLen) * maxBatchSize * kvElementsPerToken
  return {
    weightBytes: sizeBytes,
    kvCacheBytes: kvCacheBytes(elements, kvCacheType),
    replicas,
    sourceBytes: 0,
  }
}

export function neededBytes({ weightBytes, kvCacheBytes, replicas, sourceBytes }: MemoryNeed): number {
  return sourceBytes + (weightBytes + kvCacheBytes) * replicas
}

export class MemoryFit {
  readonly #readAvailableBytes: () => number
  /** What the loads under way will take. */
  #loadingBytes = 0

  constructor(readAvailableBytes: () => number) {
    this.#readAvailableBytes = readAvailableBytes
  }

  /**
   * Counts what a model will take until the caller disposes it, when the model has loaded. `servingBytes` are the weights
   * of the models that serve: mapped files, which the system counts as available although every step reads them.
   * @throws StartError naming the numbers when what is needed is more than what is there.
   */
  reserve(modelId: string, need: MemoryNeed, servingBytes: number): Disposable {
    const bytes = neededBytes(need)
    const availableBytes = this.#readAvailableBytes()
    const others = { servingBytes, loadingBytes: this.#loadingBytes }
    if (bytes + others.servingBytes + others.loadingBytes > availableBytes)
      throw new StartError(toRefusal({ modelId, need, availableBytes, ...others }), 1)
    this.#loadingBytes += bytes
    return {
      [Symbol.dispose]: () => {
        this.#loadingBytes -= bytes
      },
    }
  }
}

interface Refused {
  readonly modelId: string
  readonly need: MemoryNeed
  readonly availableBytes: number
  readonly servingBytes: number
  readonly loadingBytes: number
}

function toRefusal({ modelId, need, availableBytes, servingBytes, loadingBytes }: Refused): string {
  const { weightBytes, kvCacheBytes, replicas, sourceBytes } = need
  const isQuantizing = sourceBytes > 0
  const each = replicas === 1 ? '' : ` for each of ${replicas} replicas`
  const parts = [
    ...(isQuantizing ? [`${neededMegabytes(sourceBytes)} source`] : []),
    `${neededMegabytes(weightBytes)} ${isQuantizing ? 'new weights' : 'weights'}`,
    `${neededMegabytes(kvCacheBytes)} KV cache${each}`,
  ]
  const others = [
    servingBytes > 0 ? `${neededMegabytes(servingBytes)} for the models that serve` : '',
    loadingBytes > 0 ? `${neededMegabytes(loadingBytes)} for those that load` : '',
  ].filter((part) => part !== '')
  const beside = others.length === 0 ? '' : `, beside ${others.join(' and ')}`
  const instead = isQuantizing ? ', or quantize the checkpoint beforehand (sluice quantize)' : ''
  return (
    `'${modelId}' needs ${neededMegabytes(neededBytes(need))} of memory (${parts.join(', ')})${beside}, ` +
    `but ${availableMegabytes(availableBytes)} is available: lower max_batch_size or max_seq_len${instead}.`
  )
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
