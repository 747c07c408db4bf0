import os from 'node:os'
import { describe, expect, it } from 'vitest'
import { availableMemoryBytes, checkMemory } from './memory.ts'

describe('checkMemory', () => {
  it('lets pass what fits exactly', () => {
    expect(() => checkMemory({ modelPath: 'm.gguf', weightBytes: 6, kvCacheBytes: 4 }, 10)).not.toThrow()
  })

  it('names what is needed, what is there, and what to lower', () => {
    expect(() => checkMemory({ modelPath: 'm.gguf', weightBytes: 3e9, kvCacheBytes: 2.5e9 }, 4e9)).toThrow(
      "'m.gguf' needs 5500 MB of memory (3000 MB weights, 2500 MB KV cache: lower max_batch_size or max_seq_len), " +
        'but 4000 MB is available.',
    )
    expect(() => checkMemory({ modelPath: 'm.gguf', weightBytes: 8e9, kvCacheBytes: 0 }, 4e9)).toThrow(
      "'m.gguf' needs 8000 MB of memory for its weights, but 4000 MB is available.",
    )
  })
})

describe('availableMemoryBytes', () => {
  it('is some of the memory of the machine', () => {
    expect(availableMemoryBytes()).toBeGreaterThan(0)
    expect(availableMemoryBytes()).toBeLessThanOrEqual(os.totalmem())
  })
})
