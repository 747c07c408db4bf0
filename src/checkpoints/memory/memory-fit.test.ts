import { describe, expect, it } from 'vitest'
import { MemoryFit } from './memory-need.ts'

const GB = 1e9

describe('MemoryFit', () => {
  const need = { weightBytes: 2 * GB, kvCacheBytes: GB, replicas: 1, sourceBytes: 0 }
  const fit = (availableBytes: number) => new MemoryFit(() => availableBytes)

  it('takes what fits, to the byte', () => {
    expect(() => fit(3 * GB).reserve('m', need, 0)).not.toThrow()
    expect(() => fit(5 * GB).reserve('m', need, 2 * GB)).not.toThrow()
  })

  it('refuses the rest with its numbers, rounded so that they say why', () => {
    expect(() => fit(3 * GB - 1).reserve('m', need, 0)).toThrow(
      "'m' needs 3000 MB of memory (2000 MB weights, 1000 MB KV cache), but 2999 MB is available: lower kv_cache_tokens or max_seq_len.",
    )
  })

  it('counts every replica and what serves: old and new together', () => {
    expect(() => fit(8 * GB).reserve('m', { ...need, replicas: 2 }, 2.5 * GB)).toThrow(
      "'m' needs 6000 MB of memory (2000 MB weights, 1000 MB KV cache for each of 2 replicas), " +
        'beside 2500 MB for the models that serve, but 8000 MB is available',
    )
  })

  it('counts the source too while new weights are made from it: old, new and source together', () => {
    const quantize = { ...need, sourceBytes: 4 * GB }
    expect(() => fit(8 * GB).reserve('m', quantize, GB)).not.toThrow()
    expect(() => fit(8 * GB - 1).reserve('m', quantize, GB)).toThrow(
      "'m' needs 7000 MB of memory (4000 MB source, 2000 MB new weights, 1000 MB KV cache), " +
        'beside 1000 MB for the models that serve, but 7999 MB is available: ' +
        'lower kv_cache_tokens or max_seq_len, or quantize the checkpoint beforehand (sluice quantize).',
    )
  })

  it('counts what loads at the same time, until that is disposed', () => {
    const memory = fit(5 * GB)
    const first = memory.reserve('first', need, 0)
    expect(() => memory.reserve('second', need, 0)).toThrow(
      "'second' needs 3000 MB of memory (2000 MB weights, 1000 MB KV cache), beside 3000 MB for those that load, but 5000 MB",
    )
    first[Symbol.dispose]()
    expect(() => memory.reserve('second', need, 0)).not.toThrow()
  })

  it('keeps nothing of what it refused', () => {
    const memory = fit(3 * GB)
    expect(() => memory.reserve('large', { ...need, replicas: 2 }, 0)).toThrow('needs 6000 MB')
    expect(() => memory.reserve('m', need, 0)).not.toThrow()
  })
})
