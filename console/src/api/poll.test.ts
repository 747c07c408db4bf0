import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { poll } from './poll.ts'

const page = { hidden: false }
let asked: number
let end: () => void

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  vi.stubGlobal('document', page)
  page.hidden = false
  asked = 0
  end = poll(() => void asked++)
})

afterEach(() => {
  end()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

it('asks less and less often, but every ten seconds at least', async () => {
  await vi.advanceTimersByTimeAsync(1500)
  expect(asked).toBe(1)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toBeLessThan(12)
  const before = asked
  await vi.advanceTimersByTimeAsync(100_000)
  expect(asked - before).toBe(10)
})

it('asks nothing while the page is hidden, nor after its end', async () => {
  page.hidden = true
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toBe(0)
  page.hidden = false
  await vi.advanceTimersByTimeAsync(1500)
  expect(asked).toBe(1)
  end()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toBe(1)
})
