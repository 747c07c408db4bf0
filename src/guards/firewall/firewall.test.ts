import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../core/clock.ts'
import type { Ban } from '../../core/shared-state.ts'
import { MAX_OFFENCES, MemoryBans } from '../../limits/memory/bans.ts'
import { Firewall } from './firewall.ts'

const PROPER = { target: '/v1/health', rawHeaders: ['host', 'x'] }
const SCAN = { target: '/.env', rawHeaders: ['host', 'x'] }

function createFirewall({ isExempt = () => false }: { isExempt?: (address: string) => boolean } = {}) {
  const hits: string[] = []
  const bans: Ban[] = []
  const firewall = new Firewall({
    bans: new MemoryBans(new VirtualClock()),
    toKey: (address) => `key of ${address}`,
    isExempt,
    onHit: (rule) => hits.push(rule),
    onBan: (ban) => bans.push(ban),
  })
  const ban = async (address: string): Promise<void> => {
    for (let offence = 0; offence < MAX_OFFENCES; offence++)
      await firewall.recordAnswer(address, 404, 'not_found')
  }
  return { firewall, hits, bans, ban }
}

describe('the firewall', () => {
  it('admits a proper request, and names the rule that another one breaks', async () => {
    const { firewall, hits } = createFirewall()

    expect(await firewall.judge({ address: 'a', ...PROPER })).toBeNull()
    expect(await firewall.judge({ address: 'a', ...SCAN })).toMatchObject({
      rule: 'scanner-path',
      error: { code: 'firewall_rejected' },
    })
    expect(hits).toEqual(['scanner-path'])
  })

  it('says when a ban begins, and does not look at what a banned address asks for', async () => {
    const { firewall, hits, bans, ban } = createFirewall()
    await ban('a')

    expect(await firewall.judge({ address: 'a', ...SCAN })).toMatchObject({
      rule: 'banned',
      error: { code: 'address_banned' },
    })
    expect(await firewall.judge({ address: 'b', ...PROPER })).toBeNull()
    expect(bans).toMatchObject([{ addressKey: 'key of a', count: 1 }])
    expect(hits).toEqual(['ban', 'banned'])
  })

  it.each([
    [401, 'unauthorized', true],
    [403, 'firewall_rejected', true],
    [404, 'not_found', true],
    [400, 'malformed_json', true],
    [400, 'malformed_request', true],
    [400, 'invalid_request', false],
    [403, 'address_banned', false],
    [429, 'rate_limited', false],
    [500, 'internal_error', false],
    [200, undefined, false],
  ])('counts an answer with %i and %s as an offence: %s', async (status, code, isOffence) => {
    const { firewall, bans } = createFirewall()
    for (let turn = 0; turn < MAX_OFFENCES; turn++) await firewall.recordAnswer('a', status, code)

    expect(bans).toHaveLength(isOffence ? 1 : 0)
  })

  it('counts a path that cannot be routed and bytes that are no request, but no unused connection', async () => {
    const { firewall, bans } = createFirewall()
    for (let turn = 0; turn < MAX_OFFENCES; turn++) {
      expect(await firewall.judgeUnroutable({ address: 'a', ...PROPER })).toBeNull()
      expect(await firewall.judgeClientError('b', 9)).toBe(false)
      expect(await firewall.judgeClientError('c', 0)).toBe(false)
    }

    expect(bans.map(({ addressKey }) => addressKey)).toEqual(['key of a', 'key of b'])
    expect(await firewall.judgeUnroutable({ address: 'a', ...PROPER })).toMatchObject({ rule: 'banned' })
    expect(await firewall.judgeClientError('b', 0)).toBe(true)
  })

  it('holds nothing against an exempt address, but refuses what breaks a rule', async () => {
    const { firewall, bans, ban } = createFirewall({ isExempt: (address) => address === 'a' })
    await ban('a')

    expect(bans).toEqual([])
    expect(await firewall.judge({ address: 'a', ...SCAN })).toMatchObject({ rule: 'scanner-path' })
  })

  it('lists bans and lifts them by any address of the client', async () => {
    const { firewall, ban } = createFirewall()
    await ban('a')
    expect(await firewall.listBans()).toMatchObject([{ addressKey: 'key of a' }])

    await firewall.liftBan('a/64')

    expect(await firewall.judge({ address: 'a', ...PROPER })).toBeNull()
    await expect(firewall.liftBan('a')).rejects.toMatchObject({ code: 'ban_not_found' })
  })
})
