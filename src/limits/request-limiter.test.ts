import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openTestedState, runsOf } from '../../test/support/servers/tested-state.ts'
import { VirtualClock } from '../core/clock.ts'
import type { Credential } from '../core/credential.ts'
import { type RequestLimits, SPENT_KNOWN_MS } from '../core/shared-state.ts'
import { TIER_LIMITS, TIERS } from '../core/tiers.ts'
import { WINDOW_MS } from './memory/sliding-windows.ts'
import { type Admission, RequestLimiter } from './request-limiter.ts'
import { TokenBudgets } from './token-budgets.ts'

function createCredential(overrides: Partial<Credential> = {}): Credential {
  return {
    keyId: 'key',
    accountId: 'account',
    userId: null,
    kind: 'key',
    tier: 'free',
    customRateLimitRpm: null,
    limitId: 'key',
    teamId: null,
    budgets: [],
    ...overrides,
  }
}

async function setUp() {
  const clock = new VirtualClock()
  const state = await openTestedState(clock)
  return { clock, state, limits: state.requests, limiter: new RequestLimiter(state.requests) }
}

const GENERATING = { countsAsConcurrent: true }
const BRIEF = { countsAsConcurrent: false }

type Permit = Extract<Admission, { outcome: 'admitted' }>

function permitOf(admission: Admission): Permit {
  if (admission.outcome === 'refused') throw admission.error
  return admission
}

function errorOf(admission: Admission) {
  if (admission.outcome === 'admitted') throw new Error('The request was admitted.')
  const { code, status, message, retryAfterSeconds } = admission.error
  return { code, status, message, retryAfterSeconds }
}

async function admitTimes(limiter: RequestLimiter, credential: Credential, times: number): Promise<number> {
  const admissions = await Promise.all(
    Array.from({ length: times }, async () => limiter.admit(credential, BRIEF)),
  )
  return admissions.filter(({ outcome }) => outcome === 'admitted').length
}

describe('RequestLimiter: budgets', () => {
  const credential = createCredential({
    budgets: [{ scope: 'key', id: 'key', period: 'day', maxTokens: 10 }],
  })

  async function setUpSpent(spent: number) {
    const { clock, limits } = await setUp()
    const budgets = new TokenBudgets({ limits, clock, readSpent: async () => spent })
    return { clock, limits, budgets, limiter: new RequestLimiter(limits, budgets) }
  }

  it('refuses what generates once it is used up, for longer than a window lasts, and nothing else', async () => {
    const { limiter } = await setUpSpent(10)
    const refused = await limiter.admit(credential, GENERATING)
    expect(refused).toMatchObject({ outcome: 'refused', error: { code: 'budget_exceeded' } })
    // Clients that find a reset would come back after it.
    expect(refused.rate?.resetMs).toBeNull()
    expect(await limiter.admit(credential, BRIEF)).toMatchObject({ outcome: 'admitted' })
  })

  it('is read again where it has become unknown while it was read', async () => {
    const { clock, limits } = await setUp()
    let reads = 0
    const restoreSpent: RequestLimits['restoreSpent'] = async (counters) => {
      await limits.restoreSpent(counters)
      if (++reads === 1) clock.advance(SPENT_KNOWN_MS)
    }
    const readSpent = async (): Promise<number> => 0
    const budgets = new TokenBudgets({
      limits: { restoreSpent, spend: (...spent) => limits.spend(...spent) },
      ...{ clock, readSpent },
    })
    const limiter = new RequestLimiter(limits, budgets)
    expect(await limiter.admit(credential, GENERATING)).toMatchObject({ outcome: 'admitted' })
    expect(reads).toBe(2)
  })
})

describe('RequestLimiter: rate', () => {
  it.each(TIERS)('admits the number of tier %s and refuses the next', async (tier) => {
    const { limiter } = await setUp()
    const credential = createCredential({ tier })
    const limit = TIER_LIMITS[tier].requestsPerMinute
    expect(await admitTimes(limiter, credential, limit + 5)).toBe(limit)
    const refused = await limiter.admit(credential, BRIEF)
    expect(errorOf(refused)).toEqual({
      code: 'rate_limit_exceeded',
      status: 429,
      message: `The rate limit of ${limit} requests per minute is reached; try again in 60 s.`,
      retryAfterSeconds: 60,
    })
    expect(refused.rate).toEqual({ limit, remaining: 0, resetMs: WINDOW_MS })
  })

  it("takes the admin's number in place of the tier's, below it and above it", async () => {
    const { limiter } = await setUp()
    const low = createCredential({ limitId: 'low', customRateLimitRpm: 2 })
    const high = createCredential({ limitId: 'high', customRateLimitRpm: 70 })
    expect(await admitTimes(limiter, low, 10)).toBe(2)
    expect(await admitTimes(limiter, high, 100)).toBe(70)
  })

  it('exactly one of two simultaneous requests passes at the last place', async () => {
    const { limiter } = await setUp()
    const credential = createCredential()
    await admitTimes(limiter, credential, 59)
    expect(await admitTimes(limiter, credential, 2)).toBe(1)
  })

  it('tells after each request what remains and when the window is empty again', async () => {
    const { limiter, clock } = await setUp()
    const credential = createCredential({ customRateLimitRpm: 3 })
    expect((await limiter.admit(credential, BRIEF)).rate).toEqual({
      limit: 3,
      remaining: 2,
      resetMs: WINDOW_MS,
    })
    clock.advance(10_000)
    expect((await limiter.admit(credential, BRIEF)).rate).toEqual({
      limit: 3,
      remaining: 1,
      resetMs: WINDOW_MS,
    })
    clock.advance(55_000)
    expect((await limiter.admit(credential, BRIEF)).rate).toEqual({
      limit: 3,
      remaining: 1,
      resetMs: WINDOW_MS,
    })
  })

  it('applies a changed limit to the next request and never shows a negative remainder', async () => {
    const { limiter, clock } = await setUp()
    await admitTimes(limiter, createCredential({ tier: 'pro' }), 100)
    clock.advance(1000)
    const lowered = await limiter.admit(createCredential({ tier: 'free' }), BRIEF)
    expect(lowered.outcome).toBe('refused')
    expect(lowered.rate).toEqual({ limit: 60, remaining: 0, resetMs: 59_000 })
    expect(await admitTimes(limiter, createCredential({ customRateLimitRpm: 110 }), 20)).toBe(10)
  })

  it('counts the sessions of an account together and each key for itself', async () => {
    const { limiter } = await setUp()
    const session = (keyId: string) => createCredential({ keyId, kind: 'session', limitId: 'account' })
    expect(await admitTimes(limiter, session('one'), 40)).toBe(40)
    expect(await admitTimes(limiter, session('two'), 40)).toBe(20)
    expect(await admitTimes(limiter, createCredential(), 40)).toBe(40)
  })

  it('applies no limit to a server without authentication', async () => {
    const { state, limiter } = await setUp()
    const open = createCredential({ kind: 'open', customRateLimitRpm: 1 })
    for (let i = 0; i < 100; i++) {
      const permit = permitOf(await limiter.admit(open, GENERATING))
      expect(permit.rate).toBeNull()
      permit.release()
    }
    expect(await state.countWindows()).toBe(0)
    state.checkIntegrity()
  })

  it('a new key starts with the window of its maker', async () => {
    const { state, limits, limiter, clock } = await setUp()
    const maker = createCredential({ limitId: 'maker' })
    const made = createCredential({ limitId: 'made' })
    await admitTimes(limiter, maker, 50)
    await limits.openWindow('made', { makerLimitId: 'maker', accountId: 'a' })
    expect(await admitTimes(limiter, made, 20)).toBe(10)
    expect(await admitTimes(limiter, maker, 20)).toBe(10)
    state.checkIntegrity()
    clock.advance(WINDOW_MS)
    expect(await admitTimes(limiter, made, 100)).toBe(60)
  })

  it('a new key starts with what the revoked keys of its account have used, and nobody else pays for them', async () => {
    const { state, limits, limiter, clock } = await setUp()
    const session = createCredential({ limitId: 'session' })
    await admitTimes(limiter, session, 1)
    for (const limitId of ['first', 'second']) {
      clock.advance(1)
      await limits.openWindow(limitId, { makerLimitId: 'session', accountId: 'a' })
      await admitTimes(limiter, createCredential({ limitId }), 30)
      await limits.revokeWindow(limitId, 'a')
    }
    await limits.openWindow('third', { makerLimitId: 'session', accountId: 'a' })
    await limits.openWindow('stranger', { makerLimitId: 'other', accountId: 'b' })

    expect(await admitTimes(limiter, createCredential({ limitId: 'third' }), 100)).toBe(0)
    expect(await admitTimes(limiter, createCredential({ limitId: 'stranger' }), 100)).toBe(60)
    expect(await admitTimes(limiter, session, 100)).toBe(59)
    expect(await state.countWindows()).toBe(4)
    state.checkIntegrity()
  })

  it('a new key waits for the running requests of revoked ones, until they have ended', async () => {
    const { state, limits, limiter } = await setUp()
    const origin = { makerLimitId: 'session', accountId: 'a' }
    const [first, second, third] = ['first', 'second', 'third'].map((limitId) =>
      createCredential({ limitId }),
    )
    if (first === undefined || second === undefined || third === undefined) throw new Error('three of them')
    const running = permitOf(await limiter.admit(first, GENERATING))
    await limits.revokeWindow('first', 'a')
    await limits.openWindow('second', origin)
    await limits.openWindow('third', { ...origin, accountId: 'b' })

    expect((await limiter.admit(second, GENERATING)).outcome).toBe('refused')
    expect((await limiter.admit(second, BRIEF)).outcome).toBe('admitted')
    expect((await limiter.admit(third, GENERATING)).outcome).toBe('admitted')
    running.release()
    running.release()
    expect((await limiter.admit(second, GENERATING)).outcome).toBe('admitted')
    state.checkIntegrity()
  })
})

describe('RequestLimiter: what is in use', () => {
  it('tells of each key its requests of the last minute and those that run, inherited ones too', async () => {
    const { limits, limiter, clock } = await setUp()
    const [first, second] = [createCredential({ limitId: 'first' }), createCredential({ limitId: 'second' })]
    await admitTimes(limiter, first, 2)
    clock.advance(30_000)
    const running = permitOf(await limiter.admit(first, GENERATING))
    expect(await limiter.inUse(['first', 'second', 'first'])).toEqual([
      { requests: 3, running: 1 },
      { requests: 0, running: 0 },
      { requests: 3, running: 1 },
    ])

    await limits.revokeWindow('first', 'a')
    await limits.openWindow('second', { makerLimitId: 'session', accountId: 'a' })
    clock.advance(30_000)
    expect(await limiter.inUse(['second'])).toEqual([{ requests: 1, running: 1 }])
    running.release()
    expect(await limiter.inUse(['second'])).toEqual([{ requests: 1, running: 0 }])
    expect((await limiter.admit(second, GENERATING)).outcome).toBe('admitted')
    expect(await limiter.inUse([])).toEqual([])
  })
})

describe('RequestLimiter: concurrency', () => {
  it('refuses a generation beyond the number of the tier until one has ended', async () => {
    const { state, limiter } = await setUp()
    const credential = createCredential({ tier: 'pro' })
    const permits = []
    for (let i = 0; i < 5; i++) permits.push(permitOf(await limiter.admit(credential, GENERATING)))
    expect(errorOf(await limiter.admit(credential, GENERATING))).toEqual({
      code: 'concurrency_limit_exceeded',
      status: 429,
      message:
        'The limit of concurrent requests is 5, and the number running is 5; try again when one has ended.',
      retryAfterSeconds: 1,
    })
    permits[0]?.release()
    expect((await limiter.admit(credential, GENERATING)).outcome).toBe('admitted')
    expect((await limiter.admit(credential, GENERATING)).outcome).toBe('refused')
    state.checkIntegrity()
  })

  it('exactly one of two simultaneous generations passes at the last place', async () => {
    const { limiter } = await setUp()
    const two = await Promise.all([1, 2].map(async () => limiter.admit(createCredential(), GENERATING)))
    expect(two.map(({ outcome }) => outcome).sort()).toEqual(['admitted', 'refused'])
  })

  it('lets requests that do not generate pass beside a running generation', async () => {
    const { limiter } = await setUp()
    await limiter.admit(createCredential(), GENERATING)
    expect(await admitTimes(limiter, createCredential(), 10)).toBe(10)
  })

  it('does not limit enterprise, yet counts it for the day its tier is lowered', async () => {
    const { limiter } = await setUp()
    for (let i = 0; i < 50; i++) await limiter.admit(createCredential({ tier: 'enterprise' }), GENERATING)
    expect(errorOf(await limiter.admit(createCredential({ tier: 'pro' }), GENERATING)).message).toContain(
      'limit of concurrent requests is 5, and the number running is 50',
    )
  })

  it('a permit released twice counts once', async () => {
    const { state, limiter } = await setUp()
    const credential = createCredential({ tier: 'pro' })
    const first = permitOf(await limiter.admit(credential, GENERATING))
    for (let i = 0; i < 4; i++) await limiter.admit(credential, GENERATING)
    first.release()
    first.release()
    state.checkIntegrity()
    expect((await limiter.admit(credential, GENERATING)).outcome).toBe('admitted')
    expect((await limiter.admit(credential, GENERATING)).outcome).toBe('refused')
  })

  it('a refused request counts nowhere', async () => {
    const { limiter, clock } = await setUp()
    const credential = createCredential({ customRateLimitRpm: 2 })
    const permit = permitOf(await limiter.admit(credential, GENERATING))
    for (let i = 0; i < 10; i++) {
      const refused = await limiter.admit(credential, GENERATING)
      expect(errorOf(refused).code).toBe('concurrency_limit_exceeded')
      // When the window is empty says nothing about when a running request ends.
      expect(refused.rate).toEqual({ limit: 2, remaining: 1, resetMs: null })
    }
    clock.advance(1000)
    expect(await admitTimes(limiter, credential, 10)).toBe(1)
    permit.release()
    // Now the rate refuses: the places of both limits stay as they are.
    for (let i = 0; i < 10; i++)
      expect(errorOf(await limiter.admit(credential, GENERATING)).code).toBe('rate_limit_exceeded')
    clock.advance(59_000)
    expect((await limiter.admit(credential, GENERATING)).outcome).toBe('admitted')
  })

  it('names the rate limit when both refuse', async () => {
    const { limiter } = await setUp()
    const credential = createCredential({ customRateLimitRpm: 1 })
    await limiter.admit(credential, GENERATING)
    expect(errorOf(await limiter.admit(credential, GENERATING)).code).toBe('rate_limit_exceeded')
  })
})

/** Quarters of a millisecond, so that sums of them are exact. */
const pauseMs = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.nat(40_000).map((quarters) => quarters / 4) },
  { weight: 1, arbitrary: fc.constantFrom(WINDOW_MS - 0.25, WINDOW_MS, WINDOW_MS + 0.25, 2 * WINDOW_MS) },
)

describe('RequestLimiter: properties', () => {
  it('in no 60-second window does a key pass more than its number', async () => {
    const arrivals = fc.array(pauseMs, { maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(arrivals, fc.integer({ min: 1, max: 20 }), async (pauses, limit) => {
        const { limiter, clock } = await setUp()
        const credential = createCredential({ customRateLimitRpm: limit })
        const passed: number[] = []
        for (const pause of pauses) {
          clock.advance(pause)
          const admission = await limiter.admit(credential, BRIEF)
          if (admission.outcome === 'admitted') passed.push(clock.nowMs())
        }
        for (let i = limit; i < passed.length; i++)
          expect((passed[i] ?? 0) - (passed[i - limit] ?? 0)).toBeGreaterThanOrEqual(WINDOW_MS)
      }),
      { numRuns: runsOf({ test: 300, soak: 6000 }) },
    )
  })

  it('passes a request exactly when fewer than the limit of that moment passed in the last 60 s', async () => {
    const arrival = fc.record({
      pause: pauseMs,
      newLimit: fc.option(fc.integer({ min: 1, max: 30 }), { freq: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(arrival, { maxLength: 200 }), async (arrivals) => {
        const { limiter, clock } = await setUp()
        const passed: number[] = []
        let limit = 5
        for (const { pause, newLimit } of arrivals) {
          clock.advance(pause)
          limit = newLimit ?? limit
          const credential = createCredential({ customRateLimitRpm: limit })
          const nowMs = clock.nowMs()
          const passedBefore = passed.filter((ms) => nowMs - ms < WINDOW_MS).length
          const admission = await limiter.admit(credential, BRIEF)
          expect(admission.outcome).toBe(passedBefore < limit ? 'admitted' : 'refused')
          if (admission.outcome === 'admitted') passed.push(nowMs)
          const used = admission.outcome === 'admitted' ? passedBefore + 1 : passedBefore
          expect(admission.rate).toEqual({
            limit,
            remaining: Math.max(0, limit - used),
            resetMs: (passed.at(-1) ?? 0) + WINDOW_MS - nowMs,
          })
        }
      }),
      { numRuns: runsOf({ test: 300, soak: 6000 }) },
    )
  })

  it('Retry-After is never early and not more than a second late', async () => {
    const arrivals = fc.array(pauseMs, { minLength: 1, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(
        fc.nat(2 ** 30),
        arrivals,
        fc.integer({ min: 1, max: 5 }),
        async (start, pauses, limit) => {
          const { limiter, clock } = await setUp()
          clock.advance(start / 4)
          const credential = createCredential({ customRateLimitRpm: limit })
          for (const pause of pauses) {
            clock.advance(pause)
            const admission = await limiter.admit(credential, BRIEF)
            if (admission.outcome === 'admitted') continue
            const seconds = admission.error.retryAfterSeconds ?? 0
            clock.advance((seconds - 1) * 1000)
            expect((await limiter.admit(credential, BRIEF)).outcome).toBe('refused')
            clock.advance(1000)
            expect((await limiter.admit(credential, BRIEF)).outcome).toBe('admitted')
          }
        },
      ),
      { numRuns: runsOf({ test: 300, soak: 6000 }) },
    )
  })

  it('concurrency never exceeds its number and always returns to zero, with random aborts and errors', async () => {
    const operation = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constant('start' as const),
          limitId: fc.constantFrom('a', 'b'),
          tier: fc.constantFrom(...TIERS),
        }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constantFrom('answer' as const, 'error' as const, 'abort' as const),
          which: fc.nat(20),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(90_000) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 120 }), async (operations) => {
        const { state, limiter, clock } = await setUp()
        let running: { limitId: string; permit: Permit }[] = []
        for (const op of operations) {
          if (op.kind === 'wait') clock.advance(op.ms)
          else if (op.kind === 'start') {
            const { limitId, tier } = op
            const runningBefore = running.filter((one) => one.limitId === limitId).length
            const credential = createCredential({ limitId, tier, customRateLimitRpm: 1000 })
            const admission = await limiter.admit(credential, GENERATING)
            const hasRoom = runningBefore < TIER_LIMITS[tier].maxConcurrentRequests
            expect(admission.outcome).toBe(hasRoom ? 'admitted' : 'refused')
            if (admission.outcome === 'admitted') running.push({ limitId, permit: admission })
          } else {
            const ended = running[op.which]
            running = running.filter((one) => one !== ended)
            ended?.permit.release()
            // The client's leaving and the end of the handler both release.
            if (op.kind === 'abort') ended?.permit.release()
          }
          state.checkIntegrity()
        }
        for (const { permit } of running) permit.release()
        state.checkIntegrity()
        clock.advance(WINDOW_MS)
        for (const limitId of ['a', 'b']) {
          const two = [
            await limiter.admit(createCredential({ limitId }), GENERATING),
            await limiter.admit(createCredential({ limitId }), GENERATING),
          ]
          expect(two.map(({ outcome }) => outcome)).toEqual(['admitted', 'refused'])
        }
      }),
      { numRuns: runsOf({ test: 300, soak: 6000 }) },
    )
  })

  it('keeps its books under random operations', async () => {
    const limitId = fc.constantFrom('a', 'b', 'c', 'd')
    const operation = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant('admit' as const),
          limitId,
          tier: fc.constantFrom(...TIERS),
          customRateLimitRpm: fc.option(fc.integer({ min: 1, max: 12 })),
          countsAsConcurrent: fc.boolean(),
        }),
      },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('release' as const), which: fc.nat(40) }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('open-window' as const), limitId, toId: limitId }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('revoke' as const), limitId }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(70_000) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 120 }), async (operations) => {
        const { state, limits, limiter, clock } = await setUp()
        const permits: Permit[] = []
        for (const op of operations) {
          switch (op.kind) {
            case 'admit': {
              const { limitId, tier, customRateLimitRpm, countsAsConcurrent } = op
              const credential = createCredential({ limitId, tier, customRateLimitRpm })
              const admission = await limiter.admit(credential, { countsAsConcurrent })
              if (admission.outcome === 'admitted') permits.push(admission)
              const rate = admission.rate
              expect(rate?.remaining).toBeGreaterThanOrEqual(0)
              expect(rate?.remaining).toBeLessThanOrEqual(rate?.limit ?? 0)
              break
            }
            case 'release':
              permits[op.which]?.release()
              break
            case 'open-window':
              await limits.openWindow(op.toId, { makerLimitId: op.limitId, accountId: 'account' })
              break
            case 'revoke':
              await limits.revokeWindow(op.limitId, 'account')
              break
            case 'wait':
              clock.advance(op.ms)
              break
          }
          state.checkIntegrity()
        }
      }),
      { numRuns: runsOf({ test: 300, soak: 6000 }) },
    )
  })
})
