import { describe, expect, it } from 'vitest'
import {
  checkMemory,
  fittingKvTokens,
  kvCacheBytes,
  memoryNeed,
  neededBytes,
  prefixCacheBytes,
} from './memory-need.ts'

describe('kvCacheBytes', () => {
  it('is 2 bytes an element, 4 in F32, and 34 for 32 of them in Q8_0', () => {
    expect(kvCacheBytes(320, 'f16')).toBe(640)
    expect(kvCacheBytes(320, 'f32')).toBe(1280)
    expect(kvCacheBytes(320, 'q8_0')).toBe(340)
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

describe('fittingKvTokens', () => {
  const shape = { sizeBytes: 1e9, maxSeqLen: 4096, kvElementsPerToken: 50_000 }
  const options = { maxBatchSize: 8, kvCacheType: 'f16', replicas: 1 } as const
  // 8 slots of 4096 tokens of 100 kB take 3.28 GB beside the weights.
  const fit = (availableBytes: number, changes = {}) => {
    const inUse = { availableBytes, servingBytes: 0, loadingBytes: 0 }
    return fittingKvTokens({ ...shape, ...changes }, options, inUse)
  }

  it('is the default where that fits', () => {
    expect(fit(4.28e9)).toBeNull()
  })

  it('is what fits where the default does not, with some memory left', () => {
    expect(fit(4.2e9)).toBe(26_624)
    expect(fit(2e9)).toBe(4608)
  })

  it('is the default, which is refused then, where not even one sequence fits', () => {
    expect(fit(1.9e9)).toBeNull()
    expect(fit(4e9, { maxSeqLen: 32_768 })).toBeNull()
  })

  it('is what is configured, whether it fits or not', () => {
    const inUse = { availableBytes: 0, servingBytes: 0, loadingBytes: 0 }
    expect(fittingKvTokens(shape, { ...options, kvCacheTokens: 9999 }, inUse)).toBe(9999)
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
        'but 4000 MB is available: lower kv_cache_tokens or max_seq_len.',
    )
  })

  it('counts a prefix cache of a configured size once for all replicas', () => {
    const withCache = { ...need(1e9, 1e9), replicas: 2, prefixCacheBytes: 500e6 }
    expect(() => checkMemory('m.gguf', withCache, inUse)).toThrow(
      "'m.gguf' needs 4500 MB of memory (1000 MB weights, 1000 MB KV cache for each of 2 replicas, 500 MB prefix cache), " +
        'but 4000 MB is available: lower prefix_cache_mb, kv_cache_tokens or max_seq_len.',
    )
  })

  it('names the weights alone while the shape of the model is not known', () => {
    expect(() => checkMemory('m.gguf', need(8e9, 0), inUse)).toThrow(
      /^'m\.gguf' needs 8000 MB of memory \(8000 MB weights\), but 4000 MB is available\.$/,
    )
  })
})
