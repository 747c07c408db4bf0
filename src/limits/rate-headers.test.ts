import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toGoDuration, toRateHeaders } from './rate-headers.ts'

describe('toRateHeaders', () => {
  it('writes the three headers', () => {
    expect(toRateHeaders({ limit: 60, remaining: 59, resetMs: 60_000 })).toEqual({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '1m0s',
    })
  })
})

describe('toGoDuration', () => {
  it.each([
    [0, '0s'],
    [0.2, '1ms'],
    [12, '12ms'],
    [999.5, '1s'],
    [1000, '1s'],
    [1001, '1.001s'],
    [59_500, '59.5s'],
    [59_999.5, '1m0s'],
    [60_000, '1m0s'],
    [60_000.00000001, '1m0s'],
    [90_250, '1m30.25s'],
  ])('%d ms is %s', (durationMs, duration) => {
    expect(toGoDuration(durationMs)).toBe(duration)
  })

  it('reads back as the duration rounded up to a millisecond, in the grammar of Go', () => {
    const grammar = /^(?:(?<minutes>\d+)m)?(?:(?<seconds>\d+(?:\.\d+)?)s|(?<ms>\d+)ms)$/
    fc.assert(
      fc.property(fc.double({ min: 0, max: 200_000, noNaN: true }), (durationMs) => {
        const { minutes = 0, seconds = 0, ms = 0 } = grammar.exec(toGoDuration(durationMs))?.groups ?? {}
        const parsedMs = Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(ms)
        expect(parsedMs).toBeGreaterThanOrEqual(durationMs - 1e-6)
        expect(parsedMs).toBeLessThan(durationMs + 1)
      }),
    )
  })
})
