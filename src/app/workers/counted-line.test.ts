import { expect, it } from 'vitest'
import { QueueLimit } from '../../models/queue/queue-limit.ts'
import { QueueLine } from '../../models/queue/queue-line.ts'
import { CountedLine } from './counted-line.ts'

const PLACE = { priorityClass: 0, priority: 0, accountId: 'a' }

it('takes out what a worker had waiting and running, and nothing of another', () => {
  const limit = new QueueLimit({ max: 4 })
  const line = new QueueLine(limit, 1)
  const [one, other] = [new CountedLine(line), new CountedLine(line)]
  const request = { place: PLACE }
  one.enter(1, request)
  one.begin(request)
  one.enter(1, request)
  other.enter(1, request)
  expect(limit.waitingOf(0)).toBe(2)

  one.clear()
  one.clear()

  // The slot is free again, which is what the other one's sequence waits for.
  expect(limit.waitingOf(0)).toBe(1)
  other.begin(request)
  expect(limit.waitingOf(0)).toBe(0)
  other.end(1, request)
  line.enter(1, request)
  expect(limit.waitingOf(0)).toBe(0)
})

it('counts nothing that was refused', () => {
  const line = new CountedLine(new QueueLine(new QueueLimit({ max: 1 }), 0))
  const request = { place: { ...PLACE, accountId: 'operator' } }
  line.enter(1, request)
  expect(() => line.enter(1, request)).toThrow('queue')
  line.clear()
  line.enter(1, request)
})
