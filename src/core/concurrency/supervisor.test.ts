import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../clock.ts'
import { Supervisor, type GiveUpOptions } from './supervisor.ts'

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** `starts` says which tries succeed; those behind the list do. */
function createSupervisor(starts: readonly boolean[] = [], giveUp?: GiveUpOptions) {
  const clock = new VirtualClock()
  const startedMs: number[] = []
  const failures: unknown[] = []
  const supervisor = new Supervisor({
    clock,
    start: async () => {
      startedMs.push(clock.nowMs())
      if (starts[startedMs.length - 1] === false) throw new Error(`try ${startedMs.length}`)
    },
    onFailedStart: (error) => void failures.push(error),
    ...(giveUp !== undefined && { giveUp }),
  })
  /** In steps, so that every pause that ends is followed by its try. */
  const advance = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 100) {
      clock.advance(Math.min(100, left))
      await settle()
    }
  }
  const die = async (): Promise<void> => {
    supervisor.restart()
    await settle()
  }
  return { supervisor, clock, startedMs, failures, advance, die }
}

describe('a supervisor', () => {
  it('starts again at once, then with pauses that grow to 10 s', async () => {
    const { startedMs, advance, die } = createSupervisor(Array.from({ length: 10 }, () => false))
    await die()
    await advance(40_000)
    expect(startedMs).toEqual([0, 100, 300, 700, 1500, 3100, 6300, 12_700, 22_700, 32_700])
  })

  it('is unavailable from the third failed start in a row until one succeeds', async () => {
    const { supervisor, failures, advance, die } = createSupervisor([false, false, false, true])
    await die()
    await advance(200)
    expect(supervisor.isUnavailable).toBe(false)
    await advance(100)
    expect(supervisor.isUnavailable).toBe(true)
    expect(failures).toHaveLength(3)
    await advance(400)
    expect(supervisor.isUnavailable).toBe(false)
  })

  it('starts again however often it dies where nothing else is asked for', async () => {
    const { supervisor, startedMs, die } = createSupervisor()
    for (let death = 0; death < 10; death++) await die()
    expect(startedMs).toHaveLength(10)
    expect(supervisor.isUnavailable).toBe(false)
  })

  it('ends its tries when it is closed', async () => {
    const { supervisor, startedMs, advance, die } = createSupervisor([false])
    await die()
    await supervisor.close()
    await advance(1000)
    await die()
    expect(startedMs).toEqual([0])
  })
})

describe('a supervisor that may give up', () => {
  it('does so at the third death within a minute, and tries again after a pause where it may', async () => {
    const given: string[] = []
    const answers = [false, true]
    const { supervisor, startedMs, clock, advance, die } = createSupervisor([], {
      onGivenUp: (how, pauseMs) => void given.push(`${how}, ${pauseMs}`),
      mayTryAgain: () => answers.shift() ?? false,
      longPauseMs: 1000,
    })
    for (let death = 0; death < 3; death++) await die()
    expect(given).toEqual(['3 times within a minute, 1000'])
    expect(supervisor.isUnavailable).toBe(true)

    await advance(2000)
    expect(startedMs).toEqual([0, 0, 2000])
    expect(supervisor.isUnavailable).toBe(false)

    clock.advance(59_000)
    await die()
    expect(given.at(-1)).toBe('again after a pause, 1000')
    expect(supervisor.isUnavailable).toBe(true)
  })

  it('does not where deaths are rarer', async () => {
    const { supervisor, startedMs, clock, die } = createSupervisor([], {
      onGivenUp: () => {},
      mayTryAgain: () => false,
    })
    for (let death = 0; death < 6; death++) {
      await die()
      clock.advance(30_000)
    }
    expect(startedMs).toHaveLength(6)
    expect(supervisor.isUnavailable).toBe(false)
  })
})
