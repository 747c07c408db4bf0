import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { QueueLimit } from './queue-limit.ts'

const fullQueue = (params: object) => expect.objectContaining({ code: 'queue_full', status: 429, params })

describe('QueueLimit', () => {
  it('counts what waits beyond the capacity, of all lines together', () => {
    const limit = new QueueLimit(2)
    const [one, other] = [limit.createLine(1), limit.createLine(1)]
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
    const limit = new QueueLimit(3)
    const [one, other] = [limit.createLine(0), limit.createLine(2)]
    one.enter(1)
    expect(() => other.enter(5)).toThrow(fullQueue({ waiting: 1, max: 3, given: 5 }))
    other.enter(4)
    other.leave(4)
    one.leave(1)
    other.enter(50)
    expect(() => one.enter(1)).toThrow(fullQueue({ waiting: 48, max: 3, given: 1 }))
  })

  it('counts free slots as room, and refuses one more than the bound beyond them', () => {
    const line = new QueueLimit(1).createLine(2)
    for (let i = 0; i < 3; i++) line.enter(1)
    expect(() => line.enter(1)).toThrow(fullQueue({ waiting: 1, max: 1, given: 1 }))
    line.begin()
    expect(() => line.enter(1)).toThrow(fullQueue({ waiting: 1, max: 1, given: 1 }))
  })

  it('refuses a block that does not fit beside what waits, and counts nothing of it', () => {
    const line = new QueueLimit(2).createLine(2)
    line.enter(3)
    line.begin()
    line.begin()
    expect(() => line.enter(2)).toThrow(fullQueue({ waiting: 1, max: 2, given: 2 }))
    line.enter(1)
    expect(() => line.enter(1)).toThrow(fullQueue({ waiting: 2, max: 2, given: 1 }))
  })

  it('counts searches like any other sequence, by the seats that each takes', () => {
    const line = new QueueLimit(2).createLine(8)
    for (let i = 0; i < 3; i++) line.enter(1, 8)
    expect(() => line.enter(1, 8)).toThrow(fullQueue({ waiting: 2, max: 2, given: 1 }))
    line.begin(8)
    expect(() => line.enter(1, 2)).toThrow(fullQueue({ waiting: 2, max: 2, given: 1 }))
  })

  it('lets as many searches begin as find seats', () => {
    const line = new QueueLimit(1).createLine(8)
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

  it('is empty when all have left, whatever they did', () => {
    const step = fc.record({
      line: fc.nat(1),
      kind: fc.constantFrom('enter', 'begin', 'leave', 'end'),
      count: fc.integer({ min: 1, max: 4 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const limit = new QueueLimit(5)
        const lines = [limit.createLine(2), limit.createLine(3)]
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
        const probe = limit.createLine(0)
        for (let i = 0; i < 5; i++) probe.enter(1)
        expect(() => probe.enter(1)).toThrow(fullQueue({ waiting: 5, max: 5, given: 1 }))
      }),
    )
  })
})
