/** Percentiles of latencies that are known as counts in steps. Pure. */
import { LATENCY_STEPS_US } from '../storage/usage-latency.ts'

/** Requests by the step of their latency. */
export type LatencyCounts = ReadonlyMap<number, number>

/** The latency that this share of the requests did not exceed, in milliseconds, to 10 % from 1 ms on; null where there are none. */
export function percentileMs(counts: LatencyCounts, share: number): number | null {
  const steps = [...counts].sort(([one], [other]) => one - other)
  const total = steps.reduce((sum, [, count]) => sum + count, 0)
  const rank = Math.ceil(share * total)
  let passed = 0
  for (const [step, count] of steps) {
    passed += count
    if (passed >= rank) return middleMs(step)
  }
  return null
}

/** From it to both ends of the step the factor is the same. */
function middleMs(step: number): number {
  const until = LATENCY_STEPS_US[step]
  const from = LATENCY_STEPS_US[step - 1] ?? 0
  if (until === undefined) return from / 1000
  return Math.round(step === 0 ? until / 2 : Math.sqrt(from * until)) / 1000
}
