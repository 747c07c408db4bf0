import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LATENCY_STEPS_US } from '../storage/usage-latency.ts'
import { percentileMs } from './latency-percentile.ts'

const countSteps = (latenciesMs: readonly number[]) => {
  const counts = new Map<number, number>()
  for (const ms of latenciesMs) {
    const step = LATENCY_STEPS_US.filter((begin) => begin <= Math.round(ms * 1000)).length
    counts.set(step, (counts.get(step) ?? 0) + 1)
  }
  return counts
}

describe('percentileMs', () => {
  it('is within 10 % of the latency at that place of the sorted ones', () => {
    const latency = fc.oneof(
      fc.double({ min: 1, max: 100, noNaN: true }),
      fc.integer({ min: 1, max: 3_600_000 }),
    )
    fc.assert(
      fc.property(
        fc.array(latency, { minLength: 1, maxLength: 50 }),
        fc.constantFrom(0.5, 0.95),
        (latencies, share) => {
          const sorted = latencies.toSorted((one, other) => one - other)
          const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0
          const found = percentileMs(countSteps(latencies), share) ?? 0
          expect(Math.abs(found / exact - 1)).toBeLessThan(0.1)
        },
      ),
    )
  })

  it('says of the fastest only that they took less than a millisecond, of the slowest over an hour', () => {
    expect(percentileMs(countSteps([0, 0.2, 0.999]), 0.5)).toBe(0.5)
    expect(percentileMs(countSteps([1e9]), 0.5)).toBeCloseTo((1000 * 2 ** 22) / 1000, 3)
  })

  it('is null without requests', () => {
    expect(percentileMs(new Map(), 0.5)).toBeNull()
  })
})
