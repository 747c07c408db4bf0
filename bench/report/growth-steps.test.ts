import { describe, expect, it } from 'vitest'
import { nameOfPoint, numberOfGroup, pointsOf, worstStep } from './growth-steps.mjs'

const exact = (figures: readonly number[]) =>
  figures.map((median, index) => ({ x: 10 ** index, range: { median, min: median, max: median } }))

describe('nameOfPoint', () => {
  it('counts in words that numberOfGroup reads', () => {
    expect([1, 3500, 1_000_000].map((point) => nameOfPoint(point, 'keys'))).toEqual([
      '1 key',
      '3,500 keys',
      '1,000,000 keys',
    ])
    expect(numberOfGroup(nameOfPoint(1_000_000, 'keys'))).toBe(1_000_000)
    expect(numberOfGroup(null)).toBeNaN()
  })
})

describe('pointsOf', () => {
  it('takes the groups that have the figure, by their number', () => {
    const row = (group: string | null, latencyP50Ms: number | null) => ({
      contender: 'sluice',
      group,
      rounds: [{ latencyP50Ms }],
    })
    const rows = [row('1,000 keys', 3), row(null, 9), row('1 key', 2), row('100 keys', null)]
    expect(pointsOf(rows, 'latencyP50Ms').map(({ x, range }) => [x, range.median])).toEqual([
      [1, 2],
      [1000, 3],
    ])
  })
})

describe('worstStep', () => {
  it('is the greatest rise of what is better when less, and the greatest fall of what is better when more', () => {
    expect(worstStep(exact([1, 2, 6, 7]), 'less')).toEqual({ from: 10, to: 100, times: 3, isNoise: false })
    expect(worstStep(exact([8, 6, 2, 9]), 'more')).toEqual({
      from: 10,
      to: 100,
      times: 1 / 3,
      isNoise: false,
    })
  })

  it('is none where nothing gets worse', () => {
    expect(worstStep(exact([3, 3, 2]), 'less')).toBeNull()
    expect(worstStep(exact([1, 5]), 'more')).toBeNull()
    expect(worstStep(exact([1]), 'less')).toBeNull()
  })

  it('passes over steps whose rounds overlap as long as another is certain', () => {
    const noisy = { x: 10, range: { median: 3, min: 0.5, max: 4 } }
    const [first, second] = [
      { x: 1, range: { median: 1, min: 0.9, max: 1.1 } },
      { x: 100, range: { median: 4.5, min: 4.4, max: 4.6 } },
    ]
    expect(worstStep([first, noisy, second], 'less')).toMatchObject({ from: 10, times: 1.5, isNoise: false })
    expect(worstStep([first, noisy], 'less')).toMatchObject({ from: 1, times: 3, isNoise: true })
  })
})
