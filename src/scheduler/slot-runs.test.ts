import { describe, expect, it } from 'vitest'
import { answer, createRequest } from '../../test/support/engines/sequences.ts'
import { VirtualClock } from '../core/clock.ts'
import { ContinuousBatchScheduler, type SchedulerOptions } from './continuous-batch-scheduler.ts'
import { GREEDY, type ScheduledRequest } from './sequence.ts'

const SLOTS = 8

function createScheduler(options: Partial<SchedulerOptions> = {}): ContinuousBatchScheduler {
  return new ContinuousBatchScheduler({
    maxBatchSize: SLOTS,
    maxSeqLen: 4096,
    schedulePolicy: 'priority',
    clock: new VirtualClock(),
    canCopySlots: true,
    ...options,
  })
}

const ofTier = (
  reqId: number,
  priorityClass: number,
  options: Partial<ScheduledRequest> = {},
): ScheduledRequest => ({
  ...createRequest(reqId, { promptTokens: 4000 }),
  place: { accountId: `account ${priorityClass}`, priorityClass, priority: 0 },
  ...options,
})

/** Runs so many steps; returns the prompt tokens of each by slot. */
function run(scheduler: ContinuousBatchScheduler, steps: number): Record<number, number>[] {
  return Array.from({ length: steps }, () => {
    const plan = scheduler.plan()
    if (plan === null) throw new Error('nothing was planned')
    scheduler.update(answer(plan))
    scheduler.checkIntegrity()
    return Object.fromEntries(plan.runs.map(({ slotId, tokenIds }) => [slotId, tokenIds.length]))
  })
}

describe('prompts of several tiers', () => {
  it.each([null, 1])(
    'are computed the higher tier first, however many of a lower one came before (seed %s)',
    (seed) => {
      const scheduler = createScheduler()
      const sampling = { ...GREEDY, seed }
      for (let reqId = 0; reqId < SLOTS - 1; reqId++) scheduler.add(ofTier(reqId, 0, { sampling }))
      run(scheduler, 1)
      scheduler.add(ofTier(7, 2))
      const steps = run(scheduler, 10)
      expect(steps.reduce((sum, tokens) => sum + (tokens[7] ?? 0), 0)).toBeGreaterThanOrEqual(4000)
    },
  )

  it('leave one step in 16 to the longest-running one', () => {
    const scheduler = createScheduler({ maxBatchSize: 2 })
    scheduler.add(ofTier(0, 0))
    run(scheduler, 1)
    let reqId = 1
    let ofLowerTier = 0
    for (let i = 0; i < 64; i++) {
      if (scheduler.runningCount < 2) scheduler.add(ofTier(reqId++, 2, { maxNewTokens: 1 }))
      ofLowerTier += run(scheduler, 1)[0]?.[0] ?? 0
    }
    expect(ofLowerTier).toBeGreaterThanOrEqual(4 * 512)
  })

  it('are computed in the order in which they came where the policy knows no tiers', () => {
    const scheduler = createScheduler({ schedulePolicy: 'fcfs' })
    scheduler.add(ofTier(0, 0))
    scheduler.add(ofTier(1, 2))
    expect(run(scheduler, 3)).toEqual([{ 0: 512 }, { 0: 512 }, { 0: 512 }])
  })

  it('wait for no prefix that a lower tier computes', () => {
    const scheduler = createScheduler()
    const ids = Array.from({ length: 2000 }, (_, i) => i)
    scheduler.add(ofTier(0, 0, { ids }))
    run(scheduler, 1)
    scheduler.add(ofTier(1, 2, { ids }))
    run(scheduler, 1)
    expect(scheduler.runningCount).toBe(2)
  })
})
