import { expect, it } from 'vitest'
import { systemClock } from './clock.ts'

it('the system clock does not wake at once from a sleep that is longer than a timer can be', async () => {
  const leaving = new AbortController()
  let isAwake = false
  const sleeping = systemClock.sleep(31 * 86_400_000, leaving.signal).then(
    () => (isAwake = true),
    () => {},
  )
  await systemClock.sleep(10, leaving.signal)
  expect(isAwake).toBe(false)
  leaving.abort()
  await sleeping
})
