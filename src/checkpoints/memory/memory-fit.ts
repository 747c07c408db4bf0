/**
 * What the loads of this server take together, so that two at the same time do not count the same free memory. While a
 * model is replaced the old one stays, so both count. One for a server; each load holds a reservation until its engine
 * has started.
 */
import { createRequire } from 'node:module'
import type { RunnerOptions } from '../../protocol/runner-options.ts'
import { checkMemory, type MemoryNeed, neededBytes } from './memory-need.ts'

export class MemoryFit {
  readonly #readAvailableBytes: () => number
  #loadingBytes = 0

  constructor(readAvailableBytes: () => number) {
    this.#readAvailableBytes = readAvailableBytes
  }

  /**
   * Counts what a model will take until the caller disposes it. `servingBytes` are the weights of the models that serve.
   * @throws StartError with the numbers when more is needed than there is.
   */
  reserve(modelId: string, need: MemoryNeed, servingBytes: number): Disposable {
    const availableBytes = this.#readAvailableBytes()
    checkMemory(modelId, need, { availableBytes, servingBytes, loadingBytes: this.#loadingBytes })
    const bytes = neededBytes(need)
    this.#loadingBytes += bytes
    return {
      [Symbol.dispose]: () => {
        this.#loadingBytes -= bytes
      },
    }
  }
}

/** Whether models may go to a GPU, whose driver refuses what does not fit there. */
export function mayUseGpu({ gpu, gpuLayers }: Pick<RunnerOptions, 'gpu' | 'gpuLayers'>): boolean {
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
