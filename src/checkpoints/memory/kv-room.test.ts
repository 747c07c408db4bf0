import { describe, expect, it } from 'vitest'
import { draftSeqLen, kvRoomOf, servedSeqLen, slotTokens } from './kv-room.ts'

describe('slotTokens', () => {
  it('is the next multiple of 256', () => {
    expect([1, 256, 257, 4096].map(slotTokens)).toEqual([256, 256, 512, 4096])
  })
})

describe('servedSeqLen', () => {
  it('is what is configured, else the trained context up to 4096', () => {
    expect(servedSeqLen({ maxSeqLen: 9000 }, 2048)).toBe(9000)
    const served = [2048, 9000, null].map((trained) => servedSeqLen({ maxSeqLen: null }, trained))
    expect(served).toEqual([2048, 4096, 4096])
  })

  it('is the trained context up to the tokens of a KV cache that is configured', () => {
    const options = { maxSeqLen: null, kvCacheTokens: 32_768 }
    const served = [2048, 40_000, null].map((trained) => servedSeqLen(options, trained))
    expect(served).toEqual([2048, 32_768, 4096])
  })
})

describe('kvRoomOf', () => {
  it('gives each slot room of its own up to 4096 tokens', () => {
    expect(kvRoomOf({ maxBatchSize: 8, maxSeqLen: 300 })).toEqual({ tokens: 4096, sharedTokens: null })
    expect(kvRoomOf({ maxBatchSize: 8, maxSeqLen: 4096 })).toEqual({ tokens: 32_768, sharedTokens: null })
  })

  it('lets slots share 4096 tokens each where a sequence may be longer, and never less than one sequence', () => {
    const ofEight = kvRoomOf({ maxBatchSize: 8, maxSeqLen: 32_768 })
    expect(ofEight).toEqual({ tokens: 32_768, sharedTokens: 32_768 })
    const ofTwo = kvRoomOf({ maxBatchSize: 2, maxSeqLen: 32_768 })
    expect(ofTwo).toEqual({ tokens: 32_768, sharedTokens: 32_768 })
    const ofOne = kvRoomOf({ maxBatchSize: 1, maxSeqLen: 32_768 })
    expect(ofOne).toEqual({ tokens: 32_768, sharedTokens: null })
  })

  it('takes what is configured, rounded up, and no more than all slots can fill', () => {
    const size = { maxBatchSize: 4, maxSeqLen: 1000 }
    expect(kvRoomOf({ ...size, kvCacheTokens: 2000 })).toEqual({ tokens: 2048, sharedTokens: 2048 })
    expect(kvRoomOf({ ...size, kvCacheTokens: 9999 })).toEqual({ tokens: 4096, sharedTokens: null })
  })
})

describe('draftSeqLen', () => {
  it('is that of the model where each slot has room of its own, else the part of a slot', () => {
    expect(draftSeqLen({ maxBatchSize: 4 }, { maxSeqLen: 1000, tokens: 4096 })).toBe(1000)
    expect(draftSeqLen({ maxBatchSize: 8 }, { maxSeqLen: 32_768, tokens: 32_768 })).toBe(4096)
    expect(draftSeqLen({ maxBatchSize: 3 }, { maxSeqLen: 1000, tokens: 2048 })).toBe(512)
    expect(draftSeqLen({ maxBatchSize: 8 }, { maxSeqLen: 1000, tokens: 1024 })).toBe(256)
  })
})
