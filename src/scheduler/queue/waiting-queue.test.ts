import { describe, expect, it } from 'vitest'
import type { SchedulePolicy } from '../../core/choices/schedule-policy.ts'
import { Sequence } from '../sequence.ts'
import { WaitingQueue } from './waiting-queue.ts'

interface Arrival {
  readonly maxNewTokens?: number
  readonly accountId?: string
  readonly priorityClass?: number
  readonly priority?: number
  readonly ms?: number
}

function createQueue(policy: SchedulePolicy, arrivals: readonly Arrival[]): WaitingQueue {
  const queue = new WaitingQueue({ policy, maxSeqLen: null })
  for (const [reqId, arrival] of arrivals.entries()) {
    const { accountId = 'a', priorityClass = 0, priority = 0, ms = 0, maxNewTokens = 1 } = arrival
    const request = { ids: [1], reqId, maxNewTokens, place: { accountId, priorityClass, priority } }
    queue.add(new Sequence(request, { ms, order: reqId }))
  }
  return queue
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
})
