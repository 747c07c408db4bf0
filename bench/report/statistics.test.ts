import { describe, expect, it } from 'vitest'
import { createRandom, medianInterval, percentile, poissonArrivals, rangeOf } from './statistics.mjs'

describe('percentile', () => {
  it('is the smallest figure that enough of the others do not exceed', () => {
    const figures = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect([0, 50, 90, 99, 100].map((percent) => percentile(figures, percent))).toEqual([1, 50, 90, 99, 100])
  })

  it('of few figures takes one of them', () => {
    expect(percentile([7], 99)).toBe(7)
    expect(percentile([3, 1, 2], 50)).toBe(2)
    expect(percentile([3, 1, 2], 99)).toBe(3)
  })

  it('of none is null', () => {
    expect(percentile([], 50)).toBeNull()
  })
})

describe('rangeOf', () => {
  it('gives median, least and most of the rounds that have the figure', () => {
    expect(rangeOf([4, null, 1, undefined, 3, Number.NaN])).toEqual({ median: 3, min: 1, max: 4 })
    expect(rangeOf([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 })
    expect(rangeOf([null])).toBeNull()
  })
})

describe('medianInterval', () => {
  it('lies between the figures that tables of the sign test name', () => {
    const figures = Array.from({ length: 50 }, (_, index) => 50 - index)
    expect(medianInterval(figures)).toEqual({ low: 18, high: 33 })
    expect(medianInterval(figures.slice(0, 9))).toEqual({ low: 42, high: 50 })
  })

  it('holds the true median nineteen times of twenty', () => {
    const random = createRandom(3)
    const holds = Array.from({ length: 1000 }, () => {
      const { low, high } = medianInterval(Array.from({ length: 40 }, random))
      return low <= 0.5 && high >= 0.5
    })
    expect(holds.filter(Boolean).length).toBeGreaterThan(930)
  })
})

describe('poissonArrivals', () => {
  it('has the asked rate and gaps that are as spread as their mean', () => {
    const arrivals = poissonArrivals({ ratePerSecond: 4, count: 20_000, random: createRandom(1) })
    const gaps = arrivals.map((atMs, index) => atMs - (arrivals[index - 1] ?? 0))
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
    const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0)
    expect(mean).toBeCloseTo(250, -1)
    expect(Math.sqrt(variance) / mean).toBeCloseTo(1, 1)
  })

  it('is the same for the same seed and another for another', () => {
    const arrivals = (seed: number) =>
      poissonArrivals({ ratePerSecond: 1, count: 5, random: createRandom(seed) })
    expect(arrivals(7)).toEqual(arrivals(7))
    expect(arrivals(7)).not.toEqual(arrivals(8))
  })
})
