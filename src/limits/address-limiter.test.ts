import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../core/clock.ts'
import { AddressLimiter } from './address-limiter.ts'
import { MemoryRequestLimits } from './memory/request-limits.ts'
import { WINDOW_MS } from './memory/sliding-windows.ts'

function setUp(requestsPerMinute: number) {
  const clock = new VirtualClock()
  const limits = new MemoryRequestLimits(clock)
  return { clock, limits, limiter: new AddressLimiter({ requestsPerMinute, limits }) }
}

describe('AddressLimiter', () => {
  it('admits its number from each address within a minute', () => {
    const { clock, limiter } = setUp(3)
    const outcomes = Array.from({ length: 5 }, () => limiter.refuse('10.0.0.1') === null)
    expect(outcomes).toEqual([true, true, true, false, false])
    expect(limiter.refuse('10.0.0.2')).toBeNull()
    clock.advance(WINDOW_MS)
    expect(limiter.refuse('10.0.0.1')).toBeNull()
  })

  it('says in its refusal what the limit is and when to come back', () => {
    const { clock, limiter } = setUp(1)
    void limiter.refuse('10.0.0.1')
    clock.advance(12_300)
    const refused = limiter.refuse('10.0.0.1')
    expect(refused).toMatchObject({
      code: 'address_rate_limit_exceeded',
      status: 429,
      message: 'The rate limit of 1 requests per minute from one address is reached; try again in 48 s.',
      retryAfterSeconds: 48,
    })
    clock.advance(47_000)
    expect(limiter.refuse('10.0.0.1')).not.toBeNull()
    clock.advance(1000)
    expect(limiter.refuse('10.0.0.1')).toBeNull()
  })

  it('forgets 100,000 addresses that stay away', () => {
    const { clock, limits, limiter } = setUp(10)
    for (let i = 0; i < 100_000; i++) void limiter.refuse(`address-${i}`)
    expect(limits.idCount).toBe(100_000)
    for (let i = 0; i < 2; i++) {
      clock.advance(WINDOW_MS)
      void limiter.refuse('10.0.0.1')
    }
    expect(limits.idCount).toBe(1)
  })
})
