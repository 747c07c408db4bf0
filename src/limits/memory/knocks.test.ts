import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../core/clock.ts'
import { MAX_KNOCKING, MAX_OPEN, MemoryKnocks } from './knocks.ts'

const PORTS = [7000, 8000, 9000]

function createKnock({ ports = PORTS, windowMs = 10_000, openMs = 3_600_000 } = {}) {
  const clock = new VirtualClock()
  const knock = new MemoryKnocks({ ports, windowMs, openMs }, clock)
  return {
    clock,
    knock,
    /** Knocks on each port; gives the last outcome. */
    knockAll: (address: string, ...on: number[]) => on.map((port) => knock.knock(address, port)).at(-1),
  }
}

describe('MemoryKnocks', () => {
  it('opens to an address that knocks on every port in order, and to no other', () => {
    const { knock, knockAll } = createKnock()

    expect(knock.isOpen('a')).toBe(false)
    expect(knockAll('a', 7000, 8000)).toBe('knocking')
    expect(knock.isOpen('a')).toBe(false)
    expect(knockAll('a', 9000)).toBe('opened')

    expect([knock.isOpen('a'), knock.isOpen('b')]).toEqual([true, false])
  })

  it('opens with one port at the first knock', () => {
    const { knock, knockAll } = createKnock({ ports: [7000] })

    expect(knockAll('a', 7000)).toBe('opened')
    expect(knock.isOpen('a')).toBe(true)
  })

  it.each([
    ['the wrong order', [9000, 8000, 7000]],
    ['two in the wrong order', [7000, 9000, 8000]],
    ['one left out', [7000, 9000]],
    ['the end alone', [8000, 9000]],
    ['a foreign port of the sequence between', [7000, 9000, 8000, 9000]],
    ['one too often', [7000, 8000, 8000, 9000]],
    ['a scan downwards', [9000, 8000, 7000, 9000, 8000, 7000]],
  ])('stays closed for %s', (_, ports) => {
    const { knock, knockAll } = createKnock()

    expect(knockAll('a', ...ports)).toBe('knocking')
    expect(knock.isOpen('a')).toBe(false)
  })

  it('takes a knock on the first port for a new beginning', () => {
    const { knockAll } = createKnock()

    expect(knockAll('a', 7000, 7000, 8000, 9000)).toBe('opened')
    expect(knockAll('b', 7000, 8000, 7000, 8000, 9000)).toBe('opened')
    expect(knockAll('c', 8000, 7000, 9000, 7000, 8000, 9000)).toBe('opened')
  })

  it('wants the last knock within the window that the first began', () => {
    const { clock, knockAll } = createKnock()

    knockAll('a', 7000)
    clock.advance(5000)
    knockAll('a', 8000)
    clock.advance(5000)
    expect(knockAll('a', 9000)).toBe('opened')

    knockAll('b', 7000)
    clock.advance(9999)
    knockAll('b', 8000)
    clock.advance(2)
    expect(knockAll('b', 9000)).toBe('knocking')
  })

  it('closes again when the time is over, and opens anew', () => {
    const { clock, knock, knockAll } = createKnock()
    knockAll('a', ...PORTS)

    clock.advance(3_599_999)
    expect(knock.isOpen('a')).toBe(true)
    clock.advance(1)
    expect(knock.isOpen('a')).toBe(false)

    expect(knockAll('a', ...PORTS)).toBe('opened')
    expect(knock.isOpen('a')).toBe(true)
  })

  it('gives an address that knocks again while it is open the whole time anew', () => {
    const { clock, knock, knockAll } = createKnock()
    knockAll('a', ...PORTS)
    clock.advance(3_000_000)
    knockAll('a', ...PORTS)
    clock.advance(3_000_000)

    expect(knock.isOpen('a')).toBe(true)
  })

  it('is not closed by a wrong knock once it is open', () => {
    const { knock, knockAll } = createKnock()
    knockAll('a', ...PORTS)
    knockAll('a', 9000, 7000, 9000)

    expect(knock.isOpen('a')).toBe(true)
  })

  it('keeps three addresses apart that knock at the same time', () => {
    const { knock, knockAll } = createKnock()

    for (const port of PORTS) for (const address of ['a', 'b', 'c']) knockAll(address, port)
    expect(['a', 'b', 'c'].map((address) => knock.isOpen(address))).toEqual([true, true, true])

    // One sequence in three hands is none.
    for (const [index, address] of ['d', 'e', 'f'].entries()) knockAll(address, PORTS[index] ?? 0)
    expect(['d', 'e', 'f'].some((address) => knock.isOpen(address))).toBe(false)
  })

  it('stays bounded under addresses without end, and forgets none that is open', () => {
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

  it('refuses a right sequence rather than forget one that is open, until one of those ends', () => {
    const { clock, knock, knockAll } = createKnock()
    for (let i = 0; i < MAX_OPEN; i++) knockAll(`friend-${i}`, ...PORTS)

    expect(knockAll('one-more', ...PORTS)).toBe('full')
    expect([knock.isOpen('friend-0'), knock.isOpen('one-more')]).toEqual([true, false])
    expect(knockAll('friend-0', ...PORTS)).toBe('opened')

    clock.advance(3_600_000)
    expect(knockAll('one-more', ...PORTS)).toBe('opened')
    expect(knock.idCount).toBe(1)
  })

  it('agrees with the definition after any knocks at any time', () => {
    const step = fc.record({
      address: fc.constantFrom('a', 'b'),
      port: fc.constantFrom(...PORTS),
      waitMs: fc.constantFrom(0, 1, 40, 60, 200),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { clock, knock } = createKnock({ windowMs: 100, openMs: 150 })
        const history = new Map<string, { port: number; atMs: number }[]>()
        const openUntil = new Map<string, number>()
        for (const { address, port, waitMs } of steps) {
          clock.advance(waitMs)
          const nowMs = clock.nowMs()
          const knocks = [...(history.get(address) ?? []), { port, atMs: nowMs }]
          history.set(address, knocks)
          const last = knocks.slice(-PORTS.length)
          const isRight =
            last.length === PORTS.length &&
            last.every((one, index) => one.port === PORTS[index]) &&
            nowMs - (last[0]?.atMs ?? 0) <= 100
          if (isRight) openUntil.set(address, nowMs + 150)
          expect(knock.knock(address, port)).toBe(isRight ? 'opened' : 'knocking')
          for (const one of ['a', 'b']) {
            expect(knock.isOpen(one)).toBe(nowMs < (openUntil.get(one) ?? 0))
          }
          knock.checkIntegrity()
        }
      }),
    )
  })
})
