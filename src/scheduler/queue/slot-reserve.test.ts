import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../core/clock.ts'
import { SlotReserve } from './slot-reserve.ts'

const FREE = 0
const PRO = 1
const ENTERPRISE = 2

function createReserve({
  slots = 8,
  classes = [ENTERPRISE],
}: {
  slots?: number
  classes?: readonly number[]
}) {
  const clock = new VirtualClock()
  const reserve = new SlotReserve({ slots, clock })
  reserve.setClasses(classes)
  /** Starts as many of a class as may. */
  const fill = (priorityClass: number): number => {
    let started = 0
    for (; started < slots && reserve.mayStart(priorityClass, []); started++) reserve.begin(priorityClass)
    return started
  }
  return { clock, reserve, fill }
}

describe('SlotReserve', () => {
  it.each([
    { slots: 1, classes: [ENTERPRISE], free: 1 },
    { slots: 3, classes: [ENTERPRISE], free: 3 },
    { slots: 4, classes: [ENTERPRISE], free: 3 },
    { slots: 4, classes: [PRO, ENTERPRISE], free: 3 },
    { slots: 8, classes: [ENTERPRISE], free: 7 },
    { slots: 8, classes: [PRO, ENTERPRISE], free: 6 },
    { slots: 16, classes: [PRO, ENTERPRISE], free: 12 },
    { slots: 8, classes: [], free: 8 },
    { slots: 8, classes: [FREE], free: 8 },
  ])(
    'keeps slots for each tier above that has callers: $slots slots, classes $classes',
    ({ slots, classes, free }) => {
      expect(createReserve({ slots, classes }).fill(FREE)).toBe(free)
    },
  )

  it('lets each tier leave slots to those above it alone', () => {
    const { fill } = createReserve({ classes: [PRO, ENTERPRISE] })
    expect(fill(PRO)).toBe(7)
    expect(createReserve({ classes: [PRO, ENTERPRISE] }).fill(ENTERPRISE)).toBe(8)
  })

  it('keeps what a higher tier uses, and what it has used in the last 10 s', () => {
    const { clock, reserve, fill } = createReserve({})
    for (let i = 0; i < 3; i++) reserve.begin(ENTERPRISE)
    expect(fill(FREE)).toBe(4)
    for (let i = 0; i < 3; i++) reserve.end(ENTERPRISE)
    clock.advance(9999)
    expect(reserve.mayStart(FREE, [])).toBe(false)
    clock.advance(1)
    expect(fill(FREE)).toBe(3)
  })

  it('keeps what a higher tier has used until 10 s after the last of it has ended, not begun', () => {
    const { clock, reserve, fill } = createReserve({})
    for (let i = 0; i < 3; i++) reserve.begin(ENTERPRISE)
    clock.advance(9000)
    for (let i = 0; i < 3; i++) reserve.end(ENTERPRISE)
    expect(fill(FREE)).toBe(4)
    clock.advance(9999)
    expect(reserve.mayStart(FREE, [])).toBe(false)
    clock.advance(1)
    expect(fill(FREE)).toBe(3)
  })

  it('counts what lower tiers run as taken', () => {
    const { reserve, fill } = createReserve({})
    for (let i = 0; i < 6; i++) reserve.begin(FREE)
    expect(fill(PRO)).toBe(1)
  })

  it('counts slots that are kept for waiting sequences as taken', () => {
    const { reserve } = createReserve({})
    for (let i = 0; i < 6; i++) reserve.begin(FREE)
    expect(reserve.mayStart(FREE, [ENTERPRISE])).toBe(true)
    expect(reserve.mayStart(FREE, [FREE])).toBe(false)
  })

  it('leaves every tier its part by weight beside a higher tier that could use every slot', () => {
    const { reserve, fill } = createReserve({ slots: 64, classes: [PRO, ENTERPRISE] })
    for (let i = 0; i < 56; i++) reserve.begin(ENTERPRISE)
    expect(fill(FREE)).toBe(4)
  })
})
