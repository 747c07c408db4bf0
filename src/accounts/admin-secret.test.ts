import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../core/clock.ts'
import { AttemptThrottle } from '../limits/attempt-throttle.ts'
import { MemoryAttemptLimits } from '../limits/memory/attempt-limits.ts'
import { createAdminCheck } from './admin-secret.ts'
import { newKeySecret } from './keys/key-secret.ts'

const ADDRESS = '192.0.2.1'

function createCheck(adminKey: string | null) {
  const clock = new VirtualClock()
  return { clock, check: createAdminCheck(adminKey, new AttemptThrottle(new MemoryAttemptLimits(clock))) }
}

describe('createAdminCheck', () => {
  it('knows the admin key', async () => {
    expect(await createCheck('ädmin key').check?.('ädmin key', ADDRESS)).toBe(true)
  })

  it.each(['', 'admin', 'admin-key ', 'Admin-key', 'admin-key-and-more'])('refuses %j', async (secret) => {
    expect(await createCheck('admin-key').check?.(secret, ADDRESS)).toBe(false)
  })

  it('has no admin without a key', () => {
    expect(createCheck(null).check).toBeNull()
  })

  it('refuses an empty key', () => {
    expect(() => createCheck('')).toThrow('The admin key must not be empty.')
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
