import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answer, createRequest } from '../../../test/support/engines/sequences.ts'
import { lengthOf } from '../../../test/support/length-of.ts'
import { VirtualClock } from '../../core/clock.ts'
import type { BeamChoice, BeamPlan, StepOutput, StepPlan } from '../../protocol/model-runner.ts'
import {
  ContinuousBatchScheduler,
  type SchedulerEvent,
  type SchedulerOptions,
} from '../continuous-batch-scheduler.ts'
import { GREEDY } from '../sequence.ts'

const EOS = 999_999

function createScheduler(options: Partial<SchedulerOptions> = {}): ContinuousBatchScheduler {
  return new ContinuousBatchScheduler({
    maxBatchSize: 2,
    maxSeqLen: 4096,
    schedulePolicy: 'fcfs',
    clock: new VirtualClock(),
    beamRoom: { seats: 8, tokens: 4096 },
    isEndOfGeneration: (tokenId) => tokenId === EOS,
    tokenBytes: (tokenId) => Buffer.from(String.fromCodePoint(97 + (tokenId % 26))),
    ...options,
  })
}

/** Two ways to go on with each beam, the first token likelier. */
function chooseTwo({ groups }: BeamPlan, tokenIds: readonly number[]): BeamChoice[][] {
  return groups
    .filter(({ beams }) => beams.length > 0)
    .map(({ beams, candidates }) =>
      beams
        .flatMap(({ score }, beam) =>
          tokenIds.map((tokenId, i) => ({ beam, tokenId, score: score - 1 - beam / 10 - i / 100 })),
        )
        .sort((a, b) => b.score - a.score)
        .slice(0, candidates),
    )
}

function outputOf(plan: StepPlan, tokenIds: readonly number[] = [1, 2, 3, 4]): StepOutput {
  const beamChoices = plan.beams === undefined ? [] : chooseTwo(plan.beams, tokenIds)
  return { ...answer(plan), beamChoices }
}

function step(scheduler: ContinuousBatchScheduler, tokenIds?: readonly number[]): SchedulerEvent[] {
  const plan = scheduler.plan()
  scheduler.checkIntegrity()
  const events = plan === null ? scheduler.takeEvents() : scheduler.update(outputOf(plan, tokenIds))
  scheduler.checkIntegrity()
  return events
}

function beamsOf(plan: StepPlan | null): BeamPlan {
  if (plan?.beams === undefined) throw new Error('no beams were planned')
  return plan.beams
}

const typesOf = (events: readonly SchedulerEvent[]): string[] =>
  events.map(({ type, reqId }) => `${reqId} ${type}`)
const runTokens = (plan: BeamPlan): number[][] =>
  plan.groups.map(({ runs }) => runs.map(({ tokenIds }) => tokenIds.length))

describe('beam searches in the scheduler', () => {
  it('tell their text in one piece at their end', () => {
    const scheduler = createScheduler()
    scheduler.add(createRequest(1, { numBeams: 2, maxNewTokens: 3 }))
    expect(typesOf(step(scheduler))).toEqual(['1 sequence-start'])
    expect(step(scheduler)).toEqual([])
    expect(step(scheduler)).toEqual([
      { type: 'text-delta', reqId: 1, text: 'bbb', tokenIds: [1, 1, 1] },
      { type: 'sequence-end', reqId: 1, finishReason: 'length' },
    ])
    expect(scheduler.hasWork).toBe(false)
  })

  it('tell what was held back for a stop string that did not come', () => {
    const scheduler = createScheduler()
    scheduler.add(createRequest(1, { numBeams: 2, maxNewTokens: 3, stopStrings: ['bx'] }))
    step(scheduler)
    step(scheduler)
    expect(step(scheduler)[0]).toMatchObject({ type: 'text-delta', text: 'bbb' })
  })

  it('stop at an end token, which is counted and not shown', () => {
    const scheduler = createScheduler()
    scheduler.add(createRequest(1, { numBeams: 2, maxNewTokens: 20 }))
    step(scheduler)
    const events = [step(scheduler, [EOS]), step(scheduler, [EOS])].flat()
    expect(events).toEqual([
      { type: 'text-delta', reqId: 1, text: 'b', tokenIds: [1, EOS] },
      { type: 'sequence-end', reqId: 1, finishReason: 'stop' },
    ])
  })

  it('name the stop string that ended the best beam', () => {
    const scheduler = createScheduler()
    scheduler.add(createRequest(1, { numBeams: 2, maxNewTokens: 20, stopStrings: ['no', 'bb'] }))
    const events = Array.from({ length: 20 }, () => (scheduler.hasWork ? step(scheduler) : [])).flat()
    expect(events.slice(1)).toEqual([
      { type: 'text-delta', reqId: 1, text: '', tokenIds: [1, 1] },
      { type: 'sequence-end', reqId: 1, finishReason: 'stop', stopString: 'bb' },
    ])
  })

  it('compute their prompt once, in chunks cut at the same places, and fork its seat to the others', () => {
    const scheduler = createScheduler()
    scheduler.add(createRequest(1, { numBeams: 3, promptTokens: 300 }))
    const plans = Array.from({ length: 4 }, () => {
      const plan = scheduler.plan()
      if (plan !== null) scheduler.update(outputOf(plan))
      return beamsOf(plan)
    })
    expect(plans.map(runTokens)).toEqual([[[128]], [[128]], [[44]], [[1, 1, 1]]])
    expect(plans.map(({ forks }) => forks)).toEqual([
      [],
      [],
      [],
      [
        { from: 0, to: 1 },
        { from: 0, to: 2 },
      ],
    ])
    expect(plans[3]?.groups[0]?.runs.map(({ position }) => position)).toEqual([300, 300, 300])
  })

  it('run beside the batch: each running sequence gets its token in every step', () => {
    const scheduler = createScheduler()
    for (const reqId of [1, 2]) scheduler.add(createRequest(reqId, { maxNewTokens: 50 }))
    scheduler.add(createRequest(3, { numBeams: 8, promptTokens: 1000, maxNewTokens: 20 }))
    step(scheduler)
    for (let i = 0; i < 25; i++) {
      const deltas = step(scheduler).filter(({ type, reqId }) => type === 'text-delta' && reqId < 3)
      expect(deltas).toHaveLength(2)
    }
  })

  it('wait for seats in their turn, while others that need none go on', () => {
    const scheduler = createScheduler()
    scheduler.add(createRequest(1, { numBeams: 5, maxNewTokens: 3 }))
    scheduler.add(createRequest(2, { numBeams: 4, maxNewTokens: 3 }))
    scheduler.add(createRequest(3, { numBeams: 2, maxNewTokens: 3 }))
    scheduler.add(createRequest(4, { maxNewTokens: 1 }))
    expect(typesOf(step(scheduler))).toEqual([
      '4 sequence-start',
      '1 sequence-start',
      '4 text-delta',
      '4 sequence-end',
    ])
    step(scheduler)
    expect(typesOf(step(scheduler))).toEqual(['1 text-delta', '1 sequence-end'])
    expect(typesOf(step(scheduler))).toEqual(['2 sequence-start', '3 sequence-start'])
  })

  it('wait for room for their longest texts', () => {
    const scheduler = createScheduler({ beamRoom: { seats: 8, tokens: 100 } })
    for (const reqId of [1, 2]) {
      scheduler.add(createRequest(reqId, { numBeams: 2, promptTokens: 20, maxNewTokens: 30 }))
    }
    expect(typesOf(step(scheduler))).toEqual(['1 sequence-start'])
    expect(scheduler.waitingCount).toBe(1)
  })

  it('are refused in one sentence where they would never fit', () => {
    const scheduler = createScheduler({ beamRoom: { seats: 8, tokens: 100 } })
    const request = createRequest(1, { numBeams: 4, promptTokens: 20, maxNewTokens: 30 })
    expect(() => scheduler.add(request)).toThrow(
      'num_beams 4 with a prompt of 20 tokens and 30 new ones takes room for 140 tokens, ' +
        "but the model's beams have room for 100.",
    )
    expect(scheduler.hasWork).toBe(false)
  })

  it('count the context they really have: a prompt near its end needs less room, one that fills it none', () => {
    const scheduler = createScheduler({ maxSeqLen: 90, beamRoom: { seats: 8, tokens: 100 } })
    scheduler.add(createRequest(1, { numBeams: 4, promptTokens: 88, maxNewTokens: 30 }))
    scheduler.add(createRequest(2, { numBeams: 4, promptTokens: 90, maxNewTokens: 30 }))
    const events = Array.from({ length: 3 }, () => step(scheduler)).flat()
    expect(typesOf(events)).toEqual([
      '1 sequence-start',
      '1 text-delta',
      '1 sequence-end',
      '2 sequence-start',
      '2 sequence-end',
    ])
    expect(events[1]).toMatchObject({ tokenIds: [1, 1] })
  })

  it('free everything when they are aborted, running or waiting, and leave nothing in their seats', () => {
    const scheduler = createScheduler()
    scheduler.add(createRequest(1, { numBeams: 8 }))
    scheduler.add(createRequest(2, { numBeams: 8 }))
    for (let i = 0; i < 3; i++) step(scheduler)
    const plan = scheduler.plan()
    scheduler.abort(1)
    scheduler.abort(2)
    if (plan !== null) expect(scheduler.update(outputOf(plan))).toEqual([])
    scheduler.checkIntegrity()
    expect(scheduler.hasWork).toBe(false)
    scheduler.add(createRequest(3, { numBeams: 3 }))
    const next = beamsOf(scheduler.plan())
    expect(new Set(next.drops)).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7]))
    expect(next.forks).toEqual([])
  })

  it('tell nothing of one that is aborted between plan and update, and empty its seats once', () => {
    const scheduler = createScheduler()
    scheduler.add(createRequest(1, { numBeams: 2, maxNewTokens: 1 }))
    scheduler.add(createRequest(2, { numBeams: 2 }))
    const plan = scheduler.plan()
    if (plan === null) throw new Error('nothing was planned')
    scheduler.abort(1)
    expect(scheduler.update(outputOf(plan)).map(({ reqId }) => reqId)).toEqual([2])
    const drops = [1, 2].map(() => {
      const next = scheduler.plan()
      if (next !== null) scheduler.update(outputOf(next))
      return beamsOf(next).drops.filter((seat) => seat < 2)
    })
    expect(drops).toEqual([[0, 1], []])
  })

  it('compute one prompt a step, and those that are computed go on beside it', () => {
    const scheduler = createScheduler()
    for (const reqId of [1, 2]) scheduler.add(createRequest(reqId, { numBeams: 2 }))
    const seats = [1, 2].map(() => {
      const plan = scheduler.plan()
      if (plan !== null) scheduler.update(outputOf(plan))
      return beamsOf(plan).groups.map(({ seat }) => seat)
    })
    expect(seats).toEqual([[0], [0, 2]])
  })

  it('use the reserve beside those of a lower tier, and not beside those of their own', () => {
    const beamRoom = { seats: 2, tokens: 4096, reserve: { seats: 2, tokens: 4096 } }
    const scheduler = createScheduler({ schedulePolicy: 'priority', beamRoom })
    const counts = [0, 0, 2].map((priorityClass, reqId) => {
      const place = { priorityClass, priority: 0, accountId: 'a' }
      scheduler.add(createRequest(reqId, { numBeams: 2, maxNewTokens: 100, place }))
      step(scheduler)
      return [scheduler.runningCount, scheduler.waitingCount]
    })
    expect(counts).toEqual([
      [1, 0],
      [1, 1],
      [2, 1],
    ])
  })

  it('are credited what they did not use', () => {
    const scheduler = createScheduler({
      schedulePolicy: 'priority',
      beamRoom: { seats: 2, tokens: 4096 },
    })
    for (const [reqId, accountId] of ['a', 'a', 'b', 'b'].entries()) {
      const place = { priorityClass: 0, priority: 0, accountId }
      const maxNewTokens = accountId === 'a' ? 2000 : 200
      scheduler.add(createRequest(reqId, { numBeams: 2, maxNewTokens, place }))
    }
    const started: number[] = []
    while (scheduler.hasWork) {
      for (const { type, reqId } of step(scheduler, [EOS, EOS]))
        if (type === 'sequence-start') started.push(reqId)
    }
    expect(started).toEqual([0, 2, 1, 3])
  })

  it('take all the room there is', () => {
    const size = { promptTokens: 96, numBeams: 4 }
    const scheduler = createScheduler()
    scheduler.check({ ...size, maxNewTokens: 1000 })
    expect(() => scheduler.check({ ...size, maxNewTokens: 1001 })).toThrow(
      expect.objectContaining({ code: 'beams_too_large' }),
    )
  })

  it('change nothing for a runner without room for them', () => {
    const scheduler = createScheduler({ beamRoom: null })
    scheduler.add(createRequest(1, { numBeams: 8, maxNewTokens: 1 }))
    expect(typesOf(step(scheduler))).toEqual(['1 sequence-start', '1 text-delta', '1 sequence-end'])
  })

  it.each(['fcfs', 'priority', 'fair'] as const)(
    'keep the books and end exactly once under random operations (%s)',
    (schedulePolicy) => {
      const operation = fc.oneof(
        { weight: 3, arbitrary: fc.record({ kind: fc.constant('add' as const), numBeams: fc.nat(7) }) },
        {
          weight: 8,
          arbitrary: fc.record({
            kind: fc.constant('step' as const),
            tokens: fc.array(fc.constantFrom(1, 2, 3, EOS), { minLength: 1, maxLength: 4 }),
          }),
        },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), which: fc.nat(20) }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('abortInStep' as const), which: fc.nat(20) }) },
      )
      fc.assert(
        fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
          const scheduler = createScheduler({
            schedulePolicy,
            maxSeqLen: 300,
            beamRoom: { seats: 8, tokens: 700 },
          })
          const held = new Set<number>()
          const take = (events: readonly SchedulerEvent[]): void => {
            for (const event of events) {
              expect(held.has(event.reqId)).toBe(true)
              if (event.type === 'sequence-end') held.delete(event.reqId)
            }
          }
          let nextReqId = 0
          for (const op of operations) {
            if (op.kind === 'add') {
              const reqId = nextReqId++
              const place = { accountId: String(reqId % 3), priorityClass: reqId % 3, priority: 0 }
              const options = { promptTokens: (reqId * 97) % 301, maxNewTokens: 1 + (reqId % 9), place }
              const sampling = { ...GREEDY, seed: reqId % 2 === 0 ? 1 : null }
              const stopStrings = reqId % 3 === 0 ? ['bc'] : []
              scheduler.add(
                createRequest(reqId, { ...options, sampling, stopStrings, numBeams: op.numBeams + 1 }),
              )
              held.add(reqId)
            } else if (op.kind === 'abort') {
              if (scheduler.abort(op.which)) held.delete(op.which)
            } else if (op.kind === 'abortInStep') {
              const plan = scheduler.plan()
              take(scheduler.takeEvents())
              if (scheduler.abort(op.which)) held.delete(op.which)
              if (plan !== null) take(scheduler.update(outputOf(plan)))
            } else take(step(scheduler, op.tokens))
            scheduler.checkIntegrity()
          }
          for (let i = 0; scheduler.hasWork && i < 3000; i++) take(step(scheduler))
          expect(scheduler.hasWork).toBe(false)
          expect([...held]).toEqual([])
        }),
        { numRuns: lengthOf({ test: 300, soak: 6000 }) },
      )
    },
  )
})
