import { describe, expect, it } from 'vitest'
import { createRandom } from './random.ts'

const take = (seed: number | null, count = 8) => {
  const random = createRandom(seed)
  return Array.from({ length: count }, random)
}

describe('createRandom', () => {
  it('repeats with the same seed and differs with another', () => {
    expect(take(7)).toEqual(take(7))
    expect(take(7)).not.toEqual(take(8))
    expect(take(-1)).not.toEqual(take(1))
    expect(take(2 ** 40)).not.toEqual(take(0))
  })

  it('takes an unknown seed for null', () => {
    expect(take(null)).not.toEqual(take(null))
  })

  it('spreads evenly over 0 to 1, the first number of each seed too', () => {
    const bins = Array.from({ length: 10 }, () => 0)
    const samples = 20_000
    for (let seed = 0; seed < samples; seed++) {
      const value = createRandom(seed)()
      bins[Math.floor(value * 10)] = (bins[Math.floor(value * 10)] ?? 0) + 1
    }
    expect(bins).toHaveLength(10)
    const expected = samples / 10
    const chiSquare = bins.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    expect(chiSquare).toBeLessThan(27.9) // 9 degrees of freedom, p = 0.001
  })
})
