import { expect, it, vi } from 'vitest'
import { VirtualClock } from '../core/clock.ts'
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
