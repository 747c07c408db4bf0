/** Limits that another process keeps: its answers come later, and nothing passes meanwhile that would not pass otherwise. */
import { describe, expect, it } from 'vitest'
import { AddressLimiter } from '../../../src/limits/address-limiter.ts'
import { VirtualClock } from '../../../src/core/clock.ts'
import { openSocket, postBytes } from '../../support/net/raw-http.ts'
import { createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'
import { distantPart } from '../../support/servers/distant-state.ts'
import { openTestedState } from '../../support/servers/tested-state.ts'

const PROMPT = { prompt: 'abc', max_new_tokens: 1 }

describe('limits that another process keeps', () => {
  it('let exactly as many of many requests at once pass as the limit says', async () => {
    const world = await createAccountsApp({ isDistant: true })
    const { key } = await world.register()

    const answers = await Promise.all(Array.from({ length: 80 }, () => world.as(key, 'GET', '/v1/usage')))

    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(60)
    const refused = answers.filter(({ statusCode }) => statusCode === 429)
    expect(refused).toHaveLength(20)
    expect(refused[0]?.headers).toMatchObject({ 'retry-after': '60', 'x-ratelimit-remaining-requests': '0' })
  })

  it('get every permit back, also of clients that leave while theirs is under way', async () => {
    const world = await createAccountsApp({ isDistant: true })
    const { key } = await world.register()
    const port = await world.listen()

    for (let turn = 0; turn < 20; turn++) {
      const socket = await openSocket(port)
      socket.write(postBytes('/v1/generate', PROMPT, key))
      if (turn % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
      socket.destroy()
    }

    await expect.poll(async () => (await world.as(key, 'POST', '/v1/generate', PROMPT)).statusCode).toBe(200)
    world.shared.checkIntegrity()
  })

  it('give a new key the window of the key that made it, and of those that were revoked', async () => {
    const world = await createAccountsApp({ isDistant: true })
    const { key } = await world.register()
    const create = async () => {
      world.clock.advance(1)
      const made = await world.as(key, 'POST', '/v1/keys', { name: 'more' })
      world.clock.advance(1)
      return made.json<{ key: string; id: string }>()
    }
    const remainingOf = async (secret: string) =>
      (await world.as(secret, 'GET', '/v1/usage')).headers['x-ratelimit-remaining-requests']

    const second = await create()
    expect(await remainingOf(second.key)).toBe('58')
    world.clock.advance(1)
    expect((await world.as(key, 'DELETE', `/v1/keys/${second.id}`)).statusCode).toBe(200)
    const third = await create()

    // Two creations and a revocation by the first key, the request of the second, and its own.
    expect(await remainingOf(third.key)).toBe('55')
  })

  it('check of fifteen wrong passwords at once exactly ten', async () => {
    const world = await createAccountsApp({ isDistant: true })
    await world.register('ann@example.org')

    const login = () =>
      world.app.inject({
        method: 'POST',
        url: '/v1/auth/login',
        payload: { email: 'ann@example.org', password: `not ${PASSWORD}` },
      })
    const answers = await Promise.all(Array.from({ length: 15 }, login))

    expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(10)
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(5)
  })

  it('count the addresses', async () => {
    const state = await openTestedState(new VirtualClock())
    const addressLimiter = new AddressLimiter({ requestsPerMinute: 3, limits: distantPart(state.requests) })
    const world = await createAccountsApp({ addressLimiter })
    const { key } = await world.register()

    const answers = await Promise.all(Array.from({ length: 5 }, () => world.as(key, 'GET', '/v1/usage')))

    expect(answers.map(({ statusCode }) => statusCode).toSorted((one, other) => one - other)).toEqual([
      200, 200, 429, 429, 429,
    ])
    expect(await state.countWindows()).toBe(1)
  })
})
