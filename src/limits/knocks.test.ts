import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openTestedState, runsOf } from '../../test/support/servers/tested-state.ts'
import { VirtualClock } from '../core/clock.ts'

const PORTS = [7000, 8000, 9000]

async function createKnock({ ports = PORTS, windowMs = 10_000, openMs = 3_600_000 } = {}) {
  const clock = new VirtualClock()
  const { knocks: knock, checkIntegrity } = await openTestedState(clock, { ports, windowMs, openMs })
  return {
    clock,
    knock,
    checkIntegrity,
    /** Knocks on each port; gives the last outcome. */
    knockAll: async (address: string, ...on: number[]) => {
      const outcomes = []
      for (const port of on) outcomes.push(await knock.knock(address, port))
      return outcomes.at(-1)
    },
  }
}

describe('knocks', () => {
  it('opens to an address that knocks on every port in order, and to no other', async () => {
    const { knock, knockAll } = await createKnock()

    expect(await knock.isOpen('a')).toBe(false)
    expect(await knockAll('a', 7000, 8000)).toBe('knocking')
    expect(await knock.isOpen('a')).toBe(false)
    expect(await knockAll('a', 9000)).toBe('opened')

    expect([await knock.isOpen('a'), await knock.isOpen('b')]).toEqual([true, false])
  })

  it('opens with one port at the first knock', async () => {
    const { knock, knockAll } = await createKnock({ ports: [7000] })

    expect(await knockAll('a', 7000)).toBe('opened')
    expect(await knock.isOpen('a')).toBe(true)
  })

  it.each([
    ['the wrong order', [9000, 8000, 7000]],
    ['two in the wrong order', [7000, 9000, 8000]],
    ['one left out', [7000, 9000]],
    ['the end alone', [8000, 9000]],
    ['a foreign port of the sequence between', [7000, 9000, 8000, 9000]],
    ['one too often', [7000, 8000, 8000, 9000]],
    ['a scan downwards', [9000, 8000, 7000, 9000, 8000, 7000]],
  ])('stays closed for %s', async (_, ports) => {
    const { knock, knockAll } = await createKnock()

    expect(await knockAll('a', ...ports)).toBe('knocking')
    expect(await knock.isOpen('a')).toBe(false)
  })

  it('takes a knock on the first port for a new beginning', async () => {
    const { knockAll } = await createKnock()

    expect(await knockAll('a', 7000, 7000, 8000, 9000)).toBe('opened')
    expect(await knockAll('b', 7000, 8000, 7000, 8000, 9000)).toBe('opened')
    expect(await knockAll('c', 8000, 7000, 9000, 7000, 8000, 9000)).toBe('opened')
  })

  it('wants the last knock within the window that the first began', async () => {
    const { clock, knockAll } = await createKnock()

    await knockAll('a', 7000)
    clock.advance(5000)
    await knockAll('a', 8000)
    clock.advance(5000)
    expect(await knockAll('a', 9000)).toBe('opened')

    await knockAll('b', 7000)
    clock.advance(9999)
    await knockAll('b', 8000)
    clock.advance(2)
    expect(await knockAll('b', 9000)).toBe('knocking')
  })

  it('closes again when the time is over, and opens anew', async () => {
    const { clock, knock, knockAll } = await createKnock()
    await knockAll('a', ...PORTS)

    clock.advance(3_599_999)
    expect(await knock.isOpen('a')).toBe(true)
    clock.advance(1)
    expect(await knock.isOpen('a')).toBe(false)

    expect(await knockAll('a', ...PORTS)).toBe('opened')
    expect(await knock.isOpen('a')).toBe(true)
  })

  it('gives an address that knocks again while it is open the whole time anew', async () => {
    const { clock, knock, knockAll } = await createKnock()
    await knockAll('a', ...PORTS)
    clock.advance(3_000_000)
    await knockAll('a', ...PORTS)
    clock.advance(3_000_000)

    expect(await knock.isOpen('a')).toBe(true)
  })

  it('is not closed by a wrong knock once it is open', async () => {
    const { knock, knockAll } = await createKnock()
    await knockAll('a', ...PORTS)
    await knockAll('a', 9000, 7000, 9000)

    expect(await knock.isOpen('a')).toBe(true)
  })

  it('keeps three addresses apart that knock at the same time', async () => {
    const { knock, knockAll } = await createKnock()

    for (const port of PORTS) for (const address of ['a', 'b', 'c']) await knockAll(address, port)
    expect(await Promise.all(['a', 'b', 'c'].map(async (address) => knock.isOpen(address)))).toEqual([
      true,
      true,
      true,
    ])

    // One sequence in three hands is none.
    for (const [index, address] of ['d', 'e', 'f'].entries()) await knockAll(address, PORTS[index] ?? 0)
    expect(await Promise.all(['d', 'e', 'f'].map(async (address) => knock.isOpen(address)))).not.toContain(
      true,
    )
  })

  it('agrees with the definition after any knocks at any time', async () => {
    const step = fc.record({
      address: fc.constantFrom('a', 'b'),
      port: fc.constantFrom(...PORTS),
      waitMs: fc.constantFrom(0, 1, 40, 60, 200),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, knock, checkIntegrity } = await createKnock({ windowMs: 100, openMs: 150 })
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
          expect(await knock.knock(address, port)).toBe(isRight ? 'opened' : 'knocking')
          for (const one of ['a', 'b']) {
            expect(await knock.isOpen(one)).toBe(nowMs < (openUntil.get(one) ?? 0))
          }
          checkIntegrity()
        }
      }),
      { numRuns: runsOf({ test: 100, soak: 100 }) },
    )
  })
})
