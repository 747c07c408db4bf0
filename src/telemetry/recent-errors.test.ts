import { expect, it } from 'vitest'
import { mergeErrors, type RecentError, RecentErrors } from './recent-errors.ts'

const error = (atUnixSeconds: number): RecentError => ({
  ...{ atUnixSeconds, requestId: `request-${atUnixSeconds}`, method: 'GET', route: '/v1/models' },
  ...{ status: 401, code: 'unauthorized' },
})

it('keeps the newest 50 of a process', async () => {
  const errors = new RecentErrors()
  for (let second = 0; second < 70; second++) errors.record(error(second))

  const times = (await errors.list()).map(({ atUnixSeconds }) => atUnixSeconds)

  expect(times).toEqual(Array.from({ length: 50 }, (_, index) => 69 - index))
})

it('lists those of several processes by their time', async () => {
  const merged = mergeErrors([[error(9), error(2)], [], [error(5)]])

  expect(merged.map(({ atUnixSeconds }) => atUnixSeconds)).toEqual([9, 5, 2])
})
