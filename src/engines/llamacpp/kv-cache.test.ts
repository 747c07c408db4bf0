import { describe, expect, it } from 'vitest'
import { checkKvCacheType, kvCacheBytes, slotTokens } from './kv-cache.ts'

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

describe('checkKvCacheType', () => {
  const q8 = { modelId: 'm', kvCacheType: 'q8_0' } as const

  it('takes heads of whole blocks', () => {
    expect(() => checkKvCacheType({ architecture: 'llama', kvHeadSizes: [64, 96] }, q8)).not.toThrow()
  })

  it('refuses others, and a model without flash attention, with one sentence', () => {
    expect(() => checkKvCacheType({ architecture: 'phi3', kvHeadSizes: [64, 80] }, q8)).toThrow(
      "kv_cache_type must be f16 for 'm': q8_0 needs attention heads of a multiple of 32 numbers, but they have 80.",
    )
    expect(() => checkKvCacheType({ architecture: 'grok', kvHeadSizes: [128, 128] }, q8)).toThrow(
      "kv_cache_type must be f16 for 'm': q8_0 needs flash attention, which 'grok' does not have.",
    )
  })

  it('lets every model have F16', () => {
    const shape = { architecture: 'grok', kvHeadSizes: [80, 80] }
    expect(() => checkKvCacheType(shape, { modelId: 'm', kvCacheType: 'f16' })).not.toThrow()
  })
})
