import { describe, expect, it } from 'vitest'
import { openTestedState } from '../../test/support/servers/tested-state.ts'
import { VirtualClock } from '../core/clock.ts'
import { BAN_MS, FORGIVEN_AFTER_MS, MAX_OFFENCES, OFFENCE_WINDOW_MS } from './memory/bans.ts'

async function createList() {
  const clock = new VirtualClock()
  const { bans: list } = await openTestedState(clock)
  const offend = async (address: string, times: number) => {
    const bans = await Promise.all(Array.from({ length: times }, async () => list.recordOffence(address)))
    return bans.at(-1) ?? null
  }
  return { clock, list, offend }
}

describe('a ban', () => {
  it('begins with one offence too many within a minute', async () => {
    const { list, offend } = await createList()

    expect(await offend('a', MAX_OFFENCES - 1)).toBeNull()
    expect(await list.find('a')).toBeNull()
    expect(await offend('a', 1)).toMatchObject({ addressKey: 'a', count: 1 })
    expect(await list.find('a')).not.toBeNull()
    expect(await list.find('b')).toBeNull()
  })

  it('does not begin when the offences are spread over more than a minute', async () => {
    const { clock, list, offend } = await createList()

    for (let turn = 0; turn < 10 * MAX_OFFENCES; turn++) {
      expect(await offend('a', 1)).toBeNull()
      clock.advance(Math.ceil(OFFENCE_WINDOW_MS / (MAX_OFFENCES - 1)))
    }

    expect(await list.list()).toEqual([])
  })

  it('counts no offence of a minute ago', async () => {
    const { clock, offend } = await createList()
    await offend('a', MAX_OFFENCES - 1)
    clock.advance(OFFENCE_WINDOW_MS)
    expect(await offend('a', 1)).toBeNull()
  })

  it('is listed by when it began, not by when the address was banned first', async () => {
    const { clock, list, offend } = await createList()
    await offend('a', MAX_OFFENCES)
    clock.advance(50_000)
    await offend('b', MAX_OFFENCES)
    clock.advance(10_000)
    await offend('a', MAX_OFFENCES)
    expect((await list.list()).map(({ addressKey }) => addressKey)).toEqual(['a', 'b'])
  })

  it('counts over the edges of minutes', async () => {
    const { clock, offend } = await createList()
    clock.advance(OFFENCE_WINDOW_MS - 1)
    await offend('a', MAX_OFFENCES / 2)
    clock.advance(2)

    expect(await offend('a', MAX_OFFENCES / 2)).not.toBeNull()
  })

  it('grows with each that follows, up to the longest, and ends to the millisecond', async () => {
    const { clock, list, offend } = await createList()

    for (const [index, lengthMs] of [...BAN_MS, BAN_MS.at(-1) ?? 0].entries()) {
      expect((await offend('a', MAX_OFFENCES))?.count).toBe(index + 1)
      clock.advance(lengthMs - 1)
      expect(await list.find('a')).not.toBeNull()
      clock.advance(1)
      expect(await list.find('a')).toBeNull()
    }
  })

  it('is forgotten after a day without another', async () => {
    const { clock, offend } = await createList()
    await offend('a', MAX_OFFENCES)
    clock.advance((BAN_MS[0] ?? 0) + FORGIVEN_AFTER_MS - 1)
    expect((await offend('a', MAX_OFFENCES))?.count).toBe(2)
    clock.advance((BAN_MS[1] ?? 0) + FORGIVEN_AFTER_MS)

    expect((await offend('a', MAX_OFFENCES))?.count).toBe(1)
  })

  it('grows no longer by what is tried during it', async () => {
    const { clock, list, offend } = await createList()
    await offend('a', MAX_OFFENCES)

    expect(await offend('a', 10 * MAX_OFFENCES)).toBeNull()
    clock.advance(BAN_MS[0] ?? 0)

    expect(await list.find('a')).toBeNull()
    expect(await offend('a', MAX_OFFENCES - 1)).toBeNull()
  })

  it('is over when it is lifted, and those before it are forgotten', async () => {
    const { list, offend } = await createList()
    await offend('a', MAX_OFFENCES)

    expect([await list.lift('a'), await list.lift('a'), await list.lift('b')]).toEqual([true, false, false])
    expect(await list.find('a')).toBeNull()
    expect((await offend('a', MAX_OFFENCES))?.count).toBe(1)
  })

  it('is listed while it lasts, the latest first', async () => {
    const { clock, list, offend } = await createList()
    await offend('a', MAX_OFFENCES)
    clock.advance(1000)
    await offend('b', MAX_OFFENCES)

    expect((await list.list()).map(({ addressKey }) => addressKey)).toEqual(['b', 'a'])
    clock.advance((BAN_MS[0] ?? 0) - 1000)
    expect((await list.list()).map(({ addressKey }) => addressKey)).toEqual(['b'])
  })

  it('has at least the seconds that are left', async () => {
    const { clock, list, offend } = await createList()
    const firstMs = BAN_MS[0] ?? 0
    expect(await offend('a', MAX_OFFENCES)).toMatchObject({ secondsLeft: firstMs / 1000 })

    clock.advance(firstMs - 1500)
    const secondsLeft = []
    for (const ms of [0, 499, 1, 999]) {
      clock.advance(ms)
      secondsLeft.push((await list.find('a'))?.secondsLeft)
    }
    expect(secondsLeft).toEqual([2, 2, 1, 1])
  })
})
