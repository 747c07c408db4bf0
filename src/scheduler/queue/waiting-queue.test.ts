import { describe, expect, it } from 'vitest'
import type { SchedulePolicy } from '../../core/choices/schedule-policy.ts'
import { Sequence } from '../sequence.ts'
import { WaitingQueue } from './waiting-queue.ts'

interface Arrival {
  readonly maxNewTokens?: number
  readonly numBeams?: number
  readonly accountId?: string
  readonly priorityClass?: number
  readonly priority?: number
  readonly ms?: number
}

function createQueue(policy: SchedulePolicy, arrivals: readonly Arrival[]): WaitingQueue {
  const queue = new WaitingQueue({ policy, maxSeqLen: null })
  for (const [reqId, arrival] of arrivals.entries()) add(queue, reqId, arrival)
  return queue
}

function add(queue: WaitingQueue, reqId: number, arrival: Arrival): Sequence {
  const { accountId = 'a', priorityClass = 0, priority = 0, ms = 0, maxNewTokens = 1, numBeams = 1 } = arrival
  const request = { ids: [1], reqId, maxNewTokens, numBeams, place: { accountId, priorityClass, priority } }
  const sequence = new Sequence(request, { ms, order: reqId })
  queue.add(sequence)
  return sequence
}

function takeNext(queue: WaitingQueue, nowMs: number): Sequence | null {
  const next = queue.peek({ nowMs })
  if (next !== null) queue.take(next)
  return next
}

function drain(queue: WaitingQueue, nowMs = 0): number[] {
  const order: number[] = []
  for (let next = takeNext(queue, nowMs); next !== null; next = takeNext(queue, nowMs)) {
    order.push(next.sequenceId)
  }
  return order
}

describe('WaitingQueue', () => {
  it('fcfs serves by arrival and ignores class and priority', () => {
    const queue = createQueue('fcfs', [{ priority: -5 }, { priorityClass: 2, priority: 100 }, {}])
    expect(drain(queue)).toEqual([0, 1, 2])
  })

  it('priority serves by class, then priority, then arrival', () => {
    const queue = createQueue('priority', [
      { priorityClass: 0, priority: 100 },
      { priorityClass: 1 },
      { priorityClass: 2, priority: -100 },
      { priorityClass: 1, priority: 3 },
      { priorityClass: 1 },
    ])
    expect(drain(queue)).toEqual([2, 3, 1, 4, 0])
  })

  it('priority lifts no backlog above a new request of a higher tier, however long it has waited', () => {
    const backlog = Array.from({ length: 256 }, () => ({ maxNewTokens: 2048 }))
    const queue = createQueue('priority', [...backlog, { accountId: 'b', priorityClass: 2, ms: 240_000 }])
    expect(takeNext(queue, 240_000)?.sequenceId).toBe(256)
  })

  it('priority serves the account next that was charged least', () => {
    const queue = createQueue('priority', [
      ...Array.from({ length: 4 }, () => ({ accountId: 'long', maxNewTokens: 299 })),
      ...Array.from({ length: 6 }, () => ({ accountId: 'short', maxNewTokens: 99 })),
    ])
    expect(drain(queue)).toEqual([0, 4, 5, 6, 1, 7, 8, 9, 2, 3])
  })

  it('priority gives a newcomer the next turn, whatever its account was charged before it was idle', () => {
    const queue = createQueue(
      'priority',
      Array.from({ length: 64 }, () => ({ accountId: 'a', maxNewTokens: 2048 })),
    )
    for (let i = 0; i < 8; i++) takeNext(queue, 0)
    const place = { accountId: 'b', priorityClass: 0, priority: 0 }
    queue.add(new Sequence({ ids: [1], reqId: 64, maxNewTokens: 8, place }, { ms: 0, order: 64 }))
    expect(takeNext(queue, 0)?.sequenceId).toBe(64)
  })

  it('priority credits an account what a sequence did not use', () => {
    const queue = createQueue('priority', [
      ...Array.from({ length: 5 }, () => ({ accountId: 'ends early', maxNewTokens: 999 })),
      ...Array.from({ length: 2 }, () => ({ accountId: 'other', maxNewTokens: 99 })),
    ])
    const first = takeNext(queue, 0)
    if (first !== null) queue.settle(first, 10)
    expect(drain(queue)).toEqual([5, 1, 6, 2, 3, 4])
  })

  it("priority serves an account's own requests by priority, and first what has waited for 30 s", () => {
    const arrivals = [
      { priority: -100 },
      { priority: 5, ms: 1 },
      { priority: 100, ms: 2 },
      { priority: 5, ms: 3 },
    ]
    expect(drain(createQueue('priority', arrivals), 29_999)).toEqual([2, 1, 3, 0])
    expect(drain(createQueue('priority', arrivals), 30_000)).toEqual([0, 2, 1, 3])
  })

  it('passes over sequences that wait for something else, and tiers that may not start', () => {
    const queue = createQueue('priority', [
      { priorityClass: 1 },
      { priorityClass: 1 },
      {},
      { accountId: 'b' },
    ])
    const [first, , third] = queue
    const except = new Set([first, third].filter((one) => one !== undefined))
    expect(queue.peek({ nowMs: 0, except })?.sequenceId).toBe(1)
    const mayStart = (priorityClass: number) => priorityClass === 0
    expect(queue.peek({ nowMs: 0, except, mayStart })?.sequenceId).toBe(3)
    expect(queue.peek({ nowMs: 0, above: 0 })?.sequenceId).toBe(0)
    expect(queue.peek({ nowMs: 0, above: 1 })).toBeNull()
  })

  it('fair serves accounts in turn, each by arrival', () => {
    const accounts = ['a', 'a', 'a', 'b', 'c', 'b']
    const queue = createQueue(
      'fair',
      accounts.map((accountId) => ({ accountId })),
    )
    expect(drain(queue)).toEqual([0, 3, 4, 1, 5, 2])
  })

  it('forgets an account whose last sequence is removed', () => {
    const queue = createQueue('fair', [{ accountId: 'a' }, { accountId: 'b' }])
    const [sequence] = queue
    if (sequence !== undefined) queue.remove(sequence)
    expect(drain(queue)).toEqual([1])
    expect(queue.size).toBe(0)
  })

  it.each(['fcfs', 'priority', 'fair'] as const)('%s shows whose turn it is and lets it wait', (policy) => {
    const queue = createQueue(policy, [
      { accountId: 'a' },
      { accountId: 'b', priority: 9 },
      { accountId: 'a' },
    ])
    while (queue.size > 0) {
      const shown = queue.peek({ nowMs: 0 })
      expect(queue.peek({ nowMs: 0 })).toBe(shown)
      expect(takeNext(queue, 0)).toBe(shown)
    }
    expect(queue.peek({ nowMs: 0 })).toBeNull()
  })

  it('priority gives a tier no credit for the time in which it had nothing waiting', () => {
    const queue = createQueue(
      'priority',
      Array.from({ length: 40 }, () => ({ priorityClass: 1, maxNewTokens: 99 })),
    )
    for (let i = 0; i < 20; i++) takeNext(queue, 0)
    for (let i = 0; i < 20; i++) add(queue, 100 + i, { maxNewTokens: 99 })
    const next = Array.from({ length: 10 }, () => takeNext(queue, 0)?.place.priorityClass)
    // As behind any start of its own: it would have four of them if the time before counted.
    expect(next.filter((priorityClass) => priorityClass === 0)).toHaveLength(1)
  })

  it('priority credits a tier what a sequence did not use, by its weight', () => {
    const queue = createQueue('priority', [])
    for (let i = 0; i < 100; i++) add(queue, i, { priorityClass: 2, maxNewTokens: 1599 })
    for (let i = 0; i < 100; i++) add(queue, 100 + i, { maxNewTokens: 99 })
    const classes = Array.from({ length: 85 }, () => {
      const next = takeNext(queue, 0)
      if (next !== null) queue.settle(next, 100)
      return next?.place.priorityClass
    })
    // 1 of 17 parts, but for the 256 tokens that the higher tier is given before.
    expect(classes.filter((priorityClass) => priorityClass === 0)).toHaveLength(3)
  })

  it('priority credits a sequence once, however often its end is told', () => {
    const queue = createQueue('priority', [
      ...Array.from({ length: 2 }, () => ({ accountId: 'a', maxNewTokens: 99 })),
      ...Array.from({ length: 2 }, () => ({ accountId: 'b', maxNewTokens: 99 })),
    ])
    const first = takeNext(queue, 0)
    if (first === null) throw new Error('nothing waits')
    for (let i = 0; i < 3; i++) queue.settle(first, 0)
    expect(drain(queue)).toEqual([2, 1, 3])
  })

  it('priority leaves it to the weights whether a lower tier starts where a higher one waits too', () => {
    const queue = createQueue('priority', [
      ...Array.from({ length: 3 }, () => ({ priorityClass: 2, maxNewTokens: 9999 })),
      { maxNewTokens: 9 },
    ])
    takeNext(queue, 0)
    const mayStart = (priorityClass: number) => priorityClass === 2
    expect(queue.peek({ nowMs: 0, mayStart })?.sequenceId).toBe(3)
  })

  it('priority charges a search for each of its beams', () => {
    const queue = createQueue('priority', [])
    for (let i = 0; i < 2; i++) add(queue, i, { accountId: 'beams', maxNewTokens: 99, numBeams: 4 })
    for (let i = 2; i < 8; i++) add(queue, i, { accountId: 'texts', maxNewTokens: 99 })
    // 397 tokens, and 100 for a text.
    expect(drain(queue)).toEqual([0, 2, 3, 4, 5, 1, 6, 7])
  })

  it('priority charges one that lost its slot only what it has not been charged for yet', () => {
    const queue = createQueue('priority', [
      { accountId: 'preempted', maxNewTokens: 299 },
      ...Array.from({ length: 4 }, () => ({ accountId: 'other', maxNewTokens: 99 })),
    ])
    const first = takeNext(queue, 0)
    if (first === null) throw new Error('nothing waits')
    first.newTokens = 199
    first.preempt([])
    queue.settle(first, first.takeUsedTokens())
    queue.add(first)
    add(queue, 9, { accountId: 'preempted', maxNewTokens: 99 })
    // After 200 tokens it is its turn, and after 300 that of the account's next request.
    expect(drain(queue)).toEqual([1, 2, 0, 3, 9, 4])
  })

  it('fair counts turns, whatever a sequence has used', () => {
    const queue = createQueue(
      'fair',
      ['a', 'a', 'b', 'b', 'a'].map((accountId) => ({ accountId })),
    )
    const first = takeNext(queue, 0)
    if (first !== null) queue.settle(first, 1000)
    expect(drain(queue)).toEqual([2, 1, 3, 4])
  })

  it('fair takes no second turn for one that lost its slot', () => {
    const queue = createQueue(
      'fair',
      ['a', 'b', 'b', 'b'].map((accountId) => ({ accountId })),
    )
    const first = takeNext(queue, 0)
    if (first === null) throw new Error('nothing waits')
    takeNext(queue, 0)
    first.preempt([])
    queue.settle(first, 0)
    queue.add(first)
    add(queue, 9, { accountId: 'a' })
    expect(drain(queue)).toEqual([2, 0, 9, 3])
  })

  it('priority lets a tier that had nothing waiting begin beside the one whose turn it is', () => {
    const queue = createQueue('priority', [
      ...Array.from({ length: 2 }, () => ({ maxNewTokens: 9999 })),
      ...Array.from({ length: 3 }, () => ({ priorityClass: 1, maxNewTokens: 99 })),
    ])
    for (const sequence of [...queue].filter(({ sequenceId }) => sequenceId === 0 || sequenceId === 2))
      queue.take(sequence)
    add(queue, 9, { priorityClass: 2 })
    expect(takeNext(queue, 0)?.sequenceId).toBe(9)
  })

  it('priority gives an account no credit for the time in which it had nothing waiting', () => {
    const queue = createQueue('priority', [
      { accountId: 'a', maxNewTokens: 99 },
      ...Array.from({ length: 20 }, () => ({ accountId: 'b', maxNewTokens: 99 })),
    ])
    for (let i = 0; i < 11; i++) takeNext(queue, 0)
    for (let i = 0; i < 10; i++) add(queue, 100 + i, { accountId: 'a', maxNewTokens: 99 })
    const next = Array.from({ length: 6 }, () => takeNext(queue, 0)?.place.accountId)
    expect(next.filter((accountId) => accountId === 'b')).toHaveLength(3)
  })

  it('remembers what an account was charged while its sequence runs, however many others come and go', () => {
    const queue = createQueue('priority', [
      { accountId: 'long', maxNewTokens: 9999 },
      ...Array.from({ length: 4 }, () => ({ accountId: 'other', maxNewTokens: 99 })),
    ])
    const long = takeNext(queue, 0)
    const comeAndGo = (from: number) => {
      for (let i = from; i < from + 1100; i++) queue.remove(add(queue, i, { accountId: String(i) }))
    }
    comeAndGo(1000)
    add(queue, 8, { accountId: 'long', maxNewTokens: 99 })
    expect(takeNext(queue, 0)?.sequenceId).toBe(1)
    expect(takeNext(queue, 0)?.sequenceId).toBe(2)
    // It has ended, and is an idle account like any other.
    const second = [...queue].find(({ sequenceId }) => sequenceId === 8)
    if (long === null || second === undefined) throw new Error('one is missing')
    queue.remove(second)
    queue.settle(long, 10_000)
    comeAndGo(3000)
    add(queue, 9, { accountId: 'long', maxNewTokens: 99 })
    expect(drain(queue)).toEqual([9, 3, 4])
  })

  describe('priority, before one for which there is no room', () => {
    const takeBefore = (queue: WaitingQueue, before: Sequence): number[] => {
      const order: number[] = []
      for (let i = 0; i < 100; i++) {
        const next = queue.peek({ nowMs: 0, before })
        if (next === null) return order
        queue.take(next)
        order.push(next.sequenceId)
      }
      return order
    }

    it('gives the tiers above what they have less than its own tier with it', () => {
      const queue = createQueue('priority', [])
      const blocked = add(queue, 0, { maxNewTokens: 99 })
      for (let i = 1; i < 50; i++) add(queue, i, { priorityClass: 2, maxNewTokens: 99 })
      // 16 times its tokens.
      expect(takeBefore(queue, blocked)).toHaveLength(16)
    })

    it('gives the other accounts of its tier what they have less than its own account with it', () => {
      const queue = createQueue('priority', [])
      const blocked = add(queue, 0, { accountId: 'a', maxNewTokens: 499 })
      add(queue, 1, { accountId: 'a', maxNewTokens: 9 })
      for (let i = 2; i < 20; i++) add(queue, i, { accountId: 'b', maxNewTokens: 99 })
      expect(takeBefore(queue, blocked)).toEqual([2, 3, 4, 5, 6])
    })

    it('gives nothing to tiers that may not start, nor to those below', () => {
      const queue = createQueue('priority', [])
      const blocked = add(queue, 0, { priorityClass: 1, maxNewTokens: 99 })
      add(queue, 1, { priorityClass: 2 })
      add(queue, 2, { priorityClass: 1, accountId: 'b' })
      add(queue, 3, {})
      const next = (mayStart: (priorityClass: number) => boolean) =>
        queue.peek({ nowMs: 0, before: blocked, mayStart })?.sequenceId
      expect(next(() => true)).toBe(1)
      expect(next((priorityClass) => priorityClass < 2)).toBe(2)
      expect(next((priorityClass) => priorityClass < 1)).toBeUndefined()
    })
  })
})
