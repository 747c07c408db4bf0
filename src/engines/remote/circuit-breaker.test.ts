import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../core/clock.ts'
import { CircuitBreaker } from './circuit-breaker.ts'

it('opens after three failures in a row, lets one try pass after a pause, and doubles the pause when that fails', () => {
  const clock = new VirtualClock()
  const breaker = new CircuitBreaker(clock)
  breaker.recordFailure({ isAway: false })
  breaker.recordFailure({ isAway: false })
  breaker.recordSuccess()
  breaker.recordFailure({ isAway: false })
  breaker.recordFailure({ isAway: false })
  expect(breaker.isClosed).toBe(true)

  breaker.recordFailure({ isAway: false })
  expect([breaker.isClosed, breaker.mayPass]).toEqual([false, false])

  clock.advance(1000)
  expect(breaker.mayPass).toBe(true)
  breaker.pass()
  expect(breaker.mayPass).toBe(false)
  breaker.recordFailure({ isAway: false })
  clock.advance(1999)
  expect(breaker.mayPass).toBe(false)
  clock.advance(1)
  breaker.pass()
  breaker.cancel()
  expect(breaker.mayPass).toBe(true)

  breaker.recordSuccess()
  expect([breaker.isClosed, breaker.mayPass]).toEqual([true, true])
})

describe('a probe that is answered', () => {
  const openBreaker = (...absences: readonly boolean[]) => {
    const clock = new VirtualClock()
    const breaker = new CircuitBreaker(clock)
    for (const isAway of absences) breaker.recordFailure({ isAway })
    return { clock, breaker }
  }

  it('ends what probes and connections had found', () => {
    const { breaker } = openBreaker(true, true, true)
    expect(breaker.mayPass).toBe(false)

    breaker.recordPresence({ isBack: false })
    expect(breaker.isClosed).toBe(true)
  })

  it('forgets no failure of a request, and shortens the pause where the endpoint is back', () => {
    const { clock, breaker } = openBreaker(false, true)
    breaker.recordPresence({ isBack: true })
    breaker.recordFailure({ isAway: true })
    breaker.recordPresence({ isBack: false })
    expect([breaker.isClosed, breaker.mayPass]).toEqual([false, false])

    breaker.recordPresence({ isBack: true })
    expect([breaker.isClosed, breaker.mayPass]).toEqual([false, true])

    breaker.pass()
    breaker.recordFailure({ isAway: false })
    clock.advance(1999)
    expect(breaker.mayPass).toBe(false)
  })

  it('counts failures of a new kind once a request has succeeded', () => {
    const { breaker } = openBreaker(false, false, false)
    breaker.recordSuccess()
    for (let count = 0; count < 3; count++) breaker.recordFailure({ isAway: true })

    breaker.recordPresence({ isBack: false })
    expect(breaker.isClosed).toBe(true)
  })
})
