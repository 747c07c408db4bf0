import { describe, expect, it } from 'vitest'
import { Sequence } from './sequence.ts'
import type { SchedulePolicy } from '../core/schedule-policy.ts'
import { WaitingQueue } from './waiting-queue.ts'

interface Arrival {
  readonly accountId?: string
  readonly priorityClass?: number
  readonly priority?: number
  readonly ms?: number
}

function createQueue(policy: SchedulePolicy, arrivals: readonly Arrival[]): WaitingQueue {
  const queue = new WaitingQueue(policy)
  for (const [reqId, arrival] of arrivals.entries()) {
    const { accountId = 'a', priorityClass = 0, priority = 0, ms = 0 } = arrival
    const request = { ids: [1], reqId, maxNewTokens: 1, place: { accountId, priorityClass, priority } }
    queue.add(new Sequence(request, { ms, order: reqId }))
  }
  return queue
}

function takeNext(queue: WaitingQueue, nowMs: number): Sequence | null {
  const next = queue.peek(nowMs)
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

  it('priority raises a waiting sequence by one class every five seconds', () => {
    const arrivals = [
      { priorityClass: 0, ms: 0 },
      { priorityClass: 1, ms: 4000 },
    ]
    expect(drain(createQueue('priority', arrivals), 4999)[0]).toBe(1)
    expect(drain(createQueue('priority', arrivals), 5000)[0]).toBe(0)
  })

  it('priority starves nobody while better classes keep arriving', () => {
    const queue = createQueue('priority', [{ priorityClass: 0, priority: -100 }])
    let nowMs = 0
    for (let reqId = 1; reqId < 100; reqId++) {
      nowMs += 1000
      const place = { accountId: 'b', priorityClass: 2, priority: 100 }
      queue.add(new Sequence({ ids: [1], reqId, maxNewTokens: 1, place }, { ms: nowMs, order: reqId }))
      if (takeNext(queue, nowMs)?.sequenceId === 0) break
    }
    // Two classes below, it overtakes the newest of the best class after three steps of ageing.
    expect(nowMs).toBe(15_000)
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
      const shown = queue.peek(0)
      expect(queue.peek(0)).toBe(shown)
      expect(takeNext(queue, 0)).toBe(shown)
    }
    expect(queue.peek(0)).toBeNull()
  })
})
