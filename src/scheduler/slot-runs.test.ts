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

  it('of a lower tier take a quarter of the usual time beside a stream of a higher one', () => {
    const chunksBeside = (priorityClass: number): number[] => {
      const scheduler = createScheduler()
      scheduler.add(ofTier(0, priorityClass, { ids: [1], maxNewTokens: 100 }))
      run(scheduler, 1)
      scheduler.add(ofTier(1, 0))
      return Array.from({ length: 4 }, () => {
        const plan = scheduler.plan()
        const tokens = plan?.runs.at(-1)?.tokenIds.length ?? 0
        if (plan !== null)
          scheduler.update({ ...answer(plan), times: { decodeMs: 5, promptMs: tokens * 0.2 } })
        return tokens
      })
    }
    // 95 and 20 ms are left beside the stream's token; what remains of a prompt is whole tiles.
    expect(chunksBeside(0)).toEqual([96, 448, 448, 448])
    expect(chunksBeside(2)).toEqual([96, 64, 64, 64])
  })

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
