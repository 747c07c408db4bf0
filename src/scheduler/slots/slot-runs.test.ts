import { describe, expect, it } from 'vitest'
import { answer, createRequest } from '../../../test/support/engines/sequences.ts'
import { VirtualClock } from '../../core/clock.ts'
import type { StepPlan } from '../../protocol/model-runner.ts'
import { ContinuousBatchScheduler, type SchedulerOptions } from '../continuous-batch-scheduler.ts'
import { GREEDY, type ScheduledRequest } from '../sequence.ts'

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
    const plan = planned(scheduler)
    scheduler.update(answer(plan))
    scheduler.checkIntegrity()
    return Object.fromEntries(plan.runs.map(({ slotId, tokenIds }) => [slotId, tokenIds.length]))
  })
}

/** One step in which each run that wants a token gets one. */
function step(scheduler: ContinuousBatchScheduler): void {
  scheduler.update(answer(planned(scheduler)))
  scheduler.checkIntegrity()
}

function planned(scheduler: ContinuousBatchScheduler): StepPlan {
  const plan = scheduler.plan()
  if (plan === null) throw new Error('nothing was planned')
  return plan
}

const tokensOf = (plan: StepPlan): number[] => plan.runs.map(({ tokenIds }) => tokenIds.length)

function createFcfsScheduler(options: Partial<SchedulerOptions> = {}): ContinuousBatchScheduler {
  return createScheduler({ maxBatchSize: 2, schedulePolicy: 'fcfs', canCopySlots: false, ...options })
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

describe('prompts beside streams and beside each other', () => {
  it('takes the whole budget while nothing decodes', () => {
    const scheduler = createFcfsScheduler({ stepTokenBudget: 600 })
    scheduler.add(createRequest(1, { promptTokens: 1000 }))
    expect(tokensOf(planned(scheduler))).toEqual([600])
  })

  it('comes in small chunks beside running streams, which all get their token in each step', () => {
    const scheduler = createFcfsScheduler({ maxBatchSize: 3 })
    scheduler.add(createRequest(1, { maxNewTokens: 50 }))
    step(scheduler)
    scheduler.add(createRequest(2, { promptTokens: 300, maxNewTokens: 50 }))
    const chunks: number[][] = []
    for (let i = 0; i < 3; i++) {
      const plan = planned(scheduler)
      chunks.push(tokensOf(plan))
      scheduler.update(answer(plan))
      scheduler.checkIntegrity()
    }
    expect(chunks).toEqual([
      [1, 108],
      [1, 128],
      [1, 64],
    ])
  })

  it('sizes the chunks by what the last steps took', () => {
    const scheduler = createFcfsScheduler()
    scheduler.add(createRequest(1, { maxNewTokens: 50 }))
    step(scheduler)
    scheduler.add(createRequest(2, { promptTokens: 1000 }))
    const chunks: number[] = []
    for (let i = 0; i < 4; i++) {
      const plan = planned(scheduler)
      const tokens = plan.runs.at(-1)?.tokenIds.length ?? 0
      chunks.push(tokens)
      scheduler.update({ ...answer(plan), times: { decodeMs: 20, promptMs: tokens * 0.25 } })
      scheduler.checkIntegrity()
    }
    // 80 ms are left beside the stream's token. The first chunk is the one that leaves whole tiles of 64.
    expect(chunks).toEqual([104, 320, 320, 256])
  })

  it('lets short prompts overtake a long one in half of a step', () => {
    const scheduler = createFcfsScheduler({ maxBatchSize: 5 })
    scheduler.add(createRequest(1, { maxNewTokens: 50 }))
    step(scheduler)
    for (const [reqId, promptTokens] of [1000, 100, 40, 20].entries()) {
      scheduler.add(createRequest(reqId + 2, { promptTokens }))
    }
    const plan = planned(scheduler)
    expect(tokensOf(plan)).toEqual([1, 40, 40, 20])
    expect(plan.runs.map(({ wantsToken }) => wantsToken)).toEqual([true, false, true, true])
  })

  it('keeps a step short for a short prompt that overtakes a long one, even when nothing streams', () => {
    const scheduler = createFcfsScheduler()
    scheduler.add(createRequest(1, { promptTokens: 1000 }))
    scheduler.add(createRequest(2, { promptTokens: 20 }))
    expect(tokensOf(planned(scheduler))).toEqual([104, 20])
  })

  it('leaves a long seeded prompt its fixed chunk when short ones overtake it', () => {
    const scheduler = createFcfsScheduler({ maxBatchSize: 4 })
    scheduler.add(createRequest(1, { maxNewTokens: 50 }))
    step(scheduler)
    scheduler.add(createRequest(2, { promptTokens: 300, sampling: { ...GREEDY, seed: 1 } }))
    scheduler.add(createRequest(3, { promptTokens: 30 }))
    expect(tokensOf(planned(scheduler))).toEqual([1, 128, 30])
  })

  it('keeps to the budget of a step beside streams, however cheap prompts are', () => {
    const scheduler = createFcfsScheduler({ stepTokenBudget: 512 })
    scheduler.add(createRequest(1, { maxNewTokens: 50 }))
    scheduler.add(createRequest(2, { promptTokens: 100, maxNewTokens: 1 }))
    scheduler.update({ ...answer(planned(scheduler)), times: { decodeMs: 1, promptMs: 1 } })
    scheduler.add(createRequest(3, { promptTokens: 1024 }))
    // 512 would be whole tiles, but leave no room for the stream's token.
    expect(tokensOf(planned(scheduler))).toEqual([1, 448])
    scheduler.checkIntegrity()
  })

  it('lets no short prompt overtake a seeded one where the step has no room for both', () => {
    const scheduler = createFcfsScheduler({ maxBatchSize: 40, stepTokenBudget: 168 })
    scheduler.add(createRequest(1, { maxNewTokens: 50 }))
    step(scheduler)
    scheduler.add(createRequest(2, { promptTokens: 300, sampling: { ...GREEDY, seed: 1 } }))
    scheduler.add(createRequest(3, { promptTokens: 60 }))
    expect(tokensOf(planned(scheduler))).toEqual([1, 128])
    scheduler.checkIntegrity()
  })

  it('takes the whole budget where what a short prompt overtakes ends in the same step', () => {
    const scheduler = createFcfsScheduler({ maxBatchSize: 3 })
    for (const [index, promptTokens] of [100, 20, 300].entries())
      scheduler.add(createRequest(index + 1, { promptTokens }))
    expect(tokensOf(planned(scheduler))).toEqual([100, 20, 300])
  })

  it('gives nothing to a prompt behind a seeded one that finds no room', () => {
    const scheduler = createFcfsScheduler({ maxBatchSize: 4 })
    scheduler.add(createRequest(1, { maxNewTokens: 50 }))
    step(scheduler)
    scheduler.add(createRequest(2, { promptTokens: 100 }))
    scheduler.add(createRequest(3, { promptTokens: 300, sampling: { ...GREEDY, seed: 1 } }))
    scheduler.add(createRequest(4, { promptTokens: 80 }))
    expect(tokensOf(planned(scheduler))).toEqual([1, 100])
  })

  it('plans neighbouring slots next to each other, in whatever order their sequences came', () => {
    const scheduler = createFcfsScheduler({ maxBatchSize: 3 })
    for (const reqId of [1, 2, 3]) scheduler.add(createRequest(reqId, { maxNewTokens: reqId === 1 ? 1 : 50 }))
    step(scheduler)
    scheduler.add(createRequest(4, { maxNewTokens: 50 }))
    step(scheduler)
    expect(planned(scheduler).runs.map(({ slotId }) => slotId)).toEqual([0, 1, 2])
  })

  it('cuts a seeded prompt at the same places whatever else runs, and reuses no prefix for it', () => {
    const chunksOf = (isBusy: boolean): number[] => {
      const scheduler = createFcfsScheduler()
      scheduler.add(createRequest(1, { promptTokens: 300, from: 0, maxNewTokens: isBusy ? 50 : 1 }))
      step(scheduler)
      const sampling = { ...GREEDY, seed: 1 }
      scheduler.add(createRequest(2, { promptTokens: 300, from: 0, sampling }))
      const chunks: number[] = []
      for (let i = 0; i < 3; i++) {
        const plan = planned(scheduler)
        chunks.push(plan.runs.at(-1)?.tokenIds.length ?? 0)
        // So slow that a prompt without a seed would be cut into smaller chunks.
        scheduler.update({ ...answer(plan), times: { decodeMs: 50, promptMs: 500 } })
      }
      return chunks
    }
    expect(chunksOf(true)).toEqual([128, 128, 44])
    expect(chunksOf(false)).toEqual([128, 128, 44])
  })
})
