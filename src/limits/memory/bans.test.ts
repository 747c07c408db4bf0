import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../core/clock.ts'
import { BAN_MS, FORGIVEN_AFTER_MS, MAX_OFFENCES, MemoryBans, OFFENCE_WINDOW_MS } from './bans.ts'

function createList(maxAddresses = 1000) {
  const clock = new VirtualClock()
  const list = new MemoryBans(clock, { maxAddresses })
  const offend = (address: string, times: number) =>
    Array.from({ length: times }, () => list.recordOffence(address)).at(-1) ?? null
  return { clock, list, offend }
}

describe('a ban', () => {
  it('begins with one offence too many within a minute', () => {
    const { list, offend } = createList()

    expect(offend('a', MAX_OFFENCES - 1)).toBeNull()
    expect(list.find('a')).toBeNull()
    expect(offend('a', 1)).toMatchObject({ addressKey: 'a', count: 1 })
    expect(list.find('a')).not.toBeNull()
    expect(list.find('b')).toBeNull()
  })

  it('does not begin when the offences are spread over more than a minute', () => {
    const { clock, list, offend } = createList()

    for (let turn = 0; turn < 10 * MAX_OFFENCES; turn++) {
      expect(offend('a', 1)).toBeNull()
      clock.advance(Math.ceil(OFFENCE_WINDOW_MS / (MAX_OFFENCES - 1)))
    }

    expect(list.list()).toEqual([])
  })

  it('counts over the edges of minutes', () => {
    const { clock, offend } = createList()
    clock.advance(OFFENCE_WINDOW_MS - 1)
    offend('a', MAX_OFFENCES / 2)
    clock.advance(2)

    expect(offend('a', MAX_OFFENCES / 2)).not.toBeNull()
  })

  it('grows with each that follows, up to the longest, and ends to the millisecond', () => {
    const { clock, list, offend } = createList()

    for (const [index, lengthMs] of [...BAN_MS, BAN_MS.at(-1) ?? 0].entries()) {
      expect(offend('a', MAX_OFFENCES)?.count).toBe(index + 1)
      clock.advance(lengthMs - 1)
      expect(list.find('a')).not.toBeNull()
      clock.advance(1)
      expect(list.find('a')).toBeNull()
    }
  })

  it('is forgotten after a day without another', () => {
    const { clock, offend } = createList()
    offend('a', MAX_OFFENCES)
    clock.advance((BAN_MS[0] ?? 0) + FORGIVEN_AFTER_MS - 1)
    expect(offend('a', MAX_OFFENCES)?.count).toBe(2)
    clock.advance((BAN_MS[1] ?? 0) + FORGIVEN_AFTER_MS)

    expect(offend('a', MAX_OFFENCES)?.count).toBe(1)
  })

  it('grows no longer by what is tried during it', () => {
    const { clock, list, offend } = createList()
    offend('a', MAX_OFFENCES)

    expect(offend('a', 10 * MAX_OFFENCES)).toBeNull()
    clock.advance(BAN_MS[0] ?? 0)

    expect(list.find('a')).toBeNull()
    expect(offend('a', MAX_OFFENCES - 1)).toBeNull()
  })

  it('is over when it is lifted, and those before it are forgotten', () => {
    const { list, offend } = createList()
    offend('a', MAX_OFFENCES)

    expect([list.lift('a'), list.lift('a'), list.lift('b')]).toEqual([true, false, false])
    expect(list.find('a')).toBeNull()
    expect(offend('a', MAX_OFFENCES)?.count).toBe(1)
  })

  it('is listed while it lasts, the latest first', () => {
    const { clock, list, offend } = createList()
    offend('a', MAX_OFFENCES)
    clock.advance(1000)
    offend('b', MAX_OFFENCES)

    expect(list.list().map(({ addressKey }) => addressKey)).toEqual(['b', 'a'])
    clock.advance((BAN_MS[0] ?? 0) - 1000)
    expect(list.list().map(({ addressKey }) => addressKey)).toEqual(['b'])
  })

  it('has at least the seconds that are left', () => {
    const { clock, list, offend } = createList()
    const firstMs = BAN_MS[0] ?? 0
    expect(offend('a', MAX_OFFENCES)).toMatchObject({ secondsLeft: firstMs / 1000 })

    clock.advance(firstMs - 1500)
    const secondsLeft = [0, 499, 1, 999].map((ms) => {
      clock.advance(ms)
      return list.find('a')?.secondsLeft
    })
    expect(secondsLeft).toEqual([2, 2, 1, 1])
  })
})

it('remembers a bounded number of addresses, those that offend the most recently', () => {
  const { list, offend } = createList(3)
  for (let address = 0; address < 100; address++) offend(`offender ${address}`, 1)
  for (let address = 0; address < 100; address++) offend(`banned ${address}`, MAX_OFFENCES)

  expect(list.size).toBeLessThanOrEqual(6)
  expect(list.find('banned 99')).not.toBeNull()
  expect(list.list()).toHaveLength(3)
})
