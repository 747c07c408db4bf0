import { expect, it } from 'vitest'
import { createHourTimes, TIMES } from './times.ts'

const at = (time: string) => Date.parse(time) / 1000
const newYork = createHourTimes('America/New_York')

it('writes days as those of UTC, without an hour', () => {
  expect(TIMES.day.mark(at('2026-05-02T00:00:00Z'))).toBe('2 May')
  expect(TIMES.day.full(at('2026-05-02T00:00:00Z'))).toBe('2 May 2026')
})

it("writes hours as the reader's", () => {
  expect(newYork.mark(at('2026-05-02T14:00:00Z'))).toBe('10:00')
  expect(newYork.full(at('2026-05-02T14:00:00Z'))).toBe('2 May 2026, 10:00')
})

it("writes the date at the reader's midnight, and at no other time", () => {
  expect(newYork.mark(at('2026-05-02T04:00:00Z'))).toBe('2 May')
  expect(newYork.mark(at('2026-05-02T00:00:00Z'))).toBe('20:00')
  expect(newYork.mark(at('2026-05-02T04:30:00Z'))).toBe('00:30')
})
