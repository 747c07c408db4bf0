import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OPERATOR_ACCOUNT_ID } from '../../core/credential.ts'
import type { QueuePlace } from '../../protocol/engine.ts'
import { QueueLimit } from './queue-limit.ts'
import { QueueLine } from './queue-line.ts'

const OPERATOR: QueuePlace = { priorityClass: 2, priority: 0, accountId: OPERATOR_ACCOUNT_ID }

/** A line in which all sequences are of one place. */
function createLine(limit: QueueLimit, capacity: number, place = OPERATOR) {
  const line = new QueueLine(limit, capacity)
  return {
    enter: (count: number, size = 1) => line.enter(count, { place, size }),
    begin: (size = 1) => line.begin({ place, size }),
    leave: (count: number, size = 1) => line.leave(count, { place, size }),
    end: (count: number, size = 1) => line.end(count, { place, size }),
  }
}

const fullQueue = (params: object) => expect.objectContaining({ code: 'queue_full', status: 429, params })

describe('QueueLimit', () => {
  it('counts what waits beyond the capacity, of all lines together', () => {
    const limit = new QueueLimit({ max: 2 })
    const [one, other] = [createLine(limit, 1), createLine(limit, 1)]
    for (const line of [one, other]) for (let i = 0; i < 2; i++) line.enter(1)
    const refused = fullQueue({ waiting: 2, max: 2, given: 1 })
    expect(() => one.enter(1)).toThrow(refused)
    one.begin()
    expect(() => other.enter(1)).toThrow(refused)
    one.end(1)
    other.enter(1)
    expect(() => one.enter(1)).toThrow(refused)
  })

  it('takes a block whole or not at all, and one larger than itself when nothing waits anywhere', () => {
    const limit = new QueueLimit({ max: 3 })
    const [one, other] = [createLine(limit, 0), createLine(limit, 2)]
    one.enter(1)
    expect(() => other.enter(5)).toThrow(fullQueue({ waiting: 1, max: 3, given: 5 }))
    other.enter(4)
    other.leave(4)
    one.leave(1)
    other.enter(50)
    expect(() => one.enter(1)).toThrow(fullQueue({ waiting: 48, max: 3, given: 1 }))
  })

  it('counts free slots as room, and refuses one more than the bound beyond them', () => {
    const line = createLine(new QueueLimit({ max: 1 }), 2)
    for (let i = 0; i < 3; i++) line.enter(1)
    expect(() => line.enter(1)).toThrow(fullQueue({ waiting: 1, max: 1, given: 1 }))
    line.begin()
    expect(() => line.enter(1)).toThrow(fullQueue({ waiting: 1, max: 1, given: 1 }))
  })

  it('refuses a block that does not fit beside what waits, and counts nothing of it', () => {
    const line = createLine(new QueueLimit({ max: 2 }), 2)
    line.enter(3)
    line.begin()
    line.begin()
    expect(() => line.enter(2)).toThrow(fullQueue({ waiting: 1, max: 2, given: 2 }))
    line.enter(1)
    expect(() => line.enter(1)).toThrow(fullQueue({ waiting: 2, max: 2, given: 1 }))
  })

  it('counts those as waiting that do not fit when the smallest begin first, whichever came first', () => {
    const line = createLine(new QueueLimit({ max: 1 }), 4)
    line.enter(1, 4)
    for (let search = 0; search < 4; search++) line.enter(1)
    expect(() => line.enter(1)).toThrow(fullQueue({ waiting: 1, max: 1, given: 1 }))
  })

  it('counts searches like any other sequence, by the seats that each takes', () => {
    const line = createLine(new QueueLimit({ max: 2 }), 8)
    for (let i = 0; i < 3; i++) line.enter(1, 8)
    expect(() => line.enter(1, 8)).toThrow(fullQueue({ waiting: 2, max: 2, given: 1 }))
    line.begin(8)
    expect(() => line.enter(1, 2)).toThrow(fullQueue({ waiting: 2, max: 2, given: 1 }))
  })

  it('lets as many searches begin as find seats', () => {
    const line = createLine(new QueueLimit({ max: 1 }), 8)
    line.enter(1, 8)
    line.begin(8)
    line.enter(1, 2)
    expect(() => line.enter(1, 2)).toThrow(fullQueue({ waiting: 1, max: 1, given: 1 }))
    line.end(1, 8)
    line.enter(1, 2)
    line.enter(1, 4)
    line.enter(1, 4)
    expect(() => line.enter(1, 4)).toThrow(fullQueue({ waiting: 1, max: 1, given: 1 }))
  })

  describe('shares', () => {
    const served = { max: 512, servedClasses: () => [0, 1, 2] }
    const placeOf = (accountId: string, priorityClass = 0): QueuePlace => ({
      accountId,
      priorityClass,
      priority: 0,
    })
    const refusedShare = (params: object) =>
      expect.objectContaining({ code: 'queue_share_full', status: 429, retryAfterSeconds: 1, params })
    /** Each account sends batches of 64, and smaller ones where those are refused. */
    const fill = (limit: QueueLimit, places: readonly QueuePlace[]): void => {
      for (let size = 64; size >= 1; size = Math.floor(size / 2)) {
        for (const place of places) {
          try {
            for (;;) createLine(limit, 0, place).enter(size)
          } catch {
            // Over its share.
          }
        }
      }
    }
    const free = Array.from({ length: 20 }, (_, i) => placeOf(`free ${i}`))

    it('keep a quarter of the queue for each tier above that has callers', () => {
      const limit = new QueueLimit(served)
      fill(limit, free)
      expect(limit.waitingOf(0)).toBe(256)
      fill(
        limit,
        Array.from({ length: 20 }, (_, i) => placeOf(`pro ${i}`, 1)),
      )
      expect([0, 1].map((one) => limit.waitingOf(one))).toEqual([256, 128])
      for (let i = 0; i < 64; i++) createLine(limit, 0, placeOf('enterprise', 2)).enter(1)
      expect(limit.waitingOf(2)).toBe(64)
    })

    it('say what is full, with the numbers', () => {
      const limit = new QueueLimit(served)
      fill(limit, free)
      const tier = { whose: 'your tier', waiting: 256, max: 256, given: 1 }
      expect(() => createLine(limit, 0, placeOf('another')).enter(1)).toThrow(refusedShare(tier))
      fill(limit, [placeOf('pro', 1), placeOf('more', 1), placeOf('most', 1), placeOf('all', 1)])
      const both = { whose: 'the lower tiers', waiting: 384, max: 384, given: 2 }
      fill(
        limit,
        Array.from({ length: 40 }, (_, i) => placeOf(`pro ${i}`, 1)),
      )
      expect(() => createLine(limit, 0, placeOf('another', 1)).enter(2)).toThrow(refusedShare(both))
    })

    it('know a tier without callers only while it waits', () => {
      const limit = new QueueLimit({ max: 4, servedClasses: () => [2] })
      const lower = createLine(limit, 0, placeOf('lower'))
      const line = createLine(limit, 0, placeOf('one', 1))
      const refused = (whose: string) => refusedShare({ whose, waiting: 3, max: 3, given: 1 })
      lower.enter(1)
      for (const accountId of ['one', 'two']) createLine(limit, 0, placeOf(accountId, 1)).enter(1)
      expect(() => line.enter(1)).toThrow(refused('the lower tiers'))
      lower.leave(1)
      createLine(limit, 0, placeOf('three', 1)).enter(1)
      expect(() => line.enter(1)).toThrow(refused('your tier'))
    })

    it('leave an account half of what the others leave', () => {
      const limit = new QueueLimit({ max: 512 })
      const [one, other] = ['one', 'other'].map((accountId) => createLine(limit, 0, placeOf(accountId)))
      for (let i = 0; i < 256; i++) one?.enter(1)
      const refused = { whose: 'your account', waiting: 256, max: 256, given: 1 }
      expect(() => one?.enter(1)).toThrow(refusedShare(refused))
      other?.enter(64)
      one?.leave(64)
      expect(() => one?.enter(64)).toThrow(refusedShare({ ...refused, waiting: 192, max: 224, given: 64 }))
      one?.enter(32)
    })

    it('let every account wait with one sequence while there is any room', () => {
      const limit = new QueueLimit({ max: 3 })
      for (const accountId of ['a', 'b', 'c']) createLine(limit, 0, placeOf(accountId)).enter(1)
      expect(() => createLine(limit, 0, placeOf('d')).enter(1)).toThrow(
        fullQueue({ waiting: 3, max: 3, given: 1 }),
      )
    })

    it('bind the tiers, but leave the operator the whole queue', () => {
      const limit = new QueueLimit(served)
      createLine(limit, 0).enter(64)
      for (let i = 64; i < 512; i++) createLine(limit, 0).enter(1)
      expect(() => createLine(limit, 0).enter(1)).toThrow(fullQueue({ waiting: 512, max: 512, given: 1 }))
    })

    it('keep the reserve beside a block that is larger than the queue', () => {
      const limit = new QueueLimit({ max: 8, servedClasses: () => [2] })
      createLine(limit, 0, placeOf('free')).enter(64)
      const enterprise = createLine(limit, 0, placeOf('enterprise', 2))
      enterprise.enter(1)
      expect(() => createLine(limit, 0, placeOf('other')).enter(1)).toThrow('The queue is full')
    })

    it('count nothing that finds a free slot', () => {
      const line = createLine(new QueueLimit({ max: 2 }), 8, placeOf('a'))
      for (let i = 0; i < 8; i++) line.enter(1)
      line.enter(1)
      expect(() => line.enter(1)).toThrow()
    })
  })

  it('is empty when all have left, whatever they did', () => {
    const step = fc.record({
      line: fc.nat(1),
      kind: fc.constantFrom('enter', 'begin', 'leave', 'end'),
      count: fc.integer({ min: 1, max: 4 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const limit = new QueueLimit({ max: 5 })
        const lines = [createLine(limit, 2), createLine(limit, 3)]
        const held = lines.map((line) => ({ line, waiting: 0, running: 0 }))
        for (const { line, kind, count } of steps) {
          const own = held[line]
          if (own === undefined) continue
          if (kind === 'enter') {
            try {
              own.line.enter(count)
              own.waiting += count
            } catch {
              // Nothing has entered.
            }
          } else if (kind === 'begin' && own.waiting > 0) {
            own.line.begin()
            own.waiting--
            own.running++
          } else if (kind === 'leave' && own.waiting > 0) {
            own.line.leave(1)
            own.waiting--
          } else if (kind === 'end' && own.running > 0) {
            own.line.end(1)
            own.running--
          }
        }
        for (const { line, waiting, running } of held) {
          line.leave(waiting)
          line.end(running)
        }
        const probe = createLine(limit, 0)
        for (let i = 0; i < 5; i++) probe.enter(1)
        expect(() => probe.enter(1)).toThrow(fullQueue({ waiting: 5, max: 5, given: 1 }))
      }),
    )
  })
})
