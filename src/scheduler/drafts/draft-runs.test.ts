/** Speculative decoding in the scheduler: what it makes is what would have been made without, in fewer steps. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PretendRunner } from '../../../test/support/engines/pretend-runner.ts'
import { createRequest } from '../../../test/support/engines/sequences.ts'
import { lengthOf } from '../../../test/support/length-of.ts'
import { VirtualClock } from '../../core/clock.ts'
import type { StepPlan } from '../../protocol/model-runner.ts'
import {
  ContinuousBatchScheduler,
  type SchedulerEvent,
  type SchedulerOptions,
} from '../continuous-batch-scheduler.ts'
import type { ScheduledRequest } from '../sequence.ts'

const EOS = 26
const SLOTS = 2
const NO_BEAMS = { seats: 8, tokens: 512 }

/** The model: what comes after a text. */
type NextToken = (heldTokenIds: readonly number[]) => number

/** Says the alphabet from the beginning, again and again. */
const alphabet: NextToken = (held) => ((held.at(-1) ?? 0) + 1) % EOS

interface Run {
  readonly events: readonly SchedulerEvent[]
  readonly plans: readonly StepPlan[]
}

interface Setup extends Partial<SchedulerOptions> {
  readonly nextToken?: NextToken
  /** Told of each plan before it runs. */
  readonly onPlan?: (scheduler: ContinuousBatchScheduler, plan: StepPlan) => void
}

function runAll(
  requests: readonly ScheduledRequest[],
  { nextToken = alphabet, onPlan, ...options }: Setup,
): Run {
  const runner = new PretendRunner({
    slots: SLOTS,
    beamRoom: NO_BEAMS,
    nextToken: (_rank, held) => nextToken(held),
  })
  const scheduler = new ContinuousBatchScheduler({
    maxBatchSize: SLOTS,
    maxSeqLen: 512,
    schedulePolicy: 'fcfs',
    clock: new VirtualClock(),
    canCopySlots: true,
    maxDraftTokens: 15,
    isEndOfGeneration: (tokenId) => tokenId === EOS,
    tokenBytes: (tokenId) => Buffer.from(String.fromCodePoint(97 + tokenId)),
    ...options,
  })
  const events: SchedulerEvent[] = []
  const plans: StepPlan[] = []
  for (const request of requests) scheduler.add(request)
  while (scheduler.hasWork) {
    const plan = scheduler.plan()
    scheduler.checkIntegrity()
    if (plan === null) events.push(...scheduler.takeEvents())
    else {
      plans.push(plan)
      onPlan?.(scheduler, plan)
      events.push(...scheduler.update(runner.execute(plan)))
    }
    scheduler.checkIntegrity()
  }
  return { events, plans }
}

/** Texts, tokens and ends by request, without what may differ: in how many pieces they came and what was guessed. */
function resultsOf({ events }: Run): unknown {
  const results = new Map<number, { text: string; tokenIds: number[]; ends: string[] }>()
  for (const event of events) {
    const result = results.get(event.reqId) ?? { text: '', tokenIds: [], ends: [] }
    results.set(event.reqId, result)
    if (event.type === 'text-delta') {
      result.text += event.text
      result.tokenIds.push(...event.tokenIds)
    } else if (event.type === 'sequence-end') result.ends.push(event.finishReason)
  }
  return [...results].sort(([a], [b]) => a - b)
}

const draftsOf = ({ plans }: Run): number[] =>
  plans.flatMap(({ runs }) => runs.map(({ draftTokens = 0 }) => draftTokens)).filter((tokens) => tokens > 0)

const countsOf = ({ events }: Run) =>
  events.flatMap((event) => (event.type === 'sequence-end' && event.drafts ? [event.drafts] : []))

/** A prompt that repeats itself, so that a draft of its continuation is to be had at once. */
const REPEATING = Array.from({ length: 60 }, (_, i) => i % EOS)

describe('speculative decoding', () => {
  it('takes fewer steps for the same tokens where a text repeats itself, and tells what it guessed', () => {
    const requests = [{ ids: REPEATING, reqId: 1, maxNewTokens: 100 }]
    const [plain, drafted] = [runAll(requests, { maxDraftTokens: 0 }), runAll(requests, {})]
    expect(resultsOf(drafted)).toEqual(resultsOf(plain))
    expect(plain.plans).toHaveLength(100)
    expect(drafted.plans.length).toBeLessThan(15)
    expect(draftsOf(drafted).slice(0, 4)).toEqual([5, 10, 15, 15])
    const [counts] = countsOf(drafted)
    expect(counts?.draftedTokens).toBeGreaterThan(85)
    expect(counts?.acceptedTokens).toBe(counts?.draftedTokens)
    expect(countsOf(plain)).toEqual([])
  })

  it('gives each token an event of its own', () => {
    const { events } = runAll([{ ids: REPEATING, reqId: 1, maxNewTokens: 30 }], {})
    const deltas = events.filter(({ type }) => type === 'text-delta')
    expect(deltas).toHaveLength(30)
    expect(deltas.every((event) => event.type === 'text-delta' && event.tokenIds.length === 1)).toBe(true)
  })

  it('gives up soon where no guess is right', () => {
    // Slips just when enough has been the same to guess.
    const requests = [{ ids: REPEATING, reqId: 1, maxNewTokens: 320 }]
    const slip = (count: number): number => (3 * count * count + count) % EOS
    const nextToken: NextToken = (held) => (held.length % 13 === 0 ? slip(held.length / 13) : alphabet(held))
    const plain = runAll(requests, { nextToken, maxDraftTokens: 0 })
    const drafted = runAll(requests, { nextToken })
    expect(resultsOf(drafted)).toEqual(resultsOf(plain))
    const [counts] = countsOf(drafted)
    expect(counts?.acceptedTokens).toBeLessThan(counts?.draftedTokens ?? 0)
    expect(counts?.draftedTokens).toBeLessThan(100)
  })

  it('never guesses beyond the tokens that were asked for, nor beyond the room of the slot', () => {
    for (const maxNewTokens of [1, 2, 3, 4, 5, 9, 17]) {
      const run = runAll([{ ids: REPEATING, reqId: 1, maxNewTokens }], {})
      expect(resultsOf(run)).toMatchObject([[1, { tokenIds: { length: maxNewTokens }, ends: ['length'] }]])
    }
    for (const maxSeqLen of [60, 61, 62, 63, 64, 70, 90]) {
      const run = runAll([{ ids: REPEATING, reqId: 1, maxNewTokens: 400 }], { maxSeqLen })
      const positions = run.plans.flatMap(({ runs }) =>
        runs.map((slot) => slot.position + slot.tokenIds.length),
      )
      expect(Math.max(0, ...positions)).toBeLessThan(Math.max(maxSeqLen, 1))
      const made = run.events.filter(({ type }) => type === 'text-delta').length
      expect(made).toBe(maxSeqLen - 60)
    }
  })

  it('drops what comes after an end token, or after a stop string, within the same step', () => {
    const ending: NextToken = (held) => (held.length === 75 ? EOS : alphabet(held))
    const letters = REPEATING.slice(0, EOS)
    const endingWithZ: NextToken = (held) => ((held.at(-1) ?? 0) + 1) % (EOS + 1)
    for (const [request, setup] of [
      [{ ids: REPEATING, reqId: 1, maxNewTokens: 100 }, { nextToken: ending }],
      [{ ids: REPEATING, reqId: 1, maxNewTokens: 100, stopStrings: ['xyz'] }, {}],
      // The prompt has the end token, so that it is guessed, and more after it.
      [
        { ids: [...letters, EOS, ...letters.slice(0, 14)], reqId: 1, maxNewTokens: 100 },
        { nextToken: endingWithZ },
      ],
    ] as const) {
      const [plain, drafted] = [runAll([request], { ...setup, maxDraftTokens: 0 }), runAll([request], setup)]
      expect(resultsOf(drafted)).toEqual(resultsOf(plain))
      expect(resultsOf(drafted)).toMatchObject([[1, { ends: ['stop'] }]])
    }
  })

  it('guesses nothing while others run or a prompt is computed', () => {
    const requests = [
      { ids: REPEATING, reqId: 1, maxNewTokens: 40 },
      { ids: [...REPEATING, ...REPEATING], reqId: 2, maxNewTokens: 80 },
    ]
    const run = runAll(requests, {})
    expect(resultsOf(run)).toEqual(resultsOf(runAll(requests, { maxDraftTokens: 0 })))
    for (const { runs } of run.plans) {
      if (runs.length > 1) expect(runs.every(({ draftTokens }) => draftTokens === undefined)).toBe(true)
    }
    // Alone at the end, the second one catches up with what was made meanwhile.
    expect(draftsOf(run).length).toBeGreaterThan(0)
    expect(countsOf(run)).toHaveLength(1)
  })

  it('guesses nothing of a text that keeps to a constraint', () => {
    expect(draftsOf(runAll([{ ids: REPEATING, reqId: 1, maxNewTokens: 30, matcherId: 1 }], {}))).toEqual([])
  })

  it('guesses nothing for a cache that cannot be cut back', () => {
    const run = runAll([{ ids: REPEATING, reqId: 1, maxNewTokens: 60 }], { canReusePrefixes: false })
    expect(draftsOf(run)).toEqual([])
  })

  it('leaves in the slot only what is true when its sequence is aborted while guesses are computed', () => {
    let hasAborted = false
    const next = createRequest(2, { from: 500, promptTokens: 5, maxNewTokens: 3 })
    const { events } = runAll([{ ids: REPEATING, reqId: 1, maxNewTokens: 100 }], {
      onPlan(scheduler, plan) {
        if (hasAborted || !plan.runs.some(({ draftTokens = 0 }) => draftTokens > 5)) return
        hasAborted = true
        expect(scheduler.abort(1)).toBe(true)
        // Would begin with what the aborted one has made.
        scheduler.add({ ...next, ids: Array.from({ length: 120 }, (_, i) => i % EOS) })
      },
    })
    expect(hasAborted).toBe(true)
    expect(events.filter(({ type }) => type === 'sequence-end').map(({ reqId }) => reqId)).toEqual([2])
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'sequence-start', reqId: 2, cachedTokens: 66 }),
    )
  })

  it('changes no text, whatever is asked and whatever the model says', () => {
    let accepted = 0
    let rejected = 0
    const request = fc.record({
      promptTokens: fc.integer({ min: 1, max: 120 }),
      from: fc.nat(25),
      maxNewTokens: fc.integer({ min: 1, max: 150 }),
      hasStop: fc.boolean(),
    })
    // A cycle of letters with a slip now and then, and perhaps an end.
    const model = fc.record({
      cycle: fc.integer({ min: 1, max: 26 }),
      slip: fc.integer({ min: 5, max: 80 }),
      end: fc.integer({ min: 20, max: 400 }),
    })
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 4 }), model, (given, { cycle, slip, end }) => {
        const requests = given.map(({ promptTokens, from, maxNewTokens, hasStop }, reqId) => ({
          ids: Array.from({ length: promptTokens }, (_, i) => (from + i) % cycle),
          reqId,
          maxNewTokens,
          stopStrings: hasStop ? ['abcab', 'zz'] : [],
        }))
        const nextToken: NextToken = (held) => {
          if (held.length === end) return EOS
          return held.length % slip === 0 ? (held.length / slip) % EOS : ((held.at(-1) ?? 0) + 1) % cycle
        }
        const options = { nextToken, maxSeqLen: 200 }
        const drafted = runAll(requests, options)
        expect(resultsOf(drafted)).toEqual(resultsOf(runAll(requests, { ...options, maxDraftTokens: 0 })))
        for (const counts of countsOf(drafted)) {
          accepted += counts.acceptedTokens
          rejected += counts.draftedTokens - counts.acceptedTokens
        }
      }),
      { numRuns: lengthOf({ test: 100, soak: 4000 }) },
    )
    expect(accepted).toBeGreaterThan(500)
    expect(rejected).toBeGreaterThan(100)
  })
})
