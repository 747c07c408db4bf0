import { describe, expect, it, vi } from 'vitest'
import { createAccountServices } from '../../../test/support/servers/account-services.ts'
import { KeyUses } from './key-uses.ts'

const PLAIN = { name: '', expiresInDays: null, tier: 'free', userId: null } as const

async function setUp() {
  const services = await createAccountServices()
  const { database, clock, keys } = services
  const error = vi.fn()
  const uses = new KeyUses({ database, clock, log: { error } })
  const ids: string[] = []
  for (let made = 0; made < 3; made++) ids.push((await keys.createFor(PLAIN)).record.id)
  const [first = '', second = '', third = ''] = ids
  const stored = async (id: string) => (await keys.get(id)).lastUsedAtUnixSeconds
  return { ...services, uses, error, first, second, third, stored }
}

describe('KeyUses', () => {
  it('knows a use at once and has it in the database after closing', async () => {
    const { uses, clock, first, second, third, stored } = await setUp()
    uses.record(first)
    const earlier = clock.unixSeconds()
    clock.advance(1000)
    uses.record(second)

    expect([uses.latest(first, null), uses.latest(second, 5), uses.latest(third, null)]).toEqual([
      earlier,
      earlier + 1,
      null,
    ])
    expect(await stored(first)).toBeNull()
    await uses.close()
    expect([await stored(first), await stored(second), await stored(third)]).toEqual([
      earlier,
      earlier + 1,
      null,
    ])
  })

  it('never turns a later use of another process back', async () => {
    const { uses, database, clock, first, stored } = await setUp()
    const later = clock.unixSeconds() + 60
    await database.updateTable('api_keys').set({ last_used_at: later }).where('id', '=', first).execute()
    uses.record(first)
    await uses.close()
    expect(await stored(first)).toBe(later)
  })

  it('keeps what a failing database does not take, and writes more keys than one statement holds', async () => {
    const { uses, error, first, stored, clock, database } = await setUp()
    const failing = new Proxy(database, {
      get: () => {
        throw new Error('disk full')
      },
    })
    const unlucky = new KeyUses({ database: failing, clock, log: { error } })
    unlucky.record(first)
    await unlucky.close()
    expect(error).toHaveBeenCalledOnce()
    expect(unlucky.latest(first, null)).toBe(clock.unixSeconds())

    for (let index = 0; index < 250; index++) uses.record(`no-key-${index}`)
    uses.record(first)
    await uses.close()
    expect(await stored(first)).toBe(clock.unixSeconds())
  })
})
