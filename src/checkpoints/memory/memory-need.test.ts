import { describe, expect, it } from 'vitest'
import {
  checkMemory,
  kvCacheBytes,
  memoryNeed,
  neededBytes,
  prefixCacheBytes,
  servedSeqLen,
  slotTokens,
} from './memory-need.ts'

describe('kvCacheBytes', () => {
  it('is 2 bytes an element, 4 in F32, and 34 for 32 of them in Q8_0', () => {
    expect(kvCacheBytes(320, 'f16')).toBe(640)
    expect(kvCacheBytes(320, 'f32')).toBe(1280)
    expect(kvCacheBytes(320, 'q8_0')).toBe(340)
  })
})

describe('slotTokens', () => {
  it('is the next multiple of 256', () => {
    expect([1, 256, 257, 4096].map(slotTokens)).toEqual([256, 256, 512, 4096])
  })
})

describe('servedSeqLen', () => {
  it('is what is configured, else the trained context up to 4096', () => {
    expect(servedSeqLen(9000, 2048)).toBe(9000)
    expect([2048, 9000, null].map((trained) => servedSeqLen(null, trained))).toEqual([2048, 4096, 4096])
  })
})

describe('memoryNeed', () => {
  const outline = {
    architecture: 'llama',
    parameters: 1,
    sizeBytes: 1000,
    quantization: 'F16',
    maxSeqLen: 300,
    vocabSize: 1,
    engine: 'llama.cpp',
    kvElementsPerToken: 32,
  }

  it('is the weights, and KV cache for every slot, which holds a multiple of 256 tokens', () => {
    const need = memoryNeed(outline, { maxBatchSize: 4, kvCacheType: 'f16', replicas: 3 })
    const kvCacheBytes = 512 * 4 * 32 * 2
    expect(need).toEqual({ weightBytes: 1000, kvCacheBytes, replicas: 3, sourceBytes: 0 })
    expect(neededBytes(need)).toBe(3 * (1000 + 131_072))
  })

  it('has a prefix cache where one of a fixed size is configured, and not for embeddings', () => {
    const options = { maxBatchSize: 1, kvCacheType: 'f16', prefixCacheMb: 10 } as const
    expect(memoryNeed(outline, options).prefixCacheBytes).toBe(10e6)
    expect(memoryNeed(outline, { ...options, prefixCacheMb: 'auto' }).prefixCacheBytes).toBeUndefined()
    const embedding = { pooling: 'mean', dimensions: 8, shorterDimensions: [] } as const
    expect(memoryNeed({ ...outline, embedding }, options).prefixCacheBytes).toBeUndefined()
  })

  it('counts a KV cache of q8_0 with 34 bytes for 32 numbers', () => {
    const need = memoryNeed(outline, { maxBatchSize: 4, kvCacheType: 'q8_0', replicas: 1 })
    expect(need.kvCacheBytes).toBe(512 * 4 * 34)
  })
})

describe('prefixCacheBytes', () => {
  const need = { weightBytes: 1e9, kvCacheBytes: 1e9, replicas: 1, sourceBytes: 0 }
  const inUse = { availableBytes: 6e9, servingBytes: 1e9, loadingBytes: 1e9 }

  it('is what is configured, else a quarter of what is left free, up to 2000 MB', () => {
    expect(prefixCacheBytes(300, need, inUse)).toBe(300e6)
    expect(prefixCacheBytes('auto', need, inUse)).toBe(500e6)
    expect(prefixCacheBytes('auto', need, { ...inUse, availableBytes: 1e12 })).toBe(2e9)
    expect(prefixCacheBytes('auto', need, { ...inUse, availableBytes: 3e9 })).toBe(0)
  })
})

describe('checkMemory', () => {
  const inUse = { availableBytes: 4e9, servingBytes: 0, loadingBytes: 0 }
  const need = (weightBytes: number, kvCacheBytes: number) => ({
    weightBytes,
    kvCacheBytes,
    replicas: 1,
    sourceBytes: 0,
  })

  it('lets pass what fits exactly', () => {
    expect(() => checkMemory('m.gguf', need(6, 4), { ...inUse, availableBytes: 10 })).not.toThrow()
  })

  it('names what is needed, what is there, and what to lower', () => {
    expect(() => checkMemory('m.gguf', need(3e9, 2.5e9), inUse)).toThrow(
      "'m.gguf' needs 5500 MB of memory (3000 MB weights, 2500 MB KV cache), " +
        'but 4000 MB is available: lower max_batch_size or max_seq_len.',
    )
  })

  it('counts a prefix cache of a configured size once for all replicas', () => {
    const withCache = { ...need(1e9, 1e9), replicas: 2, prefixCacheBytes: 500e6 }
    expect(() => checkMemory('m.gguf', withCache, inUse)).toThrow(
      "'m.gguf' needs 4500 MB of memory (1000 MB weights, 1000 MB KV cache for each of 2 replicas, 500 MB prefix cache), " +
        'but 4000 MB is available: lower prefix_cache_mb, max_batch_size or max_seq_len.',
    )
  })

  it('names the weights alone while the shape of the model is not known', () => {
    expect(() => checkMemory('m.gguf', need(8e9, 0), inUse)).toThrow(
      /^'m\.gguf' needs 8000 MB of memory \(8000 MB weights\), but 4000 MB is available\.$/,
    )
  })
})
