import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WINDOW_MS } from './sliding-windows.ts'
import { SlidingWindows } from './sliding-windows.ts'

describe('SlidingWindows', () => {
  it('counts each id for itself', () => {
    const windows = new SlidingWindows()
    windows.open('a', 0).add(0)
    windows.open('a', 1).add(1)
    windows.open('b', 2).add(2)
    expect(windows.open('a', 3).used(3)).toBe(2)
    expect(windows.open('b', 3).used(3)).toBe(1)
  })

  it('finds nothing for an id that has taken no place, and begins nothing for it', () => {
    const windows = new SlidingWindows()
    expect(windows.find('a', 0)).toBeNull()
    expect(windows.size).toBe(0)
  })

  it('forgets 100,000 idle ids two windows later, while an id that goes on is kept', () => {
    const windows = new SlidingWindows()
    for (let i = 0; i < 100_000; i++) windows.open(`idle-${i}`, 0).add(0)
    windows.open('going-on', 0).add(0)
    expect(windows.size).toBe(100_001)
    for (let nowMs = 0; nowMs <= 2 * WINDOW_MS; nowMs += 30_000) windows.open('going-on', nowMs).add(nowMs)
    expect(windows.size).toBe(1)
    expect(windows.find('going-on', 2 * WINDOW_MS)?.used(2 * WINDOW_MS)).toBe(2)
  })

  it('forgets at once what it is told to, of this window and of the one before', () => {
    const windows = new SlidingWindows()
    windows.open('before', 0).add(0)
    windows.open('kept', WINDOW_MS).add(WINDOW_MS)
    windows.open('now', WINDOW_MS).add(WINDOW_MS)
    for (const id of ['before', 'now', 'unknown']) windows.forget(id)
    expect(windows.size).toBe(1)
    expect(windows.find('kept', WINDOW_MS)?.used(WINDOW_MS)).toBe(1)
  })

  it('absorbs the places of another window, which then go their own ways', () => {
    const windows = new SlidingWindows()
    windows.open('maker', 0).add(0)
    windows.open('maker', 10_000).add(10_000)
    windows.merge({ fromId: 'maker', toId: 'made' }, 20_000)
    windows.open('made', 20_000).add(20_000)
    expect(windows.find('made', 30_000)?.used(30_000)).toBe(3)
    expect(windows.find('maker', 30_000)?.used(30_000)).toBe(2)
    expect(windows.find('made', WINDOW_MS)?.used(WINDOW_MS)).toBe(2)
    windows.checkIntegrity(WINDOW_MS)
  })

  it('begins no window by absorbing one that does not exist', () => {
    const windows = new SlidingWindows()
    windows.merge({ fromId: 'unknown', toId: 'made' }, 0)
    expect(windows.size).toBe(0)
  })

  it('never forgets a place whose time is not over, however the ids come and go', () => {
    const arrivals = fc.array(fc.record({ id: fc.constantFrom('a', 'b', 'c'), afterMs: fc.nat(70_000) }), {
      maxLength: 100,
    })
    fc.assert(
      fc.property(arrivals, (arrivals) => {
        const windows = new SlidingWindows()
        const taken: { id: string; ms: number }[] = []
        let nowMs = 0
        for (const { id, afterMs } of arrivals) {
          nowMs += afterMs
          windows.open(id, nowMs).add(nowMs)
          taken.push({ id, ms: nowMs })
          windows.checkIntegrity(nowMs)
          const live = taken.filter((one) => one.id === id && one.ms + WINDOW_MS > nowMs)
          expect(windows.find(id, nowMs)?.used(nowMs)).toBe(live.length)
        }
      }),
    )
  })
})
