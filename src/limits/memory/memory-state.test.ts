/** What the state in memory has beyond the contract that all states keep: it is bounded, and forgets what is idle. */
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../core/clock.ts'
import { SPENT_KEPT_MS, SPENT_KNOWN_MS } from '../../core/shared-state.ts'
import { MemoryAttemptLimits } from './attempt-limits.ts'
import { MAX_OFFENCES, MemoryBans } from './bans.ts'
import { MAX_KNOCKING, MAX_OPEN, MemoryKnocks } from './knocks.ts'
import { MemoryState } from './memory-state.ts'
import { WINDOW_MS } from './sliding-windows.ts'

function setUp() {
  const clock = new VirtualClock()
  const { requests, attempts } = new MemoryState(clock)
  return { clock, requests, attempts }
}

describe('requests and attempts in memory', () => {
  const request = (limitId: string) => ({ limitId, requestsPerMinute: 60, maxConcurrent: null, budgets: [] })

  it('forget 100,000 idle keys and addresses', () => {
    const { clock, requests } = setUp()
    for (let i = 0; i < 100_000; i++) requests.admit(request(`idle-${i}`))
    expect(requests.idCount).toBe(100_000)
    for (let i = 0; i < 2; i++) {
      clock.advance(WINDOW_MS)
      requests.admit(request('key'))
    }
    expect(requests.idCount).toBe(1)
  })

  it('forget 100,000 addresses and e-mails that stay away', async () => {
    const { clock, attempts } = setUp()
    const fail = async (email: string, address: string) => {
      const limits = [email, address].map((id) => ({ id, maxPerMinute: 100, counts: 'failures' as const }))
      const decision = await attempts.begin({ limits, maxWaiting: 128 })
      if (decision.outcome === 'begun') attempts.end(decision.attemptId, 'failed')
    }
    for (let turn = 0; turn < 50_000; turn++) await fail(`user-${turn}`, `address-${turn}`)
    expect(attempts.idCount).toBe(100_000)
    for (let turn = 0; turn < 2; turn++) {
      clock.advance(WINDOW_MS)
      await fail('ada', 'home')
    }

    expect(attempts.idCount).toBe(2)
  })

  it('forget budgets that nobody asks for', () => {
    const { clock, requests: limits } = setUp()
    for (let round = 0; round < 3; round++) {
      limits.restoreSpent(
        Array.from({ length: 1000 }, (_, id) => ({ counterId: `${round}-${id}`, tokens: 1 })),
      )
      clock.advance(SPENT_KNOWN_MS + SPENT_KEPT_MS)
    }
    expect(limits.counterCount).toBe(1000)
  })
})

it('bans in memory are of a bounded number of addresses, those that offend the most recently', () => {
  const list = new MemoryBans(new VirtualClock(), { maxAddresses: 3 })
  const offend = (address: string, times: number) => {
    for (let turn = 0; turn < times; turn++) list.recordOffence(address)
  }
  for (let address = 0; address < 100; address++) offend(`offender ${address}`, 1)
  for (let address = 0; address < 100; address++) offend(`banned ${address}`, MAX_OFFENCES)

  expect(list.size).toBeLessThanOrEqual(6)
  expect(list.find('banned 99')).not.toBeNull()
  expect(list.list()).toHaveLength(3)
})

const PORTS = [7000, 8000, 9000]

function createKnock() {
  const clock = new VirtualClock()
  const knock = new MemoryKnocks({ ports: PORTS, windowMs: 10_000, openMs: 3_600_000 }, clock)
  return {
    clock,
    knock,
    /** Knocks on each port; gives the last outcome. */
    knockAll: (address: string, ...on: number[]) => on.map((port) => knock.knock(address, port)).at(-1),
  }
}

describe('attempts in memory', () => {
  const limitOf = (id: string, maxPerMinute = 1) => ({ id, maxPerMinute, counts: 'failures' }) as const
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  it('that are woken under one limit and wait under another let the next one go on', async () => {
    const attempts = new MemoryAttemptLimits(new VirtualClock())
    const begin = (...ids: string[]) =>
      attempts.begin({ limits: ids.map((id) => limitOf(id)), maxWaiting: 9 })
    const [first, other] = await Promise.all([begin('a'), begin('b')])
    const both = begin('a', 'b')
    let begun = ''
    void begin('a').then(({ outcome }) => (begun = outcome))
    if (first.outcome === 'begun') attempts.end(first.attemptId, 'passed')
    await settled()
    expect(begun).toBe('begun')
    if (other.outcome === 'begun') attempts.end(other.attemptId, 'failed')
    expect(await both).toMatchObject({ outcome: 'refused', retryAfterSeconds: 60 })
  })

  it('wait behind no more than may wait', async () => {
    const attempts = new MemoryAttemptLimits(new VirtualClock())
    const begin = () => attempts.begin({ limits: [limitOf('a')], maxWaiting: 2 })
    const first = await begin()
    const waiting = [begin(), begin()]
    expect(await begin()).toEqual({ outcome: 'queue-full' })
    if (first.outcome === 'begun') attempts.end(first.attemptId, 'failed')
    expect((await Promise.all(waiting)).map(({ outcome }) => outcome)).toEqual(['refused', 'refused'])
  })

  it('that come in the moment in which one ends go behind those that wait', async () => {
    const { attempts } = setUp()
    const order: string[] = []
    const begin = async (name: string) => {
      const decision = await attempts.begin({ limits: [limitOf('a')], maxWaiting: 1 })
      order.push(`${name} ${decision.outcome}`)
      return () => void (decision.outcome === 'begun' && attempts.end(decision.attemptId, 'passed'))
    }
    const endFirst = await begin('first')
    const waiting = begin('waiting')
    endFirst()
    const [newcomer, tooMany] = [begin('newcomer'), begin('one too many')]
    for (const begun of [waiting, newcomer, tooMany]) void begun.then((end) => setImmediate(end))

    await Promise.all([waiting, newcomer, tooMany])
    expect(order).toEqual(['first begun', 'one too many queue-full', 'waiting begun', 'newcomer begun'])
  })

  it('end once, however often that is told', async () => {
    const attempts = new MemoryAttemptLimits(new VirtualClock())
    const begin = () => attempts.begin({ limits: [limitOf('a', 2)], maxWaiting: 0 })
    const [first, second] = await Promise.all([begin(), begin()])
    for (let i = 0; i < 3; i++) if (first.outcome === 'begun') attempts.end(first.attemptId, 'passed')
    const third = await begin()
    expect([second.outcome, third.outcome]).toEqual(['begun', 'begun'])
    expect(await begin()).toEqual({ outcome: 'queue-full' })
  })
})

describe('knocks in memory', () => {
  it('stay bounded under addresses without end, and forget none that is open', () => {
    const { knock, knockAll } = createKnock()
    knockAll('friend', ...PORTS)

    for (let i = 0; i < 3 * MAX_KNOCKING; i++) knockAll(`enemy-${i}`, 7000)

    expect(knock.idCount).toBe(MAX_KNOCKING + 1)
    expect(knock.isOpen('friend')).toBe(true)
    // One that goes on knocking is not the one that makes room.
    knockAll('other', 7000)
    for (let i = 0; i < MAX_KNOCKING - 1; i++) knockAll(`more-${i}`, 7000)
    knockAll('other', 8000)
    for (let i = 0; i < MAX_KNOCKING - 1; i++) knockAll(`yet-more-${i}`, 7000)
    expect(knockAll('other', 9000)).toBe('opened')
    knock.checkIntegrity()
  })

  it('refuse a right sequence rather than forget one that is open, until one of those ends', () => {
    const { clock, knock, knockAll } = createKnock()
    for (let i = 0; i < MAX_OPEN; i++) knockAll(`friend-${i}`, ...PORTS)

    expect(knockAll('one-more', ...PORTS)).toBe('full')
    expect([knock.isOpen('friend-0'), knock.isOpen('one-more')]).toEqual([true, false])
    expect(knockAll('friend-0', ...PORTS)).toBe('opened')

    clock.advance(3_600_000)
    expect(knockAll('one-more', ...PORTS)).toBe('opened')
    expect(knock.idCount).toBe(1)
  })
})
