import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../core/clock.ts'
import { AttemptThrottle } from '../limits/attempt-throttle.ts'
import { MemoryAttemptLimits } from '../limits/memory/attempt-limits.ts'
import { AdminKeys } from './admin-secret.ts'
import { newKeySecret } from './keys/key-secret.ts'

const ADDRESS = '192.0.2.1'

function createCheck(...adminKeys: string[]) {
  const clock = new VirtualClock()
  const keys = new AdminKeys(adminKeys, new AttemptThrottle(new MemoryAttemptLimits(clock)))
  return { clock, keys, check: keys.check }
}

describe('AdminKeys', () => {
  it('knows the admin key', async () => {
    expect(await createCheck('ädmin key').check?.('ädmin key', ADDRESS)).toBe(true)
  })

  it.each(['', 'admin', 'admin-key ', 'Admin-key', 'admin-key-and-more'])('refuses %j', async (secret) => {
    expect(await createCheck('admin-key').check?.(secret, ADDRESS)).toBe(false)
  })

  it('has no admin without a key', () => {
    expect(createCheck().check).toBeNull()
  })

  it('refuses an empty key', () => {
    expect(() => createCheck('')).toThrow('The admin key must not be empty.')
  })

  it('knows each of several, and after they are replaced the new ones alone', async () => {
    const { check, keys } = createCheck('first', 'second')
    const right = async () =>
      await Promise.all(['first', 'second', 'third'].map(async (secret) => await check?.(secret, ADDRESS)))
    expect(await right()).toEqual([true, true, false])

    keys.replace(['second', 'third'])
    expect(await right()).toEqual([false, true, true])
    expect(() => keys.replace(['third', ''])).toThrow('The admin key must not be empty.')
    expect(await right()).toEqual([false, true, true])
  })

  it('takes thirty guesses a minute from an address, and the right key from another', async () => {
    const { clock, check } = createCheck('admin-key')
    for (let turn = 0; turn < 30; turn++) expect(await check?.(`guess-${turn}`, ADDRESS)).toBe(false)

    await expect(check?.('guess-30', ADDRESS)).rejects.toMatchObject({
      code: 'too_many_admin_keys',
      retryAfterSeconds: 60,
    })
    await expect(check?.('admin-key', ADDRESS)).rejects.toMatchObject({ code: 'too_many_admin_keys' })
    expect(await check?.('admin-key', '192.0.2.2')).toBe(true)
    clock.advance(60_000)
    expect(await check?.('admin-key', ADDRESS)).toBe(true)
  })

  it('counts no right key, and no secret that has the form of an API key', async () => {
    const { check } = createCheck('admin-key')

    for (let turn = 0; turn < 40; turn++) {
      expect(await check?.('admin-key', ADDRESS)).toBe(true)
      expect(await check?.(newKeySecret(), ADDRESS)).toBe(false)
    }
    expect(await check?.('guess', ADDRESS)).toBe(false)
  })
})
