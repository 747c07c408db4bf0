import { describe, expect, it } from 'vitest'
import { openTestedState } from '../../test/support/servers/tested-state.ts'
import { VirtualClock } from '../core/clock.ts'
import { SPENT_KNOWN_MS } from '../core/shared-state.ts'

async function setUp() {
  const clock = new VirtualClock()
  const { requests: limits } = await openTestedState(clock)
  const admit = (budgets: readonly (readonly [string, number])[], requestsPerMinute = 60) =>
    limits.admit({
      limitId: 'key',
      requestsPerMinute,
      maxConcurrent: 1,
      budgets: budgets.map(([counterId, maxTokens]) => ({ counterId, maxTokens })),
    })
  return { clock, limits, admit }
}

describe('budgets in the shared state', () => {
  it('asks for the counters that it does not know, and counts nothing meanwhile', async () => {
    const { limits, admit } = await setUp()
    await limits.restoreSpent([{ counterId: 'known', tokens: 1 }])

    const budgets = [
      ['known', 10],
      ['day', 10],
      ['month', 100],
    ] as const
    expect(await admit(budgets)).toEqual({ outcome: 'budgets-unknown', counterIds: ['day', 'month'] })
    await limits.restoreSpent([
      { counterId: 'day', tokens: 4 },
      { counterId: 'month', tokens: 40 },
    ])

    const admitted = await admit(budgets)
    expect(admitted).toMatchObject({ outcome: 'admitted', spentTokens: [1, 4, 40], rate: { remaining: 59 } })
  })

  it('knows a counter for its time from when it was restored, not from when it was asked for', async () => {
    const { clock, limits, admit } = await setUp()
    await admit([['day', 10]])
    clock.advance(SPENT_KNOWN_MS - 1)
    await limits.restoreSpent([{ counterId: 'day', tokens: 10 }])
    clock.advance(SPENT_KNOWN_MS - 1)
    expect(await admit([['day', 10]])).toMatchObject({ outcome: 'budget-exceeded', spentTokens: [10] })
    clock.advance(1)
    expect(await admit([['day', 10]])).toEqual({ outcome: 'budgets-unknown', counterIds: ['day'] })
  })

  it('goes on from what it knew last, however long it could not be restored', async () => {
    const { clock, limits, admit } = await setUp()
    await limits.restoreSpent([{ counterId: 'day', tokens: 8 }])
    for (let turn = 0; turn < 3; turn++) {
      clock.advance(SPENT_KNOWN_MS)
      expect(await admit([['day', 10]])).toMatchObject({ outcome: 'budgets-unknown' })
      limits.spend(['day'], 1)
    }
    await limits.restoreSpent([{ counterId: 'day', tokens: null }])
    expect(await admit([['day', 10]])).toMatchObject({ outcome: 'budget-exceeded', spentTokens: [11] })
  })

  it('refuses from the last token on, before rate and concurrency, and counts under neither', async () => {
    const { limits, admit } = await setUp()
    await limits.restoreSpent([{ counterId: 'day', tokens: 9 }])
    const first = await admit([['day', 10]], 1)
    expect(first).toMatchObject({ outcome: 'admitted', spentTokens: [9] })

    limits.spend(['day', 'month'], 1)
    expect(await admit([['day', 10]], 1)).toMatchObject({ outcome: 'budget-exceeded', spentTokens: [10] })
    expect(await admit([['day', 11]], 2)).toMatchObject({ outcome: 'concurrency-exceeded' })
    if (first.outcome === 'admitted' && first.permitId !== null) limits.release(first.permitId)
    expect(await admit([['day', 11]], 2)).toMatchObject({ outcome: 'admitted', rate: { remaining: 0 } })
  })

  it('keeps what is spent between the question and the restoring, and a counter that another has restored', async () => {
    const { limits, admit } = await setUp()
    await admit([['day', 10]])
    limits.spend(['day'], 3)
    await limits.restoreSpent([{ counterId: 'day', tokens: 4 }])
    await limits.restoreSpent([{ counterId: 'day', tokens: 400 }])

    expect(await admit([['day', 10]])).toMatchObject({ outcome: 'admitted', spentTokens: [7] })
  })

  it('keeps what is spent while a reading takes longer than a counter is known', async () => {
    const { clock, limits, admit } = await setUp()
    await admit([['day', 10]])
    limits.spend(['day'], 3)
    clock.advance(SPENT_KNOWN_MS)
    expect(await admit([['day', 10]])).toMatchObject({ outcome: 'budgets-unknown' })
    limits.spend(['day'], 2)
    await limits.restoreSpent([{ counterId: 'day', tokens: 4 }])

    expect(await admit([['day', 9]])).toMatchObject({ outcome: 'budget-exceeded', spentTokens: [9] })
    clock.advance(SPENT_KNOWN_MS)
    await admit([['day', 10]])
    await limits.restoreSpent([{ counterId: 'day', tokens: 4 }])
    expect(await admit([['day', 10]])).toMatchObject({ outcome: 'admitted', spentTokens: [4] })
  })

  it('asks again for a counter after its time, with what is spent from then on', async () => {
    const { clock, limits, admit } = await setUp()
    await limits.restoreSpent([{ counterId: 'day', tokens: 4 }])
    limits.spend(['day'], 3)
    clock.advance(SPENT_KNOWN_MS)

    expect(await admit([['day', 10]])).toMatchObject({ outcome: 'budgets-unknown' })
    limits.spend(['day'], 1)
    await limits.restoreSpent([{ counterId: 'day', tokens: 7 }])
    expect(await admit([['day', 10]])).toMatchObject({ spentTokens: [8] })
  })

  it('keeps what was spent where it cannot be read again, also by a process that never knew it', async () => {
    const { clock, limits, admit } = await setUp()
    const unread = [{ counterId: 'day', tokens: null }]
    await limits.restoreSpent([{ counterId: 'day', tokens: 4 }])
    limits.spend(['day'], 3)
    for (const spent of [7, 9, 11]) {
      clock.advance(SPENT_KNOWN_MS)
      expect(await admit([['day', 20]])).toMatchObject({ outcome: 'budgets-unknown' })
      await limits.restoreSpent(unread)
      const admitted = await admit([['day', 20]])
      expect(admitted).toMatchObject({ outcome: 'admitted', spentTokens: [spent] })
      if (admitted.outcome === 'admitted' && admitted.permitId !== null) limits.release(admitted.permitId)
      limits.spend(['day'], 2)
    }

    clock.advance(SPENT_KNOWN_MS)
    await admit([['day', 20]])
    await limits.restoreSpent([{ counterId: 'day', tokens: 5 }])
    expect(await admit([['day', 20]])).toMatchObject({ spentTokens: [5] })
  })

  it('begins at nothing where nothing was ever read', async () => {
    const { limits, admit } = await setUp()
    await admit([['day', 20]])
    await limits.restoreSpent([{ counterId: 'day', tokens: null }])
    expect(await admit([['day', 20]])).toMatchObject({ outcome: 'admitted', spentTokens: [0] })
  })
})
