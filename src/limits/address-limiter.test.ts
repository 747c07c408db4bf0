import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../core/clock.ts'
import { AddressLimiter } from './address-limiter.ts'
import { WINDOW_MS } from './sliding-window.ts'

function setUp(requestsPerMinute: number) {
  const clock = new VirtualClock()
  return { clock, limiter: new AddressLimiter({ requestsPerMinute, clock }) }
}

describe('AddressLimiter', () => {
  it('admits its number from each address within a minute', () => {
    const { clock, limiter } = setUp(3)
    const outcomes = Array.from({ length: 5 }, () => limiter.admit('10.0.0.1').outcome)
    expect(outcomes).toEqual(['admitted', 'admitted', 'admitted', 'refused', 'refused'])
    expect(limiter.admit('10.0.0.2').outcome).toBe('admitted')
    clock.advance(WINDOW_MS)
    expect(limiter.admit('10.0.0.1').outcome).toBe('admitted')
  })

  it('says in its refusal what the limit is and when to come back', () => {
    const { clock, limiter } = setUp(1)
    limiter.admit('10.0.0.1')
    clock.advance(12_300)
    const refused = limiter.admit('10.0.0.1')
    expect(refused).toMatchObject({
      error: {
        code: 'address_rate_limit_exceeded',
        status: 429,
        message: 'The rate limit of 1 requests per minute from one address is reached; try again in 48 s.',
        retryAfterSeconds: 48,
      },
    })
    clock.advance(47_000)
    expect(limiter.admit('10.0.0.1').outcome).toBe('refused')
    clock.advance(1000)
    expect(limiter.admit('10.0.0.1').outcome).toBe('admitted')
  })

  it('forgets 100,000 addresses that stay away', () => {
    const { clock, limiter } = setUp(10)
    for (let i = 0; i < 100_000; i++) limiter.admit(`address-${i}`)
    expect(limiter.idCount).toBe(100_000)
    for (let i = 0; i < 2; i++) {
      clock.advance(WINDOW_MS)
      limiter.admit('10.0.0.1')
    }
    expect(limiter.idCount).toBe(1)
  })
})
