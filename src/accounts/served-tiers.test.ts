import { describe, expect, it } from 'vitest'
import { createAccountServices } from '../../test/support/servers/account-services.ts'
import { VirtualClock } from '../core/clock.ts'
import type { Tier } from '../core/tiers.ts'
import { updateUser } from '../storage/users-repository.ts'
import { findServedTiers } from './account-tier.ts'
import { ServedTiers } from './served-tiers.ts'

describe('findServedTiers', () => {
  it('finds the tiers of active keys, until they are revoked or expire', async () => {
    const { database, keys, clock } = await createAccountServices()
    const served = () => findServedTiers(database, clock.unixSeconds())
    const create = (tier: Tier, expiresInDays: number | null) =>
      keys.createFor({ name: '', tier, expiresInDays, userId: null })
    await create('free', null)
    expect(await served()).toEqual([])
    await create('pro', 1)
    const { record } = await create('enterprise', null)
    expect(await served()).toEqual(['pro', 'enterprise'])
    await keys.revokeAny(record.id)
    expect(await served()).toEqual(['pro'])
    clock.advance(24 * 60 * 60 * 1000)
    expect(await served()).toEqual([])
  })

  it('finds the tiers of accounts that are not disabled: they can log in without a key', async () => {
    const { database, registered, clock } = await createAccountServices()
    const { userId } = await registered('ada@example.org', 'pro')
    expect(await findServedTiers(database, clock.unixSeconds())).toEqual(['pro'])
    await updateUser(database, userId, { disabledAtUnixSeconds: 1 })
    expect(await findServedTiers(database, clock.unixSeconds())).toEqual([])
  })
})

describe('ServedTiers', () => {
  it('knows the tiers once it is open, and reads them again while it is asked', async () => {
    const clock = new VirtualClock()
    const served = new ServedTiers(clock)
    let tiers: readonly Tier[] = ['enterprise']
    let readings = 0
    expect(served.priorityClasses()).toEqual([])
    await served.open(async () => {
      readings++
      return tiers
    })
    expect(served.priorityClasses()).toEqual([2])
    tiers = ['pro', 'enterprise']
    clock.advance(1999)
    served.priorityClasses()
    expect(readings).toBe(1)
    clock.advance(1)
    served.priorityClasses()
    served.priorityClasses()
    expect(readings).toBe(2)
    await Promise.resolve()
    expect(served.priorityClasses()).toEqual([1, 2])
  })

  it('keeps what it knows where it cannot be read again', async () => {
    const clock = new VirtualClock()
    const served = new ServedTiers(clock)
    let fails = false
    await served.open(async () => {
      if (fails) throw new Error('the disk is gone')
      return ['pro']
    })
    fails = true
    clock.advance(2000)
    served.priorityClasses()
    await Promise.resolve()
    expect(served.priorityClasses()).toEqual([1])
  })
})
