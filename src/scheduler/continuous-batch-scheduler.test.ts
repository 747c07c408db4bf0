import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answer, createRequest } from '../../test/support/engines/sequences.ts'
import { lengthOf } from '../../test/support/length-of.ts'
import { VirtualClock } from '../core/clock.ts'
import type { StepPlan } from '../protocol/model-runner.ts'
import {
  ContinuousBatchScheduler,
  type SchedulerEvent,
  type SchedulerOptions,
} from './continuous-batch-scheduler.ts'
import { GREEDY } from './sequence.ts'

const EOS = 999_999

function createScheduler(options: Partial<SchedulerOptions> = {}): ContinuousBatchScheduler {
  return new ContinuousBatchScheduler({
    maxBatchSize: 2,
    maxSeqLen: 4096,
    schedulePolicy: 'fcfs',
    clock: new VirtualClock(),
    isEndOfGeneration: (tokenId) => tokenId === EOS,
    ...options,
  })
}

/** One step in which each run that wants a token gets `tokenId`. */
function step(scheduler: ContinuousBatchScheduler, tokenId: number | null = 7): SchedulerEvent[] {
  const plan = scheduler.plan()
  const events = plan === null ? scheduler.takeEvents() : scheduler.update(answer(plan, tokenId))
  scheduler.checkIntegrity()
  return events
}

function planned(scheduler: ContinuousBatchScheduler): StepPlan {
  const plan = scheduler.plan()
  if (plan === null) throw new Error('nothing was planned')
  return plan
}

const tokensOf = (plan: StepPlan): number[] => plan.runs.map(({ tokenIds }) => tokenIds.length)
const typesOf = (events: readonly SchedulerEvent[]): string[] =>
  events.map(({ type, reqId }) => `${reqId} ${type}`)

/** Tokens that prompts share, and then others. */
const prompt = (shared: number, own: number, reqId: number): number[] => [
  ...Array(shared).keys(),
  ...Array.from({ length: own }, () => -reqId),
]

describe('ContinuousBatchScheduler', () => {
  it('takes requests of the shape { ids, reqId, maxNewTokens } and runs them to their length', () => {
    const scheduler = createScheduler()
    scheduler.add({ ids: [1, 2, 3], reqId: 5, maxNewTokens: 2 })
    expect(typesOf(step(scheduler))).toEqual(['5 sequence-start', '5 text-delta'])
    expect(typesOf(step(scheduler))).toEqual(['5 text-delta', '5 sequence-end'])
    expect(scheduler.plan()).toBeNull()
  })

  it.each([
    [{ maxBatchSize: 0 }, 'maxBatchSize must be a whole number of at least 1, but was 0'],
    [{ maxBatchSize: Number.NaN }, 'maxBatchSize must be a whole number of at least 1, but was NaN'],
    [{ maxSeqLen: 0.5 }, 'maxSeqLen must be a whole number of at least 1, but was 0.5'],
    [
      { schedulePolicy: 'lifo' as 'fcfs' },
      "schedulePolicy must be one of fcfs, priority, fair, but was 'lifo'",
    ],
  ])('refuses options it could never work with: %j', (options, message) => {
    expect(() => createScheduler(options)).toThrow(new RangeError(message))
  })

  it.each([
    [
      [{ ids: [1], reqId: 1, maxNewTokens: 0 }],
      'maxNewTokens must be a whole number of at least 1, but was 0',
    ],
    [
      [{ ids: [1], reqId: 1 } as never],
      'maxNewTokens must be a whole number of at least 1, but was undefined',
    ],
    [
      [createRequest(1), { ...createRequest(2), numBeams: 0 }],
      'numBeams must be a whole number of at least 1, but was 0',
    ],
    [[createRequest(1), createRequest(1)], 'reqId 1 is in use'],
  ])('refuses requests it could never end, and takes none of their block %#', (block, message) => {
    const scheduler = createScheduler()
    expect(() => scheduler.addBlock(block)).toThrow(message)
    expect([scheduler.hasWork, scheduler.waitingCount]).toEqual([false, 0])
    scheduler.checkIntegrity()
  })

  it('lets a late request join the running batch at the next step', () => {
    const scheduler = createScheduler()
    scheduler.add(createRequest(1))
    step(scheduler)
    scheduler.add(createRequest(2))
    expect(typesOf(step(scheduler))).toEqual(['2 sequence-start', '1 text-delta', '2 text-delta'])
  })

  it('ends with stop at an end token, which counts as generated', () => {
    const scheduler = createScheduler()
    scheduler.add(createRequest(1))
    expect(step(scheduler, EOS).slice(1)).toEqual([
      { type: 'text-delta', reqId: 1, text: '', tokenIds: [EOS] },
      { type: 'sequence-end', reqId: 1, finishReason: 'stop' },
    ])
  })

  it('ends with stop, without a token, when the runner has nothing more', () => {
    const scheduler = createScheduler()
    scheduler.add(createRequest(1))
    expect(step(scheduler, null).slice(1)).toEqual([{ type: 'sequence-end', reqId: 1, finishReason: 'stop' }])
  })

  it('ends with length when the context is full', () => {
    const scheduler = createScheduler({ maxSeqLen: 6 })
    scheduler.add(createRequest(1, { promptTokens: 4, maxNewTokens: 100 }))
    step(scheduler)
    expect(step(scheduler).at(-1)).toEqual({ type: 'sequence-end', reqId: 1, finishReason: 'length' })
  })

  it('generates nothing for a prompt that fills the context exactly, and refuses a longer one', () => {
    const scheduler = createScheduler({ maxSeqLen: 6 })
    scheduler.add(createRequest(1, { promptTokens: 6 }))
    expect(typesOf(step(scheduler))).toEqual(['1 sequence-start', '1 sequence-end'])
    expect(() => scheduler.add(createRequest(2, { promptTokens: 7 }))).toThrow(
      "This model's maximum context length is 6 tokens, but the prompt is 7 tokens long.",
    )
  })

  it('books no prefix for a prompt that needs no slot: what is cached later is really there', () => {
    const scheduler = createScheduler({ maxSeqLen: 200, canCopySlots: true })
    scheduler.add(createRequest(1, { promptTokens: 150, from: 0, maxNewTokens: 1 }))
    step(scheduler)
    scheduler.add(createRequest(2, { promptTokens: 200, from: 0 }))
    expect(scheduler.plan()).toBeNull()
    expect(typesOf(scheduler.takeEvents())).toEqual(['2 sequence-start', '2 sequence-end'])
    scheduler.add(createRequest(3, { promptTokens: 190, from: 0 }))
    expect(planned(scheduler).starts).toMatchObject([{ slotId: 0, cachedTokens: 150, copyFromSlotId: null }])
  })

  it('cuts text at a stop string that is split across tokens, and keeps its tokens', () => {
    const texts = ['Hel', 'lo E', 'N', 'D more']
    const scheduler = createScheduler({ tokenBytes: (id) => Buffer.from(texts[id] ?? '') })
    scheduler.add(createRequest(1, { stopStrings: ['END'], maxNewTokens: 50 }))
    const events = texts.flatMap((_, tokenId) => (scheduler.hasWork ? step(scheduler, tokenId) : []))
    const deltas = events.filter((event) => event.type === 'text-delta')
    expect(deltas.map(({ text }) => text)).toEqual(['Hel', 'lo ', '', ''])
    expect(deltas.flatMap(({ tokenIds }) => tokenIds)).toEqual([0, 1, 2, 3])
    expect(events.at(-1)).toEqual({
      type: 'sequence-end',
      reqId: 1,
      finishReason: 'stop',
      stopString: 'END',
    })
  })

  it('shows control tokens to those that ask for them', () => {
    const scheduler = createScheduler({ tokenBytes: () => Buffer.from('') })
    scheduler.add(createRequest(1, { shownTokens: new Map([[7, Buffer.from('[CALL]')]]), maxNewTokens: 2 }))
    expect(step(scheduler, 7)[1]).toMatchObject({ type: 'text-delta', text: '[CALL]', tokenIds: [7] })
    expect(step(scheduler, 8)[0]).toMatchObject({ type: 'text-delta', text: '', tokenIds: [8] })
  })

  it('shows text held back for a stop string when the sequence ends otherwise', () => {
    const scheduler = createScheduler({ tokenBytes: () => Buffer.from('EN') })
    scheduler.add(createRequest(1, { stopStrings: ['END'], maxNewTokens: 1 }))
    expect(step(scheduler)[1]).toMatchObject({ type: 'text-delta', text: 'EN' })
  })

  it('seats seeded sequences in the same slots whatever ran before', () => {
    const seatsAfter = (history: readonly number[]): (number | undefined)[] => {
      const scheduler = createScheduler()
      for (const reqId of history) {
        scheduler.add(createRequest(reqId, { maxNewTokens: 1 }))
        step(scheduler)
      }
      const sampling = { ...GREEDY, seed: 1 }
      scheduler.addBlock([8, 9].map((reqId) => createRequest(reqId, { sampling })))
      return planned(scheduler).starts.map(({ slotId }) => slotId)
    }
    expect(seatsAfter([1])).toEqual([0, 1])
    expect(seatsAfter([1, 2, 3])).toEqual([0, 1])
  })

  describe('prefix reuse', () => {
    it('gives a prompt the free slot that holds the most of it', () => {
      const scheduler = createScheduler()
      scheduler.add(createRequest(1, { promptTokens: 100, maxNewTokens: 1 }))
      step(scheduler)
      scheduler.add(createRequest(2, { promptTokens: 120, from: 100_000, maxNewTokens: 1 }))
      const { starts, runs } = planned(scheduler)
      expect(starts).toMatchObject([{ slotId: 0, cachedTokens: 100, copyFromSlotId: null }])
      expect(runs[0]).toMatchObject({ position: 100, wantsToken: true })
    })

    it('always computes the last token of a prompt that is cached whole', () => {
      const scheduler = createScheduler()
      for (const reqId of [1, 2]) {
        scheduler.add(createRequest(reqId, { promptTokens: 100, from: 0, maxNewTokens: 1 }))
        if (reqId === 1) step(scheduler)
      }
      expect(planned(scheduler)).toMatchObject({ starts: [{ cachedTokens: 99 }], runs: [{ position: 99 }] })
    })

    it('does not choose a slot for a prefix under 64 tokens', () => {
      const scheduler = createScheduler()
      scheduler.add(createRequest(1, { promptTokens: 63, from: 0, maxNewTokens: 1 }))
      step(scheduler)
      scheduler.add(createRequest(2, { promptTokens: 80, from: 0, maxNewTokens: 1 }))
      expect(planned(scheduler).starts).toMatchObject([{ cachedTokens: 0 }])
    })

    it('keeps what a slot happens to hold of a prompt, however short', () => {
      const scheduler = createScheduler({ maxBatchSize: 1 })
      scheduler.add(createRequest(1, { promptTokens: 20, from: 0, maxNewTokens: 1 }))
      step(scheduler)
      scheduler.add(createRequest(2, { promptTokens: 80, from: 0, maxNewTokens: 1 }))
      expect(planned(scheduler)).toMatchObject({ starts: [{ cachedTokens: 20 }], runs: [{ position: 20 }] })
    })

    it('copies a prefix from a slot that is busy, when the runner can', () => {
      const scheduler = createScheduler({ canCopySlots: true })
      scheduler.add(createRequest(1, { promptTokens: 100, from: 0, maxNewTokens: 50 }))
      step(scheduler)
      scheduler.add(createRequest(2, { promptTokens: 110, from: 0 }))
      expect(planned(scheduler).starts).toMatchObject([{ slotId: 1, cachedTokens: 100, copyFromSlotId: 0 }])
    })

    it.each([
      // Slot 5 runs; the others were used last in the order 0, 4, 3, 1, 2.
      ['which is behind it', [1, 4, 5, 3, 2, 50], 4],
      // Slot 0 runs; the others were used last in the order 3, 1, 4, 2, 5.
      ['which is before it', [50, 2, 4, 1, 3, 5], 1],
    ])(
      'gives up an old cache beside a running sequence (%s) rather than the oldest far from it',
      (_, lengths, slotId) => {
        const scheduler = createScheduler({ maxBatchSize: 6 })
        for (const [reqId, maxNewTokens] of lengths.entries()) {
          scheduler.add(createRequest(reqId, { maxNewTokens }))
        }
        for (let i = 0; i < 5; i++) step(scheduler)
        scheduler.add(createRequest(7))
        expect(planned(scheduler).starts).toMatchObject([{ slotId }])
      },
    )

    it('waits for a prefix that another prompt is computing, and copies it then', () => {
      const scheduler = createScheduler({ maxBatchSize: 3, canCopySlots: true, stepTokenBudget: 512 })
      const prompt = (last: number): number[] => [...Array(700).keys(), last]
      for (const reqId of [1, 2, 3]) scheduler.add({ ids: prompt(-reqId), reqId, maxNewTokens: 5 })
      expect(planned(scheduler)).toMatchObject({ starts: [{ slotId: 0 }], runs: [{ position: 0 }] })
      scheduler.update({ tokenIds: [] })
      scheduler.checkIntegrity()
      expect([scheduler.runningCount, scheduler.waitingCount]).toEqual([1, 2])
      step(scheduler)
      const copied = { cachedTokens: 700, copyFromSlotId: 0 }
      expect(planned(scheduler).starts).toMatchObject([
        { slotId: 1, ...copied },
        { slotId: 2, ...copied },
      ])
    })

    it('computes the rest of a prefix itself when the prompt it waited for is aborted', () => {
      const scheduler = createScheduler({ canCopySlots: true, stepTokenBudget: 512 })
      for (const reqId of [1, 2]) scheduler.add(createRequest(reqId, { promptTokens: 800, from: 0 }))
      step(scheduler)
      scheduler.abort(1)
      expect(planned(scheduler)).toMatchObject({
        starts: [{ slotId: 0, cachedTokens: 512 }],
        runs: [{ position: 512 }],
      })
    })

    it('keeps a slot for a sequence that waits for a prefix', () => {
      const scheduler = createScheduler({ canCopySlots: true, stepTokenBudget: 512 })
      for (const reqId of [1, 2]) scheduler.add(createRequest(reqId, { promptTokens: 700, from: 0 }))
      scheduler.add(createRequest(3))
      step(scheduler)
      expect([scheduler.runningCount, scheduler.waitingCount]).toEqual([1, 2])
      step(scheduler)
      expect(planned(scheduler).starts).toMatchObject([{ slotId: 1, cachedTokens: 699, copyFromSlotId: 0 }])
    })

    it('copies two prefixes a step while anything streams', () => {
      const scheduler = createScheduler({ maxBatchSize: 6, canCopySlots: true })
      scheduler.add(createRequest(1, { promptTokens: 100, from: 0, maxNewTokens: 50 }))
      step(scheduler)
      for (const reqId of [2, 3, 4, 5]) scheduler.add(createRequest(reqId, { promptTokens: 110, from: 0 }))
      expect(planned(scheduler).starts).toHaveLength(2)
    })

    it('takes a free slot rather than copies a busy one that holds no more of a prompt', () => {
      const scheduler = createScheduler({ canCopySlots: true })
      scheduler.add(createRequest(1, { promptTokens: 100, from: 0, maxNewTokens: 50 }))
      step(scheduler)
      scheduler.add({ ids: prompt(100, 10, 2), reqId: 2, maxNewTokens: 1 })
      step(scheduler)
      scheduler.add({ ids: prompt(100, 50, 3), reqId: 3, maxNewTokens: 1 })
      expect(planned(scheduler).starts).toMatchObject([
        { slotId: 1, cachedTokens: 100, copyFromSlotId: null },
      ])
    })

    it('copies any number of prefixes a step while nothing streams', () => {
      const scheduler = createScheduler({ maxBatchSize: 3, canCopySlots: true })
      scheduler.add({ ids: prompt(100, 1, 1), reqId: 1, maxNewTokens: 1 })
      step(scheduler)
      for (const reqId of [2, 3, 4]) scheduler.add({ ids: prompt(100, 200, reqId), reqId, maxNewTokens: 9 })
      expect(planned(scheduler).starts.map(({ copyFromSlotId }) => copyFromSlotId)).toEqual([null, 0, 0])
    })

    it('does not wait for a prefix of another account where the scope is the account', () => {
      const scheduler = createScheduler({ canCopySlots: true, prefixCacheScope: 'account' })
      for (const [reqId, accountId] of ['a', 'b'].entries()) {
        const place = { priorityClass: 0, priority: 0, accountId }
        scheduler.add(createRequest(reqId, { promptTokens: 800, from: 0, place }))
      }
      expect(planned(scheduler).starts).toHaveLength(2)
    })

    describe('of another account', () => {
      const placeOf = (accountId: string) => ({ priorityClass: 0, priority: 0, accountId })

      /** How much each of the prompts finds, which begin as one of account a does and are run in the only slot, one by one. */
      function found(accountId: string, lengths: readonly number[]): (number | undefined)[] {
        return lengths.map((length) => {
          const scheduler = createScheduler({ maxBatchSize: 1 })
          scheduler.add({ ids: prompt(200, 100, 1), reqId: 1, maxNewTokens: 1, place: placeOf('a') })
          while (scheduler.hasWork) step(scheduler)
          const ids = prompt(length, 20, 2)
          scheduler.add({ ids, reqId: 2, maxNewTokens: 1, place: placeOf(accountId) })
          return planned(scheduler).starts[0]?.cachedTokens
        })
      }

      it('a prompt finds whole blocks, so that nobody spells out a text token by token', () => {
        const lengths = [3, 63, 64, 65, 127, 128, 150, 151]
        expect(found('b', lengths)).toEqual([0, 0, 64, 64, 64, 128, 128, 128])
        expect(found('a', lengths)).toEqual(lengths)
      })

      it('a prompt waits for whole blocks alone', () => {
        const scheduler = createScheduler({ canCopySlots: true })
        scheduler.add({ ids: prompt(40, 1, 1), reqId: 1, maxNewTokens: 1, place: placeOf('b') })
        while (scheduler.hasWork) step(scheduler)
        for (const [reqId, accountId] of ['a', 'b'].entries())
          scheduler.add({ ids: prompt(110, 700, reqId), reqId, maxNewTokens: 1, place: placeOf(accountId) })
        expect(planned(scheduler).starts).toHaveLength(2)
      })
    })

    it('copies a second prefix only for a prompt that the same step has room for', () => {
      const scheduler = createScheduler({ maxBatchSize: 6, canCopySlots: true })
      scheduler.add(createRequest(1, { promptTokens: 100, from: 0, maxNewTokens: 50 }))
      step(scheduler)
      for (const reqId of [2, 3, 4]) scheduler.add({ ids: prompt(100, 90, reqId), reqId, maxNewTokens: 50 })
      for (const waiting of [2, 1, 0]) {
        const plan = planned(scheduler)
        expect([tokensOf(plan).includes(90), scheduler.waitingCount]).toEqual([true, waiting])
        scheduler.update(answer(plan, 7))
      }
    })

    it.each([
      { name: 'most of a tile behind a long prefix', shared: 950, own: 50, cachedTokens: 936 },
      { name: 'little behind a long prefix', shared: 950, own: 47, cachedTokens: 950 },
      { name: 'more than a tile behind a long prefix', shared: 950, own: 65, cachedTokens: 950 },
      { name: 'most of a tile behind a short prefix', shared: 600, own: 50, cachedTokens: 600 },
    ])('computes a whole tile where that is quicker: $name', ({ shared, own, cachedTokens }) => {
      const scheduler = createScheduler()
      scheduler.add({ ids: prompt(shared, own, 1), reqId: 1, maxNewTokens: 1 })
      while (scheduler.runningCount + scheduler.waitingCount > 0) step(scheduler)
      scheduler.add({ ids: prompt(shared, own, 2), reqId: 2, maxNewTokens: 1 })
      expect(planned(scheduler)).toMatchObject({
        starts: [{ cachedTokens }],
        runs: [{ position: cachedTokens }],
      })
    })

    it('copies rather than cuts a long cache of which only the smaller part is shared', () => {
      const scheduler = createScheduler({ canCopySlots: true })
      scheduler.add(createRequest(1, { promptTokens: 400, from: 0, maxNewTokens: 1 }))
      step(scheduler)
      const ids = Array.from({ length: 200 }, (_, i) => (i < 100 ? i : -i))
      scheduler.add({ ids, reqId: 2, maxNewTokens: 1 })
      expect(planned(scheduler).starts).toMatchObject([{ slotId: 1, cachedTokens: 100, copyFromSlotId: 0 }])
    })

    it('remembers nothing for a runner whose cache cannot be cut', () => {
      const scheduler = createScheduler({ canReusePrefixes: false })
      for (const reqId of [1, 2]) {
        scheduler.add(createRequest(reqId, { promptTokens: 100, from: 0, maxNewTokens: 1 }))
        if (reqId === 1) step(scheduler)
      }
      expect(planned(scheduler).starts).toMatchObject([{ cachedTokens: 0 }])
    })
  })

  describe('queue', () => {
    it('queues nothing of a block of which one prompt is refused', () => {
      const scheduler = createScheduler({ maxSeqLen: 10 })
      const block = [createRequest(1), createRequest(2, { promptTokens: 11 })]
      expect(() => scheduler.addBlock(block)).toThrow('11 tokens')
      expect(scheduler.hasWork).toBe(false)
    })

    it('tells how long a sequence waited', () => {
      const clock = new VirtualClock()
      const scheduler = createScheduler({ maxBatchSize: 1, clock })
      scheduler.add(createRequest(1, { maxNewTokens: 1 }))
      scheduler.add(createRequest(2))
      step(scheduler)
      clock.advance(250)
      expect(step(scheduler)[0]).toMatchObject({ type: 'sequence-start', reqId: 2, queueMs: 250 })
    })
  })

  describe('abort', () => {
    it('drops a waiting sequence before it costs anything', () => {
      const scheduler = createScheduler({ maxBatchSize: 1 })
      scheduler.add(createRequest(1))
      scheduler.add(createRequest(2))
      step(scheduler)
      expect(scheduler.abort(2)).toBe(true)
      expect(scheduler.waitingCount).toBe(0)
    })

    it('frees the slot of a running one at once, and no event of it follows', () => {
      const scheduler = createScheduler({ maxBatchSize: 1 })
      scheduler.add(createRequest(1))
      step(scheduler)
      scheduler.add(createRequest(2))
      expect(scheduler.abort(1)).toBe(true)
      expect(typesOf(step(scheduler))).toEqual(['2 sequence-start', '2 text-delta'])
    })

    it('is heard between plan and update', () => {
      const scheduler = createScheduler()
      scheduler.add(createRequest(1))
      const plan = planned(scheduler)
      scheduler.abort(1)
      expect(scheduler.update(answer(plan))).toEqual([])
      scheduler.checkIntegrity()
    })

    it('of something unknown or ended does nothing', () => {
      expect(createScheduler().abort(1)).toBe(false)
    })
  })

  it('passes over a sequence whose matcher is not ready, and keeps no slot for it', () => {
    const ready = new Set<number>()
    const scheduler = createScheduler({ maxBatchSize: 1, isMatcherReady: (id) => ready.has(id) })
    scheduler.add(createRequest(1, { matcherId: 5, maxNewTokens: 1 }))
    scheduler.add(createRequest(2, { maxNewTokens: 1 }))
    expect(typesOf(step(scheduler))).toEqual(['2 sequence-start', '2 text-delta', '2 sequence-end'])
    expect(scheduler.plan()).toBeNull()
    ready.add(5)
    expect(planned(scheduler).starts).toMatchObject([{ slotId: 0, matcherId: 5 }])
  })

  it('gives slots that a lower tier has left to it again, beside those that are kept for a higher one', () => {
    const scheduler = createScheduler({ maxBatchSize: 8, schedulePolicy: 'priority' })
    const place = { priorityClass: 0, priority: 0, accountId: 'a', servedClasses: [0, 2] }
    for (let reqId = 0; reqId < 20; reqId++) scheduler.add(createRequest(reqId, { maxNewTokens: 1, place }))
    for (let i = 0; i < 3; i++) step(scheduler)
    expect(scheduler.hasWork).toBe(false)
  })

  it('credits an account what its texts did not use', () => {
    const scheduler = createScheduler({ maxBatchSize: 1, schedulePolicy: 'priority' })
    for (const [reqId, accountId] of ['a', 'a', 'b', 'b'].entries()) {
      const place = { priorityClass: 0, priority: 0, accountId }
      scheduler.add(createRequest(reqId, { maxNewTokens: accountId === 'a' ? 2000 : 200, place }))
    }
    const started: number[] = []
    while (scheduler.hasWork) {
      for (const { type, reqId } of step(scheduler, null)) if (type === 'sequence-start') started.push(reqId)
    }
    expect(started).toEqual([0, 2, 1, 3])
  })

  it('refuses a token budget that could starve prefills', () => {
    expect(() => createScheduler({ maxBatchSize: 500, stepTokenBudget: 600 })).toThrow(RangeError)
  })

  it.each(['fcfs', 'priority', 'fair'] as const)(
    'keeps its books and ends every sequence exactly once under random operations (%s)',
    (schedulePolicy) => {
      const operation = fc.oneof(
        {
          weight: 3,
          arbitrary: fc.record({ kind: fc.constant('add' as const), size: fc.integer({ min: 1, max: 5 }) }),
        },
        { weight: 6, arbitrary: fc.record({ kind: fc.constant('step' as const), token: fc.nat(30) }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), which: fc.nat(40) }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(9000) }) },
      )
      fc.assert(
        fc.property(
          fc.array(operation, { maxLength: 80 }),
          fc.integer({ min: 1, max: 4 }),
          (operations, slots) => {
            const clock = new VirtualClock()
            const scheduler = createScheduler({
              maxBatchSize: slots,
              schedulePolicy,
              clock,
              maxSeqLen: 700,
              canCopySlots: slots % 2 === 0,
            })
            const held = new Set<number>()
            const ended = new Map<number, number>()
            let nextReqId = 0
            const take = (events: readonly SchedulerEvent[]): void => {
              for (const event of events) {
                expect(held.has(event.reqId)).toBe(true)
                if (event.type !== 'sequence-end') continue
                held.delete(event.reqId)
                ended.set(event.reqId, (ended.get(event.reqId) ?? 0) + 1)
              }
            }
            for (const op of operations) {
              if (op.kind === 'add') {
                const requests = Array.from({ length: op.size }, (_, i) => {
                  const reqId = nextReqId++
                  const servedClasses = op.size % 2 === 0 ? [] : [0, 1, 2]
                  const priorityClass = reqId % 3
                  const place = { accountId: String(reqId % 3), priorityClass, priority: i, servedClasses }
                  const sampling = { ...GREEDY, seed: reqId % 4 === 0 ? 1 : null }
                  const promptTokens = (reqId * 97) % 701
                  return createRequest(reqId, {
                    promptTokens,
                    from: (reqId % 2) * 50,
                    place,
                    sampling,
                    maxNewTokens: 1 + (reqId % 9),
                  })
                })
                scheduler.addBlock(requests)
                for (const { reqId } of requests) held.add(reqId)
              } else if (op.kind === 'step')
                take(step(scheduler, op.token === 0 ? EOS : op.token === 1 ? null : op.token))
              else if (op.kind === 'wait') clock.advance(op.ms)
              else if (scheduler.abort(op.which)) held.delete(op.which)
              scheduler.checkIntegrity()
            }
            for (let i = 0; scheduler.hasWork && i < 2000; i++) take(step(scheduler))
            expect(scheduler.hasWork).toBe(false)
            expect([...held]).toEqual([])
            expect([...ended.values()].every((times) => times === 1)).toBe(true)
          },
        ),
        { numRuns: lengthOf({ test: 150, soak: 6000 }) },
      )
    },
  )
})
