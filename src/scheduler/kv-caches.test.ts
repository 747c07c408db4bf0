/** Whatever comes and goes, plans ask of the KV caches only what those allow, and leave nothing behind. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PretendRunner } from '../../test/support/engines/pretend-runner.ts'
import { createRequest } from '../../test/support/engines/sequences.ts'
import { lengthOf } from '../../test/support/length-of.ts'
import { VirtualClock } from '../core/clock.ts'
import { SCHEDULE_POLICIES } from '../core/choices/schedule-policy.ts'
import { ServiceError } from '../core/errors.ts'
import { ContinuousBatchScheduler } from './continuous-batch-scheduler.ts'
import { GREEDY } from './sequence.ts'

const EOS = 26
const SLOTS = 4
const BEAM_ROOM = { seats: 8, tokens: 700, reserve: { seats: 8, tokens: 320 } }
/** Two or three of the conversations below. */
const HOST_ROOM = { maxBytes: 900, copyBytes: (tokens: number) => 40 + tokens, windowTokens: null }
/** Little more than one sequence needs. */
const SHARED_TOKENS = 340
const CLASSES = [0, 1, 2]

const operation = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('step' as const), eos: fc.nat(40) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      numBeams: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 8 })),
      promptTokens: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 300 })),
      maxNewTokens: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 250 })),
      from: fc.nat(2),
      isSeeded: fc.boolean(),
      hasStop: fc.boolean(),
      account: fc.nat(2),
      adapter: fc.nat(2),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('abort' as const, 'abortInStep' as const),
      which: fc.nat(30),
    }),
  },
)

/** Together they need far more than a shared cache has. */
const PREEMPTING = Array.from({ length: SLOTS }, () => ({
  kind: 'add' as const,
  ...{ numBeams: 1, promptTokens: 40, maxNewTokens: 250, from: 0, adapter: 0 },
  ...{ isSeeded: false, hasStop: false, account: 0 },
}))

describe('the KV caches', () => {
  it.each([
    ...SCHEDULE_POLICIES.map((policy) => ['can be cut', policy] as const),
    ['cannot be cut', 'fcfs'],
    ...SCHEDULE_POLICIES.map((policy) => ['are shared', policy] as const),
    ['are shared and cannot be cut', 'fcfs'],
  ] as const)(
    'that %s hold what the plans say under %s, with aborts at any moment',
    (kind, schedulePolicy) => {
      const canCut = !kind.endsWith('cannot be cut')
      const sharedTokens = kind.startsWith('are shared') ? SHARED_TOKENS : null
      let preemptions = 0
      fc.assert(
        fc.property(fc.array(operation, { maxLength: 80 }), (operations) => {
          let eosAtRank = -1
          let drawn = 0
          const runner = new PretendRunner({
            slots: SLOTS,
            beamRoom: BEAM_ROOM,
            hostRoom: HOST_ROOM,
            sharedTokens,
            canCut,
            nextToken: (rank) => (rank === eosAtRank ? EOS : (drawn++ * 7 + rank) % EOS),
            draftToken: () => ((drawn + 1) * 7) % EOS,
            times: ({ drafts = [] }) => ({
              decodeMs: 10 + drafts.length,
              promptMs: 1,
              draft: { proposalsMs: 1, catchUpMs: 0.1 },
            }),
          })
          const clock = new VirtualClock()
          const scheduler = new ContinuousBatchScheduler({
            maxBatchSize: SLOTS,
            maxSeqLen: 320,
            schedulePolicy,
            clock,
            ...{ canReusePrefixes: canCut, canCopySlots: canCut, canContinueSlots: true },
            maxDraftTokens: 15,
            draftRoom: { maxSeqLen: 280, maxTokens: 8, maxStepTokens: 16 },
            beamRoom: BEAM_ROOM,
            sharedTokens,
            hostRoom: HOST_ROOM,
            isEndOfGeneration: (tokenId) => tokenId === EOS,
            tokenBytes: (tokenId) => Buffer.from(String.fromCodePoint(97 + tokenId)),
          })
          const ends = new Map<number, number>()
          const step = (aborts: readonly number[] = []): void => {
            const plan = scheduler.plan()
            const events = [...scheduler.takeEvents()]
            scheduler.checkIntegrity()
            const output = plan === null ? null : runner.execute(plan)
            for (const reqId of aborts) if (scheduler.abort(reqId)) ends.delete(reqId)
            if (output !== null) events.push(...scheduler.update(output))
            scheduler.checkIntegrity()
            for (const { type, reqId } of events) {
              if (type === 'sequence-end') ends.set(reqId, (ends.get(reqId) ?? 0) + 1)
            }
          }
          let reqId = 0
          for (const op of operations) {
            clock.advance(700)
            if (op.kind === 'add') {
              const { numBeams, promptTokens, maxNewTokens, from, isSeeded, hasStop, account, adapter } = op
              const request = createRequest(reqId, {
                numBeams,
                promptTokens,
                maxNewTokens,
                from: from * 1000,
                ...(adapter > 0 && { adapterId: adapter }),
                sampling: { ...GREEDY, seed: isSeeded ? 1 : null },
                stopStrings: hasStop ? ['hoc'] : [],
                place: {
                  priorityClass: account,
                  priority: 0,
                  accountId: String(account),
                  servedClasses: CLASSES,
                },
              })
              try {
                scheduler.add(request)
                ends.set(reqId++, 0)
              } catch (error) {
                expect(error).toBeInstanceOf(ServiceError)
              }
            } else if (op.kind === 'step') {
              eosAtRank = op.eos
              step()
            } else if (op.kind === 'abortInStep') step([op.which])
            else if (scheduler.abort(op.which)) ends.delete(op.which)
            scheduler.checkIntegrity()
          }
          for (let i = 0; scheduler.hasWork && i < 10_000; i++) step()
          expect(scheduler.hasWork).toBe(false)
          expect([...ends.values()].every((count) => count === 1)).toBe(true)
          preemptions += scheduler.preemptions
        }),
        { numRuns: lengthOf({ test: 50, soak: 3000 }), examples: [[PREEMPTING]] },
      )
      expect(preemptions > 0).toBe(sharedTokens !== null)
    },
  )

  /** One slot that cannot be cut; a step tells what its start took over. */
  function createUncut() {
    const runner = new PretendRunner({ slots: 1, beamRoom: BEAM_ROOM, canCut: false, nextToken: () => 0 })
    const scheduler = new ContinuousBatchScheduler({
      ...{ maxBatchSize: 1, maxSeqLen: 4096, schedulePolicy: 'fcfs', clock: new VirtualClock() },
      ...{ canReusePrefixes: false, canContinueSlots: true },
    })
    const step = (whenPlanned: () => void = () => {}): number | undefined => {
      const plan = scheduler.plan()
      if (plan === null) throw new Error('nothing was planned')
      whenPlanned()
      scheduler.update(runner.execute(plan))
      scheduler.checkIntegrity()
      return plan.starts[0]?.cachedTokens
    }
    return { scheduler, step }
  }

  it('that cannot be cut are continued whole or not at all', () => {
    const { scheduler, step } = createUncut()
    scheduler.add(createRequest(1, { promptTokens: 200, from: 0, maxNewTokens: 1 }))
    step()
    scheduler.add(createRequest(2, { promptTokens: 250, from: 0, maxNewTokens: 1 }))
    expect(step()).toBe(200)
    const branch = [...Array(240).keys(), ...Array<number>(60).fill(9999)]
    scheduler.add({ ...createRequest(3), ids: branch, maxNewTokens: 1 })
    expect(step()).toBe(0)
  })

  it('that cannot be cut are not continued after a step whose sequence was aborted in it', () => {
    const { scheduler, step } = createUncut()
    // Two steps: of what the second computes nothing is recorded.
    scheduler.add(createRequest(1, { promptTokens: 600, from: 0 }))
    step()
    step(() => scheduler.abort(1))
    scheduler.add(createRequest(2, { promptTokens: 700, from: 0, maxNewTokens: 1 }))
    expect(step()).toBe(0)
    step()
    scheduler.add(createRequest(3, { promptTokens: 701, from: 0 }))
    expect(step()).toBe(700)
  })
})
