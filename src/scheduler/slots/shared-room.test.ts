import { describe, expect, it } from 'vitest'
import { answer, createRequest } from '../../../test/support/engines/sequences.ts'
import { LoadSimulation } from '../../../test/support/engines/load-simulation.ts'
import { VirtualClock } from '../../core/clock.ts'
import type { StepPlan } from '../../protocol/model-runner.ts'
import { ContinuousBatchScheduler, type SchedulerEvent } from '../continuous-batch-scheduler.ts'
import type { SchedulerOptions } from '../scheduler-options.ts'
import type { ScheduledRequest } from '../sequence.ts'

/** A scheduler over one cache, and the plans and events of its steps. */
class SharedCache {
  readonly scheduler: ContinuousBatchScheduler
  readonly events: SchedulerEvent[] = []

  constructor(sharedTokens: number, options: Partial<SchedulerOptions> = {}) {
    this.scheduler = new ContinuousBatchScheduler({
      ...{ maxBatchSize: 4, maxSeqLen: 200, schedulePolicy: 'fcfs', canCopySlots: true },
      ...{ clock: new VirtualClock(), tokenBytes: (id: number) => Buffer.from(`${id} `) },
      sharedTokens,
      ...options,
    })
  }

  add(reqId: number, options: Partial<ScheduledRequest> & { promptTokens?: number; from?: number }): this {
    this.scheduler.add(createRequest(reqId, options))
    return this
  }

  /** The last plan of so many steps; the n-th token of all is n. */
  step(steps = 1): StepPlan {
    let last: StepPlan | null = null
    for (let i = 0; i < steps; i++) {
      last = this.scheduler.plan()
      if (last === null) throw new Error('nothing was planned')
      this.events.push(...this.scheduler.update(answer(last, ++this.#tokens)))
      this.scheduler.checkIntegrity()
    }
    if (last === null) throw new Error('no step')
    return last
  }

  #tokens = 0

  finish(): this {
    while (this.scheduler.hasWork) this.step()
    return this
  }

  eventsOf(reqId: number): string[] {
    return this.events.filter((event) => event.reqId === reqId).map(({ type }) => type)
  }

  get counts(): readonly number[] {
    const { runningCount, waitingCount, preemptions } = this.scheduler
    return [runningCount, waitingCount, preemptions]
  }
}

const slotsOf = (plan: StepPlan): number[] => plan.runs.map(({ slotId }) => slotId)

describe('slots that share one KV cache', () => {
  it('refuse a cache that does not hold one whole sequence', () => {
    expect(() => new SharedCache(199)).toThrow('sharedTokens must be at least maxSeqLen (200), but was 199')
  })

  it('start what fits with a little room to grow, and let the rest wait in its order', () => {
    const cache = new SharedCache(300)
    cache.add(1, { promptTokens: 100, maxNewTokens: 40 })
    cache.add(2, { promptTokens: 150, maxNewTokens: 40 }).add(3, { promptTokens: 10, maxNewTokens: 40 })
    cache.step()
    // 250 tokens and twice 32 do not fit, and the short one does not pass it.
    expect(cache.counts).toEqual([1, 2, 0])
    cache.step(39)
    expect(cache.step().starts).toHaveLength(2)
  })

  it('keep no more room to grow than a text may take', () => {
    const cache = new SharedCache(300)
    cache.add(1, { promptTokens: 100, maxNewTokens: 40 }).step()
    expect(cache.add(2, { promptTokens: 150, maxNewTokens: 5 }).step().starts).toHaveLength(1)
  })

  it('start what is alone without room to grow', () => {
    const cache = new SharedCache(200).add(1, { promptTokens: 190, maxNewTokens: 60 })
    expect(cache.step().starts).toHaveLength(1)
    expect(cache.finish().events.at(-1)).toMatchObject({ type: 'sequence-end', finishReason: 'length' })
  })

  it('compute a prompt anew where its copy in host memory is too long to be read back beside what runs', () => {
    const hostRoom = { maxBytes: 1000, copyBytes: (tokens: number) => tokens, windowTokens: null }
    const cache = new SharedCache(300, { hostRoom })
    cache.add(1, { promptTokens: 190, from: 0, maxNewTokens: 1 }).step()
    const [second] = cache.add(2, { promptTokens: 150, from: 5000, maxNewTokens: 40 }).step().starts
    expect(second?.cuts).toMatchObject([{ slotId: 0, host: { save: { entryId: 0, tokens: 190 } } }])
    const ids = [...Array(100).keys(), ...Array(10).fill(9999)]
    expect(cache.add(3, { ids, maxNewTokens: 1 }).step().starts).toMatchObject([{ cachedTokens: 0 }])
  })

  it('count what two sequences have in common once', () => {
    const cache = new SharedCache(300)
    cache.add(1, { promptTokens: 150, from: 0, maxNewTokens: 40 }).step()
    cache.add(2, { promptTokens: 160, from: 0, maxNewTokens: 40 })
    expect(cache.step().starts).toMatchObject([{ copyFromSlotId: 0, cachedTokens: 150 }])
  })

  it('give up what was used least recently, as slots of one cache have no neighbours', () => {
    const cache = new SharedCache(800)
    for (const reqId of [1, 2, 3, 4])
      cache.add(reqId, { promptTokens: 70, from: reqId * 1000, maxNewTokens: 1 }).step()
    cache.add(5, { promptTokens: 80, from: 3000, maxNewTokens: 40 })
    expect(cache.step().starts).toMatchObject([{ slotId: 2, cachedTokens: 70 }])
    cache.add(6, { promptTokens: 70, from: 9000, maxNewTokens: 1 })
    expect(cache.step().starts).toMatchObject([{ slotId: 0, cachedTokens: 0 }])
  })

  it('leave nothing of what a slot held that takes a copy of another', () => {
    const cache = new SharedCache(300, { maxBatchSize: 2 })
    cache.add(1, { promptTokens: 100, from: 0, maxNewTokens: 40 }).step()
    cache.add(2, { promptTokens: 50, from: 5000, maxNewTokens: 1 }).step()
    const { starts } = cache.add(3, { promptTokens: 120, from: 0, maxNewTokens: 1 }).step()
    expect(starts).toMatchObject([{ slotId: 1, copyFromSlotId: 0, cachedTokens: 100 }])
  })

  it('cut what was used least recently when a prompt needs its room', () => {
    const cache = new SharedCache(300)
    cache.add(1, { promptTokens: 100, maxNewTokens: 1 }).step()
    cache.add(2, { promptTokens: 120, maxNewTokens: 1 }).step()
    const { starts } = cache.add(3, { promptTokens: 150, maxNewTokens: 1 }).step()
    expect(starts).toMatchObject([{ slotId: 2, cuts: [{ slotId: 0, tokens: 0 }] }])
  })

  it('cut others rather than the slot that a prompt goes on in, though that was used least recently', () => {
    const cache = new SharedCache(300)
    cache.add(1, { promptTokens: 100, from: 0, maxNewTokens: 1 }).step()
    cache.add(2, { promptTokens: 120, from: 5000, maxNewTokens: 1 }).step()
    const { starts } = cache.add(3, { promptTokens: 190, from: 0, maxNewTokens: 1 }).step()
    expect(starts).toMatchObject([{ slotId: 0, cachedTokens: 100, cuts: [{ slotId: 1, tokens: 0 }] }])
  })

  it('leave a slot that is cut what another one copies of it', () => {
    const cache = new SharedCache(300)
    cache.add(1, { promptTokens: 190, from: 0, maxNewTokens: 1 }).step()
    const ids = [...Array(80).keys(), ...Array.from({ length: 115 }, (_, i) => 5000 + i)]
    const { starts } = cache.add(2, { ids, maxNewTokens: 1 }).step()
    const copied = { slotId: 1, cachedTokens: 80, copyFromSlotId: 0 }
    expect(starts).toMatchObject([{ ...copied, cuts: [{ slotId: 0, tokens: 80 }] }])
  })

  it('keep in host memory what they cut', () => {
    const hostRoom = { maxBytes: 1000, copyBytes: (tokens: number) => tokens, windowTokens: null }
    const cache = new SharedCache(300, { hostRoom })
    cache.add(1, { promptTokens: 150, from: 0, maxNewTokens: 1 }).step()
    cache.add(2, { promptTokens: 120, from: 5000, maxNewTokens: 1 }).step()
    const { starts } = cache.add(3, { promptTokens: 150, from: 9000, maxNewTokens: 1 }).step()
    const host = { drop: [], save: { entryId: 0, tokens: 150 }, restore: null }
    expect(starts).toMatchObject([{ cuts: [{ slotId: 0, tokens: 0, host }] }])
    const again = cache.add(4, { promptTokens: 160, from: 0, maxNewTokens: 1 }).step()
    expect(again.starts).toMatchObject([{ cachedTokens: 150, host: { restore: { entryId: 0 } } }])
  })

  it('take the slot of the latest when there is no room to go on, and give it back later', () => {
    const cache = new SharedCache(200)
    for (const reqId of [1, 2]) cache.add(reqId, { promptTokens: 60, maxNewTokens: 60 })
    cache.step(41)
    expect(cache.counts).toEqual([2, 0, 0])
    const plan = cache.step()
    expect(cache.counts).toEqual([1, 1, 1])
    expect([plan.cuts, slotsOf(plan)]).toEqual([[{ slotId: 1, tokens: 0 }], [0]])
    cache.step(18)
    const resumed = cache.step()
    // Its text so far comes behind its prompt, and is computed with it.
    expect(resumed.starts[0]?.newTokenIds).toHaveLength(41)
    expect(resumed.runs[0]).toMatchObject({ position: 0, wantsToken: true })
    expect(resumed.runs[0]?.tokenIds).toHaveLength(101)
    cache.finish()
    for (const reqId of [1, 2]) {
      const deltas = Array(60).fill('text-delta')
      expect(cache.eventsOf(reqId)).toEqual(['sequence-start', ...deltas, 'sequence-end'])
    }
  })

  it('take the slot of a lower tier, though it came first', () => {
    const cache = new SharedCache(200, { schedulePolicy: 'priority' })
    const placeOf = (priorityClass: number) => ({
      priorityClass,
      priority: 0,
      accountId: String(priorityClass),
    })
    cache.add(1, { promptTokens: 60, maxNewTokens: 60, place: placeOf(0) }).step()
    cache.add(2, { promptTokens: 60, maxNewTokens: 60, place: placeOf(2) }).step(50)
    expect(cache.counts).toEqual([1, 1, 1])
    cache.finish()
    const ends = cache.events.filter(({ type }) => type === 'sequence-end').map(({ reqId }) => reqId)
    expect(ends).toEqual([2, 1])
  })

  it('let one that lost its slot go before those that came later', () => {
    const cache = new SharedCache(200)
    for (const reqId of [1, 2, 3]) cache.add(reqId, { promptTokens: 50, maxNewTokens: 70 })
    cache.finish()
    const ends = cache.events.filter(({ type }) => type === 'sequence-end').map(({ reqId }) => reqId)
    expect(ends).toEqual([1, 2, 3])
    expect(cache.scheduler.preemptions).toBeGreaterThan(0)
  })

  it('forget one that is aborted while it waits for its slot again', () => {
    const cache = new SharedCache(200)
    for (const reqId of [1, 2]) cache.add(reqId, { promptTokens: 60, maxNewTokens: 60 })
    cache.step(42)
    expect(cache.counts).toEqual([1, 1, 1])
    cache.scheduler.abort(2)
    expect(cache.finish().scheduler.waitingCount).toBe(0)
  })

  it('cut off with the next step what was computed for one that was aborted in the middle of it', () => {
    const cache = new SharedCache(200)
    for (const reqId of [1, 2]) cache.add(reqId, { promptTokens: 60, maxNewTokens: 60 })
    cache.step(3)
    const plan = cache.scheduler.plan()
    if (plan === null) throw new Error('nothing was planned')
    cache.scheduler.abort(2)
    cache.scheduler.update(answer(plan))
    expect(cache.step().cuts).toEqual([{ slotId: 1, tokens: 62 }])
  })

  it('cut it off with the first step after it, where nothing else ran', () => {
    const cache = new SharedCache(200)
    cache.add(1, { promptTokens: 60, maxNewTokens: 60 }).step(3)
    const plan = cache.scheduler.plan()
    if (plan === null) throw new Error('nothing was planned')
    cache.scheduler.abort(1)
    cache.scheduler.update(answer(plan))
    expect(cache.scheduler.plan()).toBeNull()
    expect(cache.add(2, { promptTokens: 10 }).step().cuts).toEqual([{ slotId: 0, tokens: 62 }])
    expect(cache.step().cuts).toBeUndefined()
  })
})

describe('clients whose requests do not fit together into one KV cache', () => {
  it('get equal parts of the tokens, and none waits for ever', () => {
    const client = { priorityClass: 0, open: 6 }
    const load = new LoadSimulation(
      [
        { ...client, accountId: 'long prompts', promptTokens: 3000, maxNewTokens: 200 },
        { ...client, accountId: 'long texts', promptTokens: 50, maxNewTokens: 2000 },
        { ...client, accountId: 'short', promptTokens: 50, maxNewTokens: 50 },
      ],
      { sharedTokens: 4096, maxSeqLen: 4096 },
    ).run(150_000)
    expect(load.scheduler.preemptions).toBeGreaterThan(0)
    for (const share of Object.values(load.shares())) expect(share).toBeGreaterThan(0.28)
    for (const { waitingSinceMs, waitsMs } of load.figures.values()) {
      expect(waitsMs.length).toBeGreaterThan(5)
      expect(load.clock.nowMs() - (waitingSinceMs ?? load.clock.nowMs())).toBeLessThan(60_000)
    }
  })

  it('of a lower tier go on beside a full load of a higher one', () => {
    const load = new LoadSimulation(
      [
        { accountId: 'free', priorityClass: 0, open: 4, promptTokens: 2000, maxNewTokens: 500 },
        { accountId: 'enterprise', priorityClass: 2, open: 16, promptTokens: 500, maxNewTokens: 500 },
      ],
      { sharedTokens: 4096, maxSeqLen: 4096 },
    ).run(150_000)
    expect(load.scheduler.preemptions).toBeGreaterThan(0)
    // 1 of 17 parts by the weights.
    expect(load.shares().free).toBeGreaterThan(0.03)
  })
})
