import { expect, it } from 'vitest'
import { wholePercents } from './whole-percents.ts'

it('tells each whole percent once, the first and the last too', () => {
  const told: number[] = []
  const report = wholePercents((fraction) => void told.push(fraction))
  for (const fraction of [0, 0.001, 0.011, 0.019, 0.02, 0.999, 1]) report(fraction)
  expect(told).toEqual([0, 0.011, 0.02, 0.999, 1])
})
