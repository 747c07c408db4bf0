import { expect, it } from 'vitest'
import { VirtualClock } from '../../core/clock.ts'
import { CircuitBreaker } from './circuit-breaker.ts'

it('opens after three failures in a row, lets one try pass after a pause, and doubles the pause when that fails', () => {
  const clock = new VirtualClock()
  const breaker = new CircuitBreaker(clock)
  breaker.recordFailure()
  breaker.recordFailure()
  breaker.recordSuccess()
  breaker.recordFailure()
  breaker.recordFailure()
  expect(breaker.isClosed).toBe(true)

  breaker.recordFailure()
  expect([breaker.isClosed, breaker.mayPass]).toEqual([false, false])

  clock.advance(1000)
  expect(breaker.mayPass).toBe(true)
  breaker.pass()
  expect(breaker.mayPass).toBe(false)
  breaker.recordFailure()
  clock.advance(1999)
  expect(breaker.mayPass).toBe(false)
  clock.advance(1)
  breaker.pass()
  breaker.cancel()
  expect(breaker.mayPass).toBe(true)

  breaker.recordSuccess()
  expect([breaker.isClosed, breaker.mayPass]).toEqual([true, true])
})
