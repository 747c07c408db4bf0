import { describe, expect, it } from 'vitest'
import { checkKvCacheType } from './kv-cache.ts'

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
