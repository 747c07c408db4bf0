import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../test/support/length-of.ts'
import { secondsUntil, SlidingWindow, WINDOW_MS } from './sliding-windows.ts'

function windowOf(...takenMs: readonly number[]): SlidingWindow {
  const window = new SlidingWindow()
  for (const ms of takenMs) window.add(ms)
  return window
}

describe('SlidingWindow', () => {
  it('frees a place exactly 60,000 ms after it was taken', () => {
    const window = windowOf(1000, 2000)
    expect(window.freeAtMs(2, 60_999.99)).toBe(61_000)
    expect(window.used(60_999.99)).toBe(2)
    expect(window.freeAtMs(2, 61_000)).toBe(61_000)
    expect(window.used(61_000)).toBe(1)
    expect(window.used(62_000)).toBe(0)
  })

  it('keeps its order when it grows behind places that were freed', () => {
    const window = windowOf(0, 1, 2, 3)
    expect(window.used(60_001)).toBe(2)
    for (const ms of [60_001, 60_002, 60_003]) window.add(ms)
    expect(window.freeAtMs(5, 60_001.5)).toBe(60_002)
    expect(window.used(60_003)).toBe(3)
    expect(window.resetMs(60_003)).toBe(60_000)
    window.checkIntegrity(60_003)
  })

  it('has a free place now as long as fewer than the limit are taken', () => {
    expect(windowOf().freeAtMs(1, 5)).toBe(5)
    expect(windowOf(1, 2).freeAtMs(3, 5)).toBe(5)
  })

  it('waits after a lowered limit until enough places have become free', () => {
    const window = windowOf(0, 10, 20, 30)
    expect(window.freeAtMs(4, 50)).toBe(WINDOW_MS)
    expect(window.freeAtMs(2, 50)).toBe(WINDOW_MS + 20)
    expect(window.freeAtMs(1, 50)).toBe(WINDOW_MS + 30)
    expect(window.freeAtMs(5, 50)).toBe(50)
  })

  it('is empty again when its newest place is free', () => {
    const window = windowOf(0, 500)
    expect(window.resetMs(1000)).toBe(59_500)
    expect(window.resetMs(60_499)).toBe(1)
    expect(window.resetMs(60_500)).toBe(0)
  })

  it('absorbs another window in order of time, and counts what both have from one copy once', () => {
    const maker = windowOf(0, 10, 20, 25)
    const made = windowOf(0, 10, 20, 22, 30)

    maker.merge(made, 40)

    expect(maker.used(40)).toBe(6)
    for (const [limit, ms] of [30, 25, 22, 20, 10, 0].entries()) {
      expect(maker.freeAtMs(limit + 1, 40)).toBe(WINDOW_MS + ms)
    }
    maker.checkIntegrity(40)
  })

  it('absorbs no place whose time is over', () => {
    const window = windowOf(0, 50_000)
    window.merge(windowOf(1, 55_000), 60_001)
    expect(window.used(60_001)).toBe(2)
  })

  it('holds as many places as the highest limit allows', () => {
    const window = new SlidingWindow()
    for (let i = 0; i < 1_000_000; i++) window.add(i / 100)
    expect(window.used(10_000)).toBe(1_000_000)
    expect(window.freeAtMs(1_000_000, 10_000)).toBe(WINDOW_MS)
    expect(window.used(WINDOW_MS + 5000)).toBe(499_999)
  })

  it('agrees with a plain list under random takes and waits', () => {
    const operation = fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(20_000) }) },
    )
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
        const window = new SlidingWindow()
        let taken: number[] = []
        let nowMs = 0
        for (const op of operations) {
          if (op.kind === 'take') {
            window.add(nowMs)
            taken.push(nowMs)
          } else nowMs += op.ms
          taken = taken.filter((ms) => ms + WINDOW_MS > nowMs)
          window.checkIntegrity(nowMs)
          expect(window.used(nowMs)).toBe(taken.length)
          expect(window.resetMs(nowMs)).toBe((taken.at(-1) ?? nowMs - WINDOW_MS) + WINDOW_MS - nowMs)
          for (let limit = 1; limit <= taken.length; limit++) {
            expect(window.freeAtMs(limit, nowMs)).toBe((taken.at(-limit) ?? 0) + WINDOW_MS)
          }
        }
      }),
    )
  })
})

describe('secondsUntil', () => {
  it.each([
    [60_000, 0, 60],
    [60_000, 59_999.9, 1],
    [60_000, 59_000, 1],
    [60_000, 58_999.9, 2],
  ])('from %d, at %d, says %d', (momentMs, nowMs, seconds) => {
    expect(secondsUntil(momentMs, nowMs)).toBe(seconds)
  })

  it('is never early, whatever floating point makes of the moments', () => {
    const ms = fc.double({ min: 0, max: 1e11, noNaN: true })
    fc.assert(
      fc.property(ms, fc.double({ min: 0, max: WINDOW_MS, noNaN: true }), (takenMs, waitedMs) => {
        const nowMs = takenMs + waitedMs
        const momentMs = takenMs + WINDOW_MS
        fc.pre(momentMs > nowMs)
        const seconds = secondsUntil(momentMs, nowMs)
        expect(nowMs + seconds * 1000).toBeGreaterThanOrEqual(momentMs)
        expect(nowMs + (seconds - 1) * 1000).toBeLessThanOrEqual(momentMs)
      }),
      { numRuns: lengthOf({ test: 2000, soak: 40_000 }) },
    )
  })
})
