import { describe, expect, it } from 'vitest'
import { checkFit, memoryNeed, neededBytes } from './memory-fit.ts'

const GB = 1e9
const there = { availableBytes: 10 * GB, servingBytes: 0, loadingBytes: 0 }

describe('memoryNeed', () => {
  it('is the weights, and KV cache for every slot, which holds a multiple of 256 tokens', () => {
    const outline = {
      architecture: 'llama',
      parameters: 1,
      sizeBytes: 1000,
      quantization: 'F16',
      maxSeqLen: 300,
      vocabSize: 1,
      engine: 'llama.cpp',
      kvElementsPerToken: 16,
    }
    const need = memoryNeed(outline, { maxBatchSize: 4, replicas: 3 })
    expect(need).toEqual({ weightBytes: 1000, kvCacheBytes: 512 * 4 * 16 * 2, replicas: 3 })
    expect(neededBytes(need)).toBe(3 * (1000 + 65_536))
  })
})

describe('checkFit', () => {
  const need = { weightBytes: 2 * GB, kvCacheBytes: GB, replicas: 1 }

  it('takes what fits, to the byte', () => {
    expect(() => checkFit('m', need, { ...there, availableBytes: 3 * GB })).not.toThrow()
  })

  it('refuses the rest with its numbers', () => {
    expect(() => checkFit('m', need, { ...there, availableBytes: 3 * GB - 1 })).toThrow(
      "'m' needs 3.00 GB of memory (2.00 GB weights, 1.00 GB KV cache), but 3.00 GB is available: lower max_batch_size or max_seq_len.",
    )
  })

  it('counts every replica, what serves, and what loads at the same time', () => {
    const more = { ...there, servingBytes: 2.5 * GB, loadingBytes: 3 * GB }
    expect(() => checkFit('m', { ...need, replicas: 2 }, more)).toThrow(
      "'m' needs 6.00 GB of memory (2.00 GB weights, 1.00 GB KV cache for each of 2 replicas), " +
        'beside 2.50 GB for the models that serve and 3.00 GB for those that load, but 10.00 GB is available',
    )
  })
})
