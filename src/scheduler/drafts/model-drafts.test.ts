/** A draft model in the scheduler: the same texts in fewer steps, for all sequences at once, and only where it pays. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PretendRunner } from '../../../test/support/engines/pretend-runner.ts'
import { lengthOf } from '../../../test/support/length-of.ts'
import { VirtualClock } from '../../core/clock.ts'
import type { StepPlan, StepTimes } from '../../protocol/model-runner.ts'
import { ContinuousBatchScheduler, type SchedulerOptions } from '../continuous-batch-scheduler.ts'
import { GREEDY, type ScheduledRequest } from '../sequence.ts'

const EOS = 26
const SLOTS = 4
type NextToken = (heldTokenIds: readonly number[]) => number

/** No text repeats 12 tokens of itself. */
const model: NextToken = (held) => (held.length * held.length + (held.at(-1) ?? 0)) % EOS
const random: NextToken = (held) => (model(held) + 5) % EOS

/** Verifying costs a tenth of a token for each guess. */
const cheap = ({ runs, drafts = [] }: StepPlan): StepTimes => timesOf({ runs, drafts }, 1)
/** Many sequences keep the arithmetic busy: each token costs the same. */
const busy = ({ runs, drafts = [] }: StepPlan): StepTimes =>
  timesOf({ runs, drafts }, runs.length > 1 ? 5 * runs.length : 1)

function timesOf({ runs, drafts = [] }: Pick<StepPlan, 'runs' | 'drafts'>, guessMs: number): StepTimes {
  const proposes = drafts.find(({ proposes: tokens }) => tokens > 0)?.proposes ?? 0
  const caughtUp = drafts.filter(({ proposes: tokens }) => tokens === 0)
  return {
    decodeMs: 10 + proposes * guessMs,
    promptMs: runs.length,
    draft: {
      proposalsMs: proposes * 0.5,
      catchUpMs: caughtUp.reduce((sum, { tokenIds }) => sum + 0.1 * tokenIds.length, 0),
    },
  }
}

interface Setup extends Partial<SchedulerOptions> {
  readonly draftToken?: NextToken
  readonly nextToken?: NextToken
  readonly times?: (plan: StepPlan) => StepTimes
  readonly abort?: { readonly reqId: number; readonly step: number } | null
}

function runAll(requests: readonly ScheduledRequest[], setup: Setup) {
  const { draftToken = model, nextToken = model, times = cheap, abort = null, ...options } = setup
  const runner = new PretendRunner({
    slots: SLOTS,
    sharedTokens: options.sharedTokens ?? null,
    beamRoom: { seats: 8, tokens: 512 },
    nextToken: (_rank, held) => nextToken(held),
    draftToken,
    times,
  })
  const scheduler = new ContinuousBatchScheduler({
    maxBatchSize: SLOTS,
    maxSeqLen: 512,
    schedulePolicy: 'fcfs',
    clock: new VirtualClock(),
    canCopySlots: true,
    draftRoom: { maxSeqLen: 512, maxTokens: 8, maxStepTokens: 32 },
    isEndOfGeneration: (tokenId) => tokenId === EOS,
    tokenBytes: (tokenId) => Buffer.from(String.fromCodePoint(97 + tokenId)),
    ...options,
  })
  const plans: StepPlan[] = []
  const texts = new Map<number, string>()
  const counts = { draftedTokens: 0, acceptedTokens: 0 }
  for (const request of requests) scheduler.add(request)
  while (scheduler.hasWork) {
    const plan = scheduler.plan()
    scheduler.checkIntegrity()
    if (plan !== null) plans.push(plan)
    if (plans.length === abort?.step) scheduler.abort(abort.reqId)
    const events = plan === null ? scheduler.takeEvents() : scheduler.update(runner.execute(plan))
    scheduler.checkIntegrity()
    for (const event of events) {
      if (event.type === 'text-delta') texts.set(event.reqId, (texts.get(event.reqId) ?? '') + event.text)
      else if (event.type === 'sequence-end') {
        texts.set(event.reqId, `${texts.get(event.reqId) ?? ''} ${event.finishReason}`)
        counts.draftedTokens += event.drafts?.draftedTokens ?? 0
        counts.acceptedTokens += event.drafts?.acceptedTokens ?? 0
      }
    }
  }
  return { texts: [...texts].sort(([a], [b]) => a - b), plans, counts }
}

const requestsOf = (count: number, options: Partial<ScheduledRequest> = {}): ScheduledRequest[] =>
  Array.from({ length: count }, (_, reqId) => ({
    ids: Array.from({ length: 20 + reqId }, (_token, i) => (i * (reqId + 3)) % EOS),
    reqId,
    maxNewTokens: 200,
    ...options,
  }))

const proposalsOf = ({ drafts = [] }: StepPlan): number[] =>
  drafts.map(({ proposes }) => proposes).filter((proposes) => proposes > 0)

describe('a draft model', () => {
  it('guesses for all sequences that run, in one step and equally many tokens', () => {
    const requests = requestsOf(SLOTS)
    const [plain, drafted] = [runAll(requests, { draftRoom: null }), runAll(requests, {})]
    expect(drafted.texts).toEqual(plain.texts)
    expect(drafted.plans.length).toBeLessThan(plain.plans.length / 3)
    const together = drafted.plans.map(proposalsOf).filter((proposals) => proposals.length === SLOTS)
    expect(together.length).toBeGreaterThan(drafted.plans.length / 2)
    expect(together.every((proposals) => new Set(proposals).size === 1)).toBe(true)
    expect(drafted.counts.acceptedTokens).toBeGreaterThan(400)
  })

  it('guesses beside a prompt that is computed, and catches up with it afterwards', () => {
    const long = { ids: Array.from({ length: 400 }, (_, i) => (i * 5) % EOS), reqId: 9, maxNewTokens: 90 }
    const first = requestsOf(SLOTS).map((request, index) => ({ ...request, maxNewTokens: 60 + 30 * index }))
    const requests = [...first, long]
    const drafted = runAll(requests, {})
    expect(drafted.texts).toEqual(runAll(requests, { draftRoom: null }).texts)
    const besidePrompt = drafted.plans.filter(({ runs }) =>
      runs.some(({ tokenIds }) => tokenIds.length > 100),
    )
    expect(besidePrompt.some((plan) => proposalsOf(plan).length > 0)).toBe(true)
    const caughtUp = drafted.plans.flatMap(({ drafts = [] }) =>
      drafts.filter(({ proposes }) => proposes === 0),
    )
    expect(Math.max(...caughtUp.map(({ tokenIds }) => tokenIds.length))).toBeLessThanOrEqual(256)
    // As many as take as long as a step, once that is known: 10 ms of 0.1 ms each.
    expect(Math.max(...caughtUp.map(({ tokenIds }) => tokenIds.length))).toBeCloseTo(100, -1)
    expect(drafted.plans.at(-2)?.drafts?.length).toBeGreaterThan(0)
  })

  it('makes up for no more in a step, of all texts together, than takes as long as its tokens', () => {
    const requests = requestsOf(SLOTS).map((request) => ({
      ...request,
      ids: Array.from({ length: 250 }, (_, i) => (i * (request.reqId + 3)) % EOS),
    }))
    const sums = runAll(requests, {}).plans.map(({ drafts = [] }) =>
      drafts.reduce((sum, { tokenIds, proposes }) => sum + (proposes === 0 ? tokenIds.length : 0), 0),
    )
    // All texts are made up for, in pieces of 10 ms.
    expect(sums.reduce((all, sum) => all + sum, 0)).toBeGreaterThan(SLOTS * 240)
    expect(Math.max(...sums)).toBeLessThanOrEqual(101)
  })

  it('makes few guesses where they are wrong', () => {
    const requests = requestsOf(SLOTS, { maxNewTokens: 400 })
    const drafted = runAll(requests, { draftToken: random })
    expect(drafted.texts).toEqual(runAll(requests, { draftRoom: null }).texts)
    expect(drafted.counts.acceptedTokens).toBe(0)
    expect(drafted.plans.filter((plan) => proposalsOf(plan).length > 0).length).toBeLessThan(30)
  })

  it('guesses for one sequence and not for many where many keep the arithmetic busy', () => {
    const share = (count: number) => {
      const { plans } = runAll(requestsOf(count, { maxNewTokens: 400 }), { times: busy })
      return plans.filter((plan) => proposalsOf(plan).length > 0).length / plans.length
    }
    expect(share(1)).toBeGreaterThan(0.7)
    expect(share(SLOTS)).toBeLessThan(0.1)
  })

  it('guesses within the room of a shared cache, and goes on where a text was preempted', () => {
    const requests = requestsOf(SLOTS, { maxNewTokens: 150 })
    const setup = { maxSeqLen: 300, sharedTokens: 420 }
    const drafted = runAll(requests, setup)
    expect(drafted.texts).toEqual(runAll(requests, { ...setup, draftRoom: null }).texts)
    expect(drafted.plans.flatMap(({ starts }) => starts).some(({ newTokenIds }) => newTokenIds)).toBe(true)
    expect(drafted.plans.filter((plan) => proposalsOf(plan).length > 1).length).toBeGreaterThan(10)
  })

  it('leaves texts to the model that are longer than the cache of the draft model', () => {
    const draftRoom = { maxSeqLen: 64, maxTokens: 8, maxStepTokens: 32 }
    const { plans } = runAll(requestsOf(2), { draftRoom })
    const ends = plans.flatMap(({ drafts = [] }) =>
      drafts.map(({ position, tokenIds, proposes }) => position + tokenIds.length + proposes),
    )
    expect(Math.max(...ends)).toBeGreaterThan(40)
    expect(Math.max(...ends)).toBeLessThanOrEqual(64)
  })

  it.each([
    ['100 tokens', 100, 100],
    ['the context of the model alone', null, 512],
  ])('guesses within %s, which bound a text', (_, maxSeqLen, most) => {
    const { plans } = runAll(requestsOf(2, { maxNewTokens: 600 }), { maxSeqLen, maxBatchSize: 2 })
    const ends = plans.flatMap(({ drafts = [] }) =>
      drafts.map(({ position, tokenIds, proposes }) => position + tokenIds.length + proposes),
    )
    expect(Math.max(...ends)).toBeGreaterThan(most - 12)
    expect(Math.max(...ends)).toBeLessThanOrEqual(most)
  })

  it('guesses nothing for a text with a seed, nor for a cache that cannot be cut back', () => {
    const seeded = runAll(requestsOf(2, { sampling: { ...GREEDY, seed: 3 } }), {})
    const uncut = runAll(requestsOf(2), { canReusePrefixes: false, canCopySlots: false })
    for (const { plans } of [seeded, uncut])
      expect(plans.every(({ drafts }) => drafts === undefined)).toBe(true)
  })

  it('leaves a text that repeats itself to what the text itself says', () => {
    const alphabet: NextToken = (held) => ((held.at(-1) ?? 0) + 1) % EOS
    const requests = [{ ids: Array.from({ length: 60 }, (_, i) => i % EOS), reqId: 1, maxNewTokens: 100 }]
    const { plans } = runAll(requests, { nextToken: alphabet, draftToken: random, maxDraftTokens: 15 })
    expect(plans.some(({ runs }) => (runs[0]?.draftTokens ?? 0) > 0)).toBe(true)
    expect(plans.every((plan) => proposalsOf(plan).length === 0)).toBe(true)
  })

  it('keeps to an account what it computed for it, or all but whole blocks of it where caches are shared', () => {
    const place = (accountId: string) => ({ priorityClass: 0, priority: 0, accountId })
    const ids = Array.from({ length: 120 }, (_, i) => (i * 7) % EOS)
    const positions = (prefixCacheScope: 'shared' | 'account', second = 'b') => {
      const requests = ['a', second].map((id, reqId) => ({ ids, reqId, maxNewTokens: 60, place: place(id) }))
      const { plans } = runAll(requests, { prefixCacheScope, maxBatchSize: 1 })
      const starts = plans.findIndex(({ starts: given }, index) => index > 0 && given.length > 0)
      return plans.slice(starts).flatMap(({ drafts = [] }) => drafts.map(({ position }) => position))
    }
    expect(Math.min(...positions('account'))).toBe(0)
    expect(Math.min(...positions('shared'))).toBe(64)
    for (const scope of ['account', 'shared'] as const)
      expect(Math.min(...positions(scope, 'a'))).toBeGreaterThanOrEqual(119)
  })

  it('changes no text, whatever is asked, guessed, aborted, and however long steps take', () => {
    let accepted = 0
    let rejected = 0
    const request = fc.record({
      promptTokens: fc.integer({ min: 1, max: 150 }),
      factor: fc.integer({ min: 1, max: 3 }),
      maxNewTokens: fc.integer({ min: 1, max: 150 }),
      hasStop: fc.boolean(),
    })
    const setup = fc.record({
      slip: fc.integer({ min: 1, max: 9 }),
      guessMs: fc.integer({ min: 0, max: 12 }),
      end: fc.integer({ min: 40, max: 400 }),
      abort: fc.option(fc.record({ reqId: fc.nat(7), step: fc.integer({ min: 1, max: 80 }) })),
      maxDraftTokens: fc.constantFrom(0, 15),
    })
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 8 }), setup, (given, drawn) => {
        const { slip, guessMs, end, abort, maxDraftTokens } = drawn
        const requests = given.map(({ promptTokens, factor, maxNewTokens, hasStop }, reqId) => ({
          ids: Array.from({ length: promptTokens }, (_, i) => (i * factor) % EOS),
          reqId,
          maxNewTokens,
          stopStrings: hasStop ? ['ab', 'zz'] : [],
        }))
        const nextToken: NextToken = (held) => (held.length === end ? EOS : model(held))
        const draftToken: NextToken = (held) => (held.length % slip === 0 ? random(held) : nextToken(held))
        const times = (plan: StepPlan) => timesOf(plan, guessMs)
        const options = { nextToken, draftToken, times, maxSeqLen: 200, maxDraftTokens }
        const drafted = runAll(requests, { ...options, abort })
        const plain = runAll(requests, { ...options, draftRoom: null, maxDraftTokens: 0 })
        const isKept = ([reqId]: readonly [number, string]) => reqId !== abort?.reqId
        expect(drafted.texts.filter(isKept)).toEqual(plain.texts.filter(isKept))
        accepted += drafted.counts.acceptedTokens
        rejected += drafted.counts.draftedTokens - drafted.counts.acceptedTokens
      }),
      { numRuns: lengthOf({ test: 100, soak: 4000 }) },
    )
    expect(accepted).toBeGreaterThan(500)
    expect(rejected).toBeGreaterThan(500)
  })
})
