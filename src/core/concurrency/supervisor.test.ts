import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../clock.ts'
import { Supervisor, type SupervisorOptions } from './supervisor.ts'

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** `starts` says which tries succeed; those behind the list do. */
function createSupervisor(starts: readonly boolean[] = [], onSuspended?: SupervisorOptions['onSuspended']) {
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
    ...(onSuspended !== undefined && { onSuspended }),
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

describe('a supervisor that bounds deaths', () => {
  const createBounded = (starts: readonly boolean[] = []) => {
    const suspensions: string[] = []
    const onSuspended = (how: string, pauseMs: number) => void suspensions.push(`${how}, ${pauseMs}`)
    return { suspensions, ...createSupervisor(starts, onSuspended) }
  }

  it('suspends at the third death within a minute, and tries again after a pause', async () => {
    const { suspensions, supervisor, startedMs, advance, die } = createBounded()
    for (let death = 0; death < 3; death++) await die()
    expect(suspensions).toEqual(['3 times within a minute, 10000'])
    expect([supervisor.isUnavailable, supervisor.retryAfterSeconds]).toEqual([true, 10])

    await advance(9900)
    expect([supervisor.isUnavailable, supervisor.retryAfterSeconds]).toEqual([true, 1])
    await advance(100)
    expect(startedMs).toEqual([0, 0, 10_000])
    expect(supervisor.isUnavailable).toBe(false)
  })

  it('makes pauses that double up to 5 minutes while each life is shorter than a minute', async () => {
    const { suspensions, startedMs, clock, advance, die } = createBounded()
    const pauses = () => suspensions.map((one) => Number(one.split(', ')[1]))
    for (let death = 0; death < 3; death++) await die()
    for (let suspension = 0; suspension < 6; suspension++) {
      await advance(pauses().at(-1) ?? 0)
      clock.advance(59_000)
      await die()
    }
    expect(pauses()).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000])
    expect(suspensions.slice(1)).toEqual(
      pauses()
        .slice(1)
        .map((pause) => `again after a pause, ${pause}`),
    )
    expect(startedMs).toHaveLength(2 + 6)
  })

  it('lengthens the pause for a start that fails too', async () => {
    const { suspensions, startedMs, advance, die } = createBounded([true, true, false, false, true])
    for (let death = 0; death < 3; death++) await die()
    await advance(100_000)
    expect(suspensions).toHaveLength(1)
    expect(startedMs).toEqual([0, 0, 10_000, 30_000, 70_000])
  })

  it('forgets the pauses once it has lived for a minute', async () => {
    const { suspensions, clock, advance, die } = createBounded()
    for (let death = 0; death < 3; death++) await die()
    await advance(10_000)
    await die()
    await advance(20_000)
    clock.advance(60_000)
    for (let death = 0; death < 3; death++) await die()
    expect(suspensions.at(-1)).toBe('3 times within a minute, 10000')
  })

  it('does not where deaths are rarer', async () => {
    const { suspensions, supervisor, startedMs, clock, die } = createBounded()
    for (let death = 0; death < 6; death++) {
      await die()
      clock.advance(30_000)
    }
    expect(startedMs).toHaveLength(6)
    expect(supervisor.isUnavailable).toBe(false)
    expect(suspensions).toEqual([])
  })

  it('ends a pause when it is closed', async () => {
    const { supervisor, startedMs, advance, die } = createBounded()
    for (let death = 0; death < 3; death++) await die()
    await supervisor.close()
    await advance(20_000)
    expect(startedMs).toEqual([0, 0])
  })
})
