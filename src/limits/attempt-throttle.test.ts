import { describe, expect, it } from 'vitest'
import { openTestedState } from '../../test/support/servers/tested-state.ts'
import { VirtualClock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { AttemptThrottle } from './attempt-throttle.ts'
import { WINDOW_MS } from './memory/sliding-windows.ts'

const ADA = { emailKey: 'ada@example.com', addressKey: '10.0.0.1' }

async function setUp() {
  const clock = new VirtualClock()
  const state = await openTestedState(clock)
  const throttle = new AttemptThrottle(state.attempts)
  const login = async (isRight: boolean, subject = ADA): Promise<200 | ServiceError | 401> => {
    try {
      return (await throttle.login(subject, async () => isRight)) ? 200 : 401
    } catch (error) {
      if (error instanceof ServiceError) return error
      throw error
    }
  }
  const fail = async (count: number, subject?: (turn: number) => typeof ADA) => {
    for (let turn = 0; turn < count; turn++) expect(await login(false, subject?.(turn) ?? ADA)).toBe(401)
  }
  return { clock, state, throttle, login, fail }
}

const refused = (retryAfterSeconds: number): unknown =>
  expect.objectContaining({ code: 'too_many_logins', status: 429, retryAfterSeconds })

describe('AttemptThrottle', () => {
  it('gives of fifteen wrong passwords at once exactly ten the answer 401', async () => {
    const { login } = await setUp()

    const answers = await Promise.all(Array.from({ length: 15 }, () => login(false)))

    expect(answers.filter((answer) => answer === 401)).toHaveLength(10)
    expect(answers.filter((answer) => answer instanceof ServiceError)).toHaveLength(5)
  })

  it('admits 100 logins a minute from one address, right or wrong, and refuses the others', async () => {
    const { clock, login } = await setUp()

    const answers = await Promise.all(Array.from({ length: 110 }, () => login(true)))

    expect(answers.filter((answer) => answer === 200)).toHaveLength(100)
    expect(answers.slice(100)).toEqual(Array.from({ length: 10 }, () => refused(60)))
    expect(await login(true, { ...ADA, addressKey: '10.0.0.2' })).toBe(200)
    clock.advance(WINDOW_MS)
    expect(await login(true)).toBe(200)
  })

  it('refuses who would wait behind too many, for a second', async () => {
    const { login } = await setUp()

    const answers = await Promise.all(Array.from({ length: 200 }, () => login(true)))

    expect(answers.filter((answer) => answer === 200)).toHaveLength(100)
    expect(answers.at(-1)).toMatchObject({ code: 'password_queue_full', retryAfterSeconds: 1 })
  })

  it('checks no more passwords at once than may fail', async () => {
    const { throttle } = await setUp()
    const ends: (() => void)[] = []
    const answers = Array.from({ length: 25 }, () =>
      throttle.login(ADA, () => new Promise((resolve) => ends.push(() => resolve(true)))),
    )

    await expect.poll(() => ends).toHaveLength(10)
    await settled()
    expect(ends).toHaveLength(10)
    ends[3]?.()
    await expect.poll(() => ends).toHaveLength(11)
    await settled()
    expect(ends).toHaveLength(11)
    for (let turn = 0; turn < 25; turn++) {
      await expect.poll(() => ends.length).toBeGreaterThan(turn)
      ends[turn]?.()
    }

    expect(await Promise.all(answers)).toEqual(Array.from({ length: 25 }, () => true))
  })

  it('refuses the right password as well, until the oldest failure is a minute old', async () => {
    const { clock, login, fail } = await setUp()
    await fail(10)
    clock.advance(500)

    expect(await login(true)).toEqual(refused(60))
    clock.advance(59_000)
    expect(await login(true)).toEqual(refused(1))
    clock.advance(1000)
    expect(await login(true)).toBe(200)
  })

  it('keeps failures counted when a login succeeds between them', async () => {
    const { login, fail } = await setUp()
    await fail(9)
    expect(await login(true)).toBe(200)
    await fail(1)

    expect(await login(false)).toEqual(refused(60))
  })

  it('does not count an attempt that breaks, and lets the next one in', async () => {
    const { throttle, login, fail } = await setUp()
    await fail(9)
    const broken = Array.from({ length: 20 }, () =>
      throttle.login(ADA, () => Promise.reject(new Error('the disk is full'))),
    )

    await Promise.all(broken.map((attempt) => expect(attempt).rejects.toThrow('the disk is full')))
    expect(await login(true)).toBe(200)
  })

  it('counts each pair of e-mail and address for itself', async () => {
    const { login, fail } = await setUp()
    await fail(10)

    expect(await login(false, { ...ADA, addressKey: '10.0.0.2' })).toBe(401)
    expect(await login(false, { ...ADA, emailKey: 'bob@example.com' })).toBe(401)
    expect(await login(false)).toEqual(refused(60))
  })

  it('admits 100 failures from one address, whatever their e-mails', async () => {
    const { clock, login, fail } = await setUp()
    await fail(100, (turn) => ({ ...ADA, emailKey: `user-${turn}@example.com` }))
    clock.advance(1000)

    expect(await login(true, { ...ADA, emailKey: 'new@example.com' })).toEqual(refused(59))
    expect(await login(true, { emailKey: 'new@example.com', addressKey: '10.0.0.2' })).toBe(200)
  })

  it('tells the later time when both limits refuse', async () => {
    const { clock, login, fail } = await setUp()
    await fail(90, (turn) => ({ ...ADA, emailKey: `user-${turn}@example.com` }))
    clock.advance(30_000)
    await fail(10)

    expect(await login(true)).toEqual(refused(60))
    expect(await login(true, { ...ADA, emailKey: 'new@example.com' })).toEqual(refused(30))
  })

  it('does not count a refused attempt and remembers nothing of it', async () => {
    const { clock, state, login, fail } = await setUp()
    await fail(100, (turn) => ({ ...ADA, emailKey: `user-${turn}@example.com` }))
    expect(await state.countWindows()).toBe(101)
    clock.advance(30_000)
    for (let turn = 0; turn < 1000; turn++)
      await login(false, { ...ADA, emailKey: `other-${turn}@example.com` })

    expect(await state.countWindows()).toBe(101)
    clock.advance(30_000)
    await fail(100, (turn) => ({ ...ADA, emailKey: `user-${turn}@example.com` }))
  })

  it('counts 30 wrong admin keys of an address, and no right one', async () => {
    const { throttle } = await setUp()
    const check = (isRight: boolean) => throttle.adminKey(ADA.addressKey, () => isRight)
    for (let turn = 0; turn < 31; turn++) expect(await check(true)).toBe(true)
    for (let turn = 0; turn < 30; turn++) expect(await check(false)).toBe(false)
    await expect(check(true)).rejects.toMatchObject({ code: 'too_many_admin_keys', retryAfterSeconds: 60 })
    expect(await throttle.adminKey('10.0.0.2', () => true)).toBe(true)
  })

  it('admits 100 registrations a minute from one address, and counts no login with them', async () => {
    const { clock, throttle, login } = await setUp()
    for (let turn = 0; turn < 100; turn++) await throttle.registration(ADA.addressKey)

    await expect(throttle.registration(ADA.addressKey)).rejects.toMatchObject({
      code: 'too_many_registrations',
      status: 429,
      retryAfterSeconds: 60,
    })
    expect(await login(true)).toBe(200)
    await throttle.registration('10.0.0.2')
    clock.advance(WINDOW_MS)
    await throttle.registration(ADA.addressKey)
  })
})

/** Everything that could go on has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
