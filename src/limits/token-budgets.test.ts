import { describe, expect, it, vi } from 'vitest'
import { VirtualClock } from '../core/clock.ts'
import type { TokenBudget } from '../core/credential.ts'
import { ServiceError } from '../core/errors.ts'
import { MemoryRequestLimits } from './memory/request-limits.ts'
import { TokenBudgets } from './token-budgets.ts'

it('tells how full the fullest budget of a scope and a period is, while something is asked for under it', () => {
  const clock = new VirtualClock()
  const limits = new MemoryRequestLimits(clock)
  const budgets = new TokenBudgets({ limits, clock, readSpent: async () => 0 })
  const open = (id: string, maxTokens: number) =>
    budgets.open([{ scope: 'key', id, period: 'month', maxTokens }])

  budgets.record(open('full', 100), [90])
  clock.advance(10 * 60_000)
  budgets.record(open('new', 100), [10])
  const both = budgets.use()
  clock.advance(5 * 60_000)

  expect(both).toEqual([{ scope: 'key', period: 'month', spentRatio: 0.9 }])
  expect(budgets.use()).toEqual([{ scope: 'key', period: 'month', spentRatio: 0.1 }])
})

it('tells of a budget no longer than its period runs', () => {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1, 23, 55) / 1000)
  const limits = new MemoryRequestLimits(clock)
  const budgets = new TokenBudgets({ limits, clock, readSpent: async () => 0 })

  budgets.record(budgets.open([{ scope: 'key', id: 'a', period: 'day', maxTokens: 100 }]), [90])
  clock.advance(5 * 60_000 - 1)
  const atItsEnd = budgets.use()
  clock.advance(1)

  expect(atItsEnd).toEqual([{ scope: 'key', period: 'day', spentRatio: 0.9 }])
  expect(budgets.use()).toEqual([])
})

it('opens budgets of the day from its midnight and of the month from its first day, by UTC', () => {
  const clock = new VirtualClock(Date.UTC(2031, 11, 30, 12) / 1000)
  const limits = new MemoryRequestLimits(clock)
  const budgets = new TokenBudgets({ limits, clock, readSpent: async () => 0 })
  const open = budgets.open(
    (['day', 'month'] as const).map((period) => ({ scope: 'key', id: 'a', period, maxTokens: 100 })),
  )
  const timesOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 16)
  const spans = open.map((one) => [timesOf(one.startsAtUnixSeconds), timesOf(one.endsAtUnixSeconds)])
  expect(spans).toEqual([
    ['2031-12-30T00:00', '2031-12-31T00:00'],
    ['2031-12-01T00:00', '2032-01-01T00:00'],
  ])
})

it('reads on without the database only where it is away', async () => {
  const clock = new VirtualClock()
  const limits = new MemoryRequestLimits(clock)
  const errors = [new ServiceError('database_unavailable', { seconds: 1 }), new ServiceError('shutting_down')]
  const readSpent = () => Promise.reject(errors.shift() ?? new Error('read too often'))
  const budgets = new TokenBudgets({ limits, clock, readSpent })
  const open = budgets.open([{ scope: 'key', id: 'a', period: 'day', maxTokens: 100 }])
  const ids = open.map(({ counterId }) => counterId)
  await budgets.restore(open, ids)
  await expect(budgets.restore(open, ids)).rejects.toMatchObject({ code: 'shutting_down' })
})

it('tells that a budget of no tokens is full', () => {
  const clock = new VirtualClock()
  const limits = new MemoryRequestLimits(clock)
  const budgets = new TokenBudgets({ limits, clock, readSpent: async () => 0 })
  budgets.record(budgets.open([{ scope: 'key', id: 'a', period: 'day', maxTokens: 0 }]), [0])
  expect(budgets.use()).toEqual([{ scope: 'key', period: 'day', spentRatio: 1 }])
})

describe('a refusal names the budget that is used up, and of two the one that begins again last', () => {
  const day: TokenBudget = { scope: 'key', id: 'a', period: 'day', maxTokens: 100 }
  const month: TokenBudget = { scope: 'team', id: 'a', period: 'month', maxTokens: 1000 }
  const ofDay = { field: 'daily_token_budget', resetsAt: '2030-01-31T00:00:00Z' }
  const ofMonth = { field: 'monthly_token_budget', resetsAt: '2030-02-01T00:00:00Z' }

  it.each([
    { used: 'the day', given: [day, month], spent: [100, 999], named: ofDay },
    { used: 'the month', given: [day, month], spent: [99, 1000], named: ofMonth },
    { used: 'the day and the month', given: [day, month], spent: [100, 1000], named: ofMonth },
    { used: 'the month and the day', given: [month, day], spent: [1000, 100], named: ofMonth },
  ])('$used', ({ given, spent, named }) => {
    const clock = new VirtualClock(Date.UTC(2030, 0, 30, 12) / 1000)
    const limits = new MemoryRequestLimits(clock)
    const budgets = new TokenBudgets({ limits, clock, readSpent: async () => 0 })

    const refusal = budgets.refusal(budgets.open(given), spent)

    expect(refusal).toMatchObject({
      code: 'budget_exceeded',
      params: named,
      retryAfterSeconds: Date.parse(named.resetsAt) / 1000 - clock.unixSeconds(),
    })
  })
})

it('reads a counter once for all requests that ask for it at a time, and again for the next', async () => {
  const clock = new VirtualClock()
  const limits = new MemoryRequestLimits(clock)
  const away = new ServiceError('database_unavailable', {
    holds: 'usage',
    trouble: 'cannot be reached',
    seconds: 1,
  })
  const readSpent = vi.fn().mockRejectedValueOnce(away).mockResolvedValue(7)
  const budgets = new TokenBudgets({ limits, clock, readSpent })
  const open = budgets.open([
    { scope: 'key', id: 'a', period: 'day', maxTokens: 100 },
    { scope: 'team', id: 'a', period: 'day', maxTokens: 100 },
  ])
  const restoreAtOnce = () =>
    Promise.all(
      [open, open, open.slice(0, 1)].map((asked) =>
        budgets.restore(
          open,
          asked.map(({ counterId }) => counterId),
        ),
      ),
    )

  await restoreAtOnce()
  expect(readSpent).toHaveBeenCalledTimes(2)
  await restoreAtOnce()
  expect(readSpent).toHaveBeenCalledTimes(4)
})
