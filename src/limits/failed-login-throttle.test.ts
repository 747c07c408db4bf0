import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../core/clock.ts'
import { FailedLoginThrottle, type LoginAttempt } from './failed-login-throttle.ts'
import { WINDOW_MS } from './sliding-window.ts'

function setUp() {
  const clock = new VirtualClock()
  return { clock, throttle: new FailedLoginThrottle(clock) }
}

/** Begins an attempt that must be admitted. */
function begin(throttle: FailedLoginThrottle, email = 'ada@example.com', address = '10.0.0.1'): LoginAttempt {
  const admission = throttle.begin(email, address)
  if (admission.outcome === 'refused') throw admission.error
  return admission.attempt
}

/** As a login: the place is taken, then the password is checked, which takes a while. */
async function login(throttle: FailedLoginThrottle, isRight: boolean): Promise<200 | 401 | 429> {
  const admission = throttle.begin('ada@example.com', '10.0.0.1')
  if (admission.outcome === 'refused') return 429
  await Promise.resolve()
  if (!isRight) return 401
  admission.attempt.succeed()
  return 200
}

describe('FailedLoginThrottle', () => {
  it('gives of eleven wrong passwords at once exactly ten the answer 401 and one 429', async () => {
    const { throttle } = setUp()
    const answers = await Promise.all(Array.from({ length: 11 }, () => login(throttle, false)))
    expect(answers.filter((status) => status === 401)).toHaveLength(10)
    expect(answers.filter((status) => status === 429)).toHaveLength(1)
  })

  it('refuses the right password as well, until the oldest failure is a minute old', async () => {
    const { clock, throttle } = setUp()
    for (let i = 0; i < 10; i++) await login(throttle, false)
    clock.advance(500)
    const refused = throttle.begin('ada@example.com', '10.0.0.1')
    expect(refused).toMatchObject({
      outcome: 'refused',
      error: { code: 'too_many_logins', status: 429, retryAfterSeconds: 60 },
    })
    clock.advance(59_000)
    expect(await login(throttle, true)).toBe(429)
    clock.advance(1000)
    expect(await login(throttle, true)).toBe(200)
  })

  it('never refuses for logins that succeed', async () => {
    const { throttle } = setUp()
    for (let i = 0; i < 200; i++) expect(await login(throttle, true)).toBe(200)
  })

  it('keeps earlier failures counted when a login succeeds', async () => {
    const { throttle } = setUp()
    for (let i = 0; i < 9; i++) await login(throttle, false)
    expect(await login(throttle, true)).toBe(200)
    expect(await login(throttle, false)).toBe(401)
    expect(await login(throttle, false)).toBe(429)
  })

  it('gives a place back once, and only its own', () => {
    const { clock, throttle } = setUp()
    const first = begin(throttle)
    for (let i = 0; i < 9; i++) begin(throttle)
    first.succeed()
    first.succeed()
    begin(throttle)
    expect(throttle.begin('ada@example.com', '10.0.0.1').outcome).toBe('refused')
    clock.advance(WINDOW_MS)
    const late = begin(throttle)
    clock.advance(3 * WINDOW_MS)
    for (let i = 0; i < 10; i++) begin(throttle)
    late.succeed()
    expect(throttle.begin('ada@example.com', '10.0.0.1').outcome).toBe('refused')
  })

  it('counts each pair of e-mail and address for itself', () => {
    const { throttle } = setUp()
    for (let i = 0; i < 10; i++) begin(throttle)
    begin(throttle, 'ada@example.com', '10.0.0.2')
    begin(throttle, 'bob@example.com', '10.0.0.1')
    expect(throttle.begin('ada@example.com', '10.0.0.1').outcome).toBe('refused')
  })

  it('admits 100 failures from one address, whatever their e-mails', () => {
    const { clock, throttle } = setUp()
    for (let i = 0; i < 100; i++) begin(throttle, `user-${i}@example.com`)
    clock.advance(1000)
    const refused = throttle.begin('new@example.com', '10.0.0.1')
    expect(refused).toMatchObject({ error: { code: 'too_many_logins', retryAfterSeconds: 59 } })
    begin(throttle, 'new@example.com', '10.0.0.2')
  })

  it('tells the later time when both limits refuse', () => {
    const { clock, throttle } = setUp()
    for (let i = 0; i < 90; i++) begin(throttle, `user-${i}@example.com`)
    clock.advance(30_000)
    for (let i = 0; i < 10; i++) begin(throttle)
    expect(throttle.begin('ada@example.com', '10.0.0.1')).toMatchObject({ error: { retryAfterSeconds: 60 } })
    expect(throttle.begin('new@example.com', '10.0.0.1')).toMatchObject({ error: { retryAfterSeconds: 30 } })
  })

  it('does not count a refused attempt and remembers nothing of it', () => {
    const { clock, throttle } = setUp()
    for (let i = 0; i < 100; i++) begin(throttle, `user-${i}@example.com`)
    expect(throttle.idCount).toBe(101)
    clock.advance(30_000)
    for (let i = 0; i < 1000; i++) throttle.begin(`other-${i}@example.com`, '10.0.0.1')
    expect(throttle.idCount).toBe(101)
    clock.advance(30_000)
    for (let i = 0; i < 100; i++) begin(throttle, `user-${i}@example.com`)
  })

  it('forgets 100,000 addresses and e-mails that stay away', () => {
    const { clock, throttle } = setUp()
    for (let i = 0; i < 50_000; i++) begin(throttle, `user-${i}@example.com`, `address-${i}`)
    expect(throttle.idCount).toBe(100_000)
    for (let i = 0; i < 2; i++) {
      clock.advance(WINDOW_MS)
      begin(throttle)
    }
    expect(throttle.idCount).toBe(2)
  })
})
