import { describe, expect, it } from 'vitest'
import { openTestedState } from '../../test/support/servers/tested-state.ts'
import { VirtualClock } from '../core/clock.ts'
import { AddressLimiter } from './address-limiter.ts'
import { WINDOW_MS } from './memory/sliding-windows.ts'

async function setUp(requestsPerMinute: number) {
  const clock = new VirtualClock()
  const { requests: limits } = await openTestedState(clock)
  return { clock, limiter: new AddressLimiter({ requestsPerMinute, limits }) }
}

describe('AddressLimiter', () => {
  it('admits its number from each address within a minute', async () => {
    const { clock, limiter } = await setUp(3)
    const answers = await Promise.all(Array.from({ length: 5 }, async () => limiter.refuse('10.0.0.1')))
    const outcomes = answers.map((error) => error === null)
    expect(outcomes).toEqual([true, true, true, false, false])
    expect(await limiter.refuse('10.0.0.2')).toBeNull()
    clock.advance(WINDOW_MS)
    expect(await limiter.refuse('10.0.0.1')).toBeNull()
  })

  it('says in its refusal what the limit is and when to come back', async () => {
    const { clock, limiter } = await setUp(1)
    await limiter.refuse('10.0.0.1')
    clock.advance(12_300)
    const refused = await limiter.refuse('10.0.0.1')
    expect(refused).toMatchObject({
      code: 'address_rate_limit_exceeded',
      status: 429,
      message: 'The rate limit of 1 requests per minute from one address is reached; try again in 48 s.',
      retryAfterSeconds: 48,
    })
    clock.advance(47_000)
    expect(await limiter.refuse('10.0.0.1')).not.toBeNull()
    clock.advance(1000)
    expect(await limiter.refuse('10.0.0.1')).toBeNull()
  })
})
