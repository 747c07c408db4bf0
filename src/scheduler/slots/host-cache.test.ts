/** What goes to host memory, what comes back, what is forgotten: through the scheduler, whose plans a pretend runner checks. */
import { describe, expect, it } from 'vitest'
import { PretendRunner } from '../../../test/support/engines/pretend-runner.ts'
import { answer } from '../../../test/support/engines/sequences.ts'
import { VirtualClock } from '../../core/clock.ts'
import type { CopyState, HostRoom, SlotStart, StepOutput, StepPlan } from '../../protocol/model-runner.ts'
import {
  ContinuousBatchScheduler,
  type SchedulerEvent,
  type SchedulerOptions,
} from '../continuous-batch-scheduler.ts'

const BEAM_ROOM = { seats: 2, tokens: 64 }
const COPY_HEAD_BYTES = 10
/** Tokens of a conversation below. */
const LENGTH = 100

interface EngineOptions extends Partial<SchedulerOptions> {
  /** Of each copy, where that is less than was reckoned. */
  readonly savedBytes?: number
}

function createEngine(room: Partial<HostRoom>, { savedBytes, ...options }: EngineOptions = {}) {
  const hostRoom = {
    maxBytes: 10_000,
    copyBytes: (tokens: number) => COPY_HEAD_BYTES + tokens,
    windowTokens: null,
    ...room,
  }
  const runner = new PretendRunner({
    slots: 1,
    beamRoom: BEAM_ROOM,
    hostRoom,
    nextToken: () => 7,
    ...(savedBytes !== undefined && { savedBytes }),
  })
  const scheduler = new ContinuousBatchScheduler({
    ...{ maxBatchSize: 1, maxSeqLen: 4096, schedulePolicy: 'fcfs', clock: new VirtualClock(), hostRoom },
    ...options,
  })
  let reqId = 0
  /** Runs one sequence in the only slot; of its one new token nothing is computed. */
  const run = (ids: readonly number[], accountId = ''): SlotStart & { readonly restoredTokens: number } => {
    const place = { priorityClass: 0, priority: 0, accountId }
    scheduler.add({ ids, reqId: reqId++, maxNewTokens: 1, place })
    const plan = scheduler.plan()
    const [begun] = scheduler.takeEvents()
    if (plan?.starts[0] === undefined || begun?.type !== 'sequence-start') throw new Error('nothing began')
    scheduler.update(runner.execute(plan))
    scheduler.checkIntegrity()
    finish(scheduler, (next) => runner.execute(next))
    return { ...plan.starts[0], restoredTokens: begun.restoredTokens ?? 0 }
  }
  return { run, scheduler }
}

/** Gives the events of what is left. */
function finish(
  scheduler: ContinuousBatchScheduler,
  execute: (plan: StepPlan) => StepOutput = (plan) => answer(plan),
): SchedulerEvent[] {
  const events: SchedulerEvent[] = []
  while (scheduler.hasWork) {
    const plan = scheduler.plan()
    events.push(...scheduler.takeEvents())
    if (plan !== null) events.push(...scheduler.update(execute(plan)))
    scheduler.checkIntegrity()
  }
  return events
}

/** The tokens of a conversation, which shares none with another. */
const talk = (name: number, tokens = LENGTH): number[] =>
  Array.from({ length: tokens }, (_, i) => name * 10_000 + i)

describe('host memory', () => {
  it('takes what leaves a slot, and gives it back to the prompt that continues it', () => {
    const { run, scheduler } = createEngine({})
    run(talk(1))
    expect(run(talk(2)).host).toEqual({ drop: [], save: { entryId: 0, tokens: LENGTH }, restore: null })
    expect(scheduler.hostBytes).toBe(COPY_HEAD_BYTES + LENGTH)
    const back = run(talk(1, LENGTH + 20))
    expect(back).toMatchObject({ cachedTokens: LENGTH, restoredTokens: LENGTH, copyFromSlotId: null })
    expect(back.host).toEqual({
      drop: [],
      save: { entryId: 1, tokens: LENGTH },
      restore: { entryId: 0, isForgotten: true },
    })
    // The slot has it now.
    expect(scheduler.hostBytes).toBe(COPY_HEAD_BYTES + LENGTH)
  })

  it('keeps what only a part is taken of', () => {
    const { run } = createEngine({})
    run(talk(1, 200))
    run(talk(2))
    const branch = [...talk(1, 100), ...talk(9, 10)]
    expect(run(branch)).toMatchObject({ cachedTokens: 100, host: { restore: { isForgotten: false } } })
    run(talk(2, 120))
    expect(run(talk(1, 220))).toMatchObject({ cachedTokens: 200, host: { restore: { isForgotten: true } } })
  })

  it('gives nothing back where computing takes less time: short prefixes, and small parts of long copies', () => {
    const { run } = createEngine({})
    run(talk(1, 63))
    expect(run(talk(2, 1000)).host).toBeUndefined()
    expect(run(talk(1, 70)).host?.restore).toBeNull()
    const small = run([...talk(2, 124), ...talk(9, 5)])
    expect([small.cachedTokens, small.host?.restore]).toEqual([0, null])
    run(talk(3))
    expect(run([...talk(2, 126), ...talk(9, 5)])).toMatchObject({ cachedTokens: 126, restoredTokens: 126 })
  })

  it('takes what a slot loses to a prompt that goes on in it, where that is 64 tokens or more', () => {
    const { run } = createEngine({})
    run(talk(1, 200))
    expect(run([...talk(1, 137), ...talk(9, 5)]).host).toBeUndefined()
    expect(run([...talk(1, 78), ...talk(9, 5)])).toMatchObject({
      cachedTokens: 78,
      host: { save: { tokens: 142 } },
    })
  })

  it('forgets the least recently used first, and never passes its bytes', () => {
    const { run, scheduler } = createEngine({ maxBytes: 3 * COPY_HEAD_BYTES + 2 * LENGTH + 200 })
    run(talk(1, 200))
    for (const name of [2, 3, 4]) run(talk(name))
    // Used by a branch, so that it is the last to be forgotten.
    expect(run([...talk(1, 80), ...talk(9, 20)]).host?.drop).toEqual([1])
    expect(run(talk(5)).host?.drop).toEqual([2])
    expect(scheduler.hostBytes).toBe(3 * COPY_HEAD_BYTES + 2 * LENGTH + 200)
    expect(run(talk(2, 120)).cachedTokens).toBe(0)
    expect(run(talk(1, 220)).cachedTokens).toBe(200)
  })

  it('saves nothing that does not fit, also where memory has become short', () => {
    let left = 10_000
    const { run, scheduler } = createEngine({ maxBytes: 500, roomBytes: (held) => held + left })
    run(talk(1, 600))
    expect(run(talk(2)).host).toBeUndefined()
    left = 50
    expect(run(talk(3)).host).toBeUndefined()
    left = 200
    expect(run(talk(4)).host?.save).not.toBeNull()
    expect(scheduler.hostBytes).toBe(COPY_HEAD_BYTES + LENGTH)
  })

  it('counts what a copy takes in fact, once it is made', () => {
    const { run, scheduler } = createEngine({ maxBytes: 240 }, { savedBytes: 60 })
    for (const name of [1, 2, 3, 4]) run(talk(name))
    expect(scheduler.hostBytes).toBe(180)
    expect(run(talk(5)).host?.drop).toEqual([0])
  })

  it('holds a conversation once: its longer copy takes the place of the shorter', () => {
    const { run, scheduler } = createEngine({})
    run(talk(1))
    run(talk(2))
    // The same beginning is computed anew beside the copy, as a request with a seed does.
    scheduler.add({
      ...{ ids: talk(1, 300), reqId: 99, maxNewTokens: 1 },
      sampling: { temperature: 0, topK: 0, topP: 1, repetitionPenalty: 1, seed: 1 },
    })
    finish(scheduler)
    scheduler.add({ ids: talk(3), reqId: 100, maxNewTokens: 1 })
    expect(scheduler.plan()?.starts[0]?.host).toMatchObject({ drop: [0], save: { tokens: 300 } })
  })

  it('gives up the next ones too where the room of the shorter copy is not enough', () => {
    const { run, scheduler } = createEngine({ maxBytes: 420 })
    for (const name of [1, 2, 3]) run(talk(name))
    const sampling = { temperature: 0, topK: 0, topP: 1, repetitionPenalty: 1, seed: 1 }
    scheduler.add({ ids: talk(1, 300), reqId: 99, maxNewTokens: 1, sampling })
    finish(scheduler)
    scheduler.add({ ids: talk(9), reqId: 100, maxNewTokens: 1 })
    expect(scheduler.plan()?.starts[0]?.host).toMatchObject({ drop: [0, 1], save: { tokens: 300 } })
    scheduler.checkIntegrity()
  })

  it('saves nothing for which there is no room before another copy was read back', () => {
    const { run } = createEngine({ maxBytes: 2 * (COPY_HEAD_BYTES + LENGTH) - 1 })
    for (const name of [1, 2]) run(talk(name))
    expect(run(talk(1, 120)).host).toMatchObject({ save: null, restore: { entryId: 0 } })
  })

  it('tells of what was used last first, of slots before copies, as not all may outlast the process', () => {
    const { scheduler } = createEngine({}, { maxBatchSize: 2 })
    for (const [reqId, name] of [1, 2, 3, 1].entries()) {
      scheduler.add({ ids: talk(name, LENGTH + reqId), reqId, maxNewTokens: 1 })
      finish(scheduler)
    }
    const held = scheduler.held().map(({ cachedTokenIds }) => Math.floor((cachedTokenIds[0] ?? 0) / 10_000))
    expect(held).toEqual([1, 3, 2])
  })

  it('tells nothing of what was computed with an adapter, whose number another process gives to another', () => {
    const { run, scheduler } = createEngine({})
    run(talk(1))
    scheduler.add({ ids: talk(2), reqId: 99, maxNewTokens: 1, adapterId: 3 })
    finish(scheduler)
    expect(scheduler.held()).toMatchObject([{ entryId: 0, cachedTokenIds: Int32Array.from(talk(1)) }])
  })

  it('copies of layers with a window are used whole or not at all, in host memory and after it', () => {
    const { run } = createEngine({ windowTokens: 80 })
    run(talk(1))
    run(talk(2))
    expect(run([...talk(1, 90), ...talk(9, 30)]).cachedTokens).toBe(0)
    run(talk(2, 120))
    expect(run(talk(1, 150)).cachedTokens).toBe(LENGTH)
    // The slot lacks what the window had left behind.
    expect(run([...talk(1, 95), ...talk(9, 30)]).cachedTokens).toBe(0)
    run(talk(2, 130))
    expect(run(talk(1, 160)).cachedTokens).toBe(150)
    expect(run([...talk(1, 155), ...talk(9, 30)]).cachedTokens).toBe(155)
  })
})

describe('copies on the disk', () => {
  const stored = [1, 2].map((name) => ({
    ...{ cachedTokenIds: talk(name), accountId: '', leastCut: 0, bytes: COPY_HEAD_BYTES + LENGTH },
  }))
  const add = (scheduler: ContinuousBatchScheduler, ids: readonly number[]): void =>
    scheduler.add({ ids, reqId: 1, maxNewTokens: 1 })

  it('are read when their prefix comes, which waits for them and holds up nobody else', () => {
    const states = new Map<number, CopyState>([[0, 'reading']])
    const fetch = (entryId: number): CopyState => states.get(entryId) ?? 'lost'
    const { scheduler } = createEngine({ stored, fetch }, { maxBatchSize: 2 })
    expect(scheduler.hostBytes).toBe(0)
    add(scheduler, talk(1, 120))
    scheduler.add({ ids: talk(9), reqId: 2, maxNewTokens: 1 })
    const first = scheduler.plan()
    expect(first?.starts.map(({ promptTokenIds }) => promptTokenIds.length)).toEqual([LENGTH])
    if (first !== null) scheduler.update(answer(first))
    scheduler.checkIntegrity()
    expect(scheduler.plan()).toBeNull()

    states.set(0, 'ready')
    expect(scheduler.plan()?.starts).toMatchObject([
      { cachedTokens: LENGTH, host: { restore: { entryId: 0, isForgotten: true } } },
    ])
    scheduler.checkIntegrity()
  })

  it('count as held in memory once they are read', () => {
    const { run, scheduler } = createEngine({ stored, fetch: () => 'reading' })
    add(scheduler, talk(1, 120))
    expect(scheduler.plan()).toBeNull()
    expect(scheduler.hostBytes).toBe(0)
    scheduler.abort(1)
    run(talk(9))
    expect(scheduler.held()).toMatchObject([{ slotId: 0 }, { entryId: 1 }, { entryId: 0 }])
  })

  it('that cannot be read are forgotten, and their prompt is computed', () => {
    const { run, scheduler } = createEngine({ stored, fetch: () => 'lost' })
    expect(run(talk(1, 120))).toMatchObject({ cachedTokens: 0, restoredTokens: 0 })
    expect(scheduler.held()).toMatchObject([{ slotId: 0 }, { entryId: 1 }])
  })

  it('keep their room, and give it up to what is used later', () => {
    const maxBytes = 2 * (COPY_HEAD_BYTES + LENGTH)
    const { scheduler } = createEngine({ stored, maxBytes, fetch: () => 'lost' })
    add(scheduler, talk(8))
    finish(scheduler)
    add(scheduler, talk(9))
    expect(scheduler.plan()?.starts[0]?.host).toMatchObject({ drop: [0], save: { entryId: 2 } })
    expect(scheduler.hostBytes).toBe(COPY_HEAD_BYTES + LENGTH)
    scheduler.checkIntegrity()
  })

  it('are of no use to another account where the scope is the account', () => {
    const ofA = stored.map((copy) => ({ ...copy, accountId: 'a' }))
    const fetch = (): CopyState => 'lost'
    const { run } = createEngine({ stored: ofA, fetch }, { prefixCacheScope: 'account' })
    expect(run(talk(1, 120), 'b').cachedTokens).toBe(0)
  })
})

describe('the scope of prefixes', () => {
  it.each([
    ['shared', 64, 64],
    ['account', 0, 0],
  ] as const)(
    '%s: another account gets %i of 100 tokens of a slot and %i of host memory',
    (scope, ofSlot, ofHost) => {
      const { run } = createEngine({}, { prefixCacheScope: scope })
      run(talk(1), 'a')
      expect(run(talk(1, 120), 'b').cachedTokens).toBe(ofSlot)
      run(talk(2), 'a')
      expect(run(talk(1, 130), 'c').cachedTokens).toBe(ofHost)
      // Its own come back in any case.
      run(talk(3), 'b')
      expect(run(talk(1, 140), 'b').cachedTokens).toBeGreaterThanOrEqual(120)
    },
  )

  it.each([
    ['computed with the same adapter', 7, LENGTH],
    ['computed with another adapter', 8, 0],
    ['computed without one', undefined, 0],
  ] as const)('a prompt waits for what is %s, or does not', (_, adapterId, cachedTokens) => {
    const scheduler = new ContinuousBatchScheduler({
      ...{ maxBatchSize: 2, maxSeqLen: 4096, schedulePolicy: 'fcfs', clock: new VirtualClock() },
      canCopySlots: true,
    })
    const ofFirst = adapterId === undefined ? {} : { adapterId }
    scheduler.add({ ids: [...talk(1), 0], reqId: 0, maxNewTokens: 1, ...ofFirst })
    scheduler.add({ ids: [...talk(1), 1], reqId: 1, maxNewTokens: 1, adapterId: 7 })
    const starts = finish(scheduler).filter(({ type, reqId }) => type === 'sequence-start' && reqId === 1)
    expect(starts).toMatchObject([{ cachedTokens }])
  })

  it.each([
    ['shared', 64],
    ['account', 0],
  ] as const)('%s: a prompt waits for what another account computes, or does not', (scope, cachedTokens) => {
    const scheduler = new ContinuousBatchScheduler({
      ...{ maxBatchSize: 2, maxSeqLen: 4096, schedulePolicy: 'fcfs', clock: new VirtualClock() },
      ...{ canCopySlots: true, prefixCacheScope: scope },
    })
    for (const [reqId, accountId] of ['a', 'b'].entries()) {
      const place = { priorityClass: 0, priority: 0, accountId }
      scheduler.add({ ids: [...talk(1), reqId], reqId, maxNewTokens: 1, place })
    }
    const starts = finish(scheduler).filter(({ type, reqId }) => type === 'sequence-start' && reqId === 1)
    expect(starts).toMatchObject([{ cachedTokens }])
  })
})
