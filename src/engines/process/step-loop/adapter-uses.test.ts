import { describe, expect, it } from 'vitest'
import type { AdapterStore } from '../../../protocol/model-runner.ts'
import { AdapterUses } from './adapter-uses.ts'

function createStore(...loaded: number[]) {
  const held = new Set(loaded)
  const store: AdapterStore = {
    has: (adapterId) => held.has(adapterId),
    load: ({ adapterId }) => void held.add(adapterId),
    free: (adapterId) => void held.delete(adapterId),
  }
  return { held, uses: new AdapterUses(store) }
}

describe('the uses of adapters', () => {
  it('free one that no sequence has at once', () => {
    const { held, uses } = createStore(1, 2)
    uses.release(1)
    expect([...held]).toEqual([2])
  })

  it('free one that sequences have after the last of them, and take no new sequence until then', () => {
    const { held, uses } = createStore(1)
    uses.begin(1)
    uses.begin(1)
    expect(uses.isUsable(1)).toBe(true)
    uses.release(1)
    expect(uses.isUsable(1)).toBe(false)
    uses.end(1)
    expect([...held]).toEqual([1])
    uses.end(1)
    expect([...held]).toEqual([])
  })

  it('keep one whose sequences have ended until it is let go of', () => {
    const { held, uses } = createStore(1)
    uses.begin(1)
    uses.end(1)
    expect(uses.isUsable(1)).toBe(true)
    expect([...held]).toEqual([1])
  })

  it('of a model that takes none know none', () => {
    expect(new AdapterUses(null).isUsable(1)).toBe(false)
  })
})
