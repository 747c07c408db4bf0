import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalAddress } from '../core/ip-address.ts'
import { AddressList, AddressRules } from './address-list.ts'

const includes = (cidr: string, address: string) =>
  new AddressList([cidr]).includes(canonicalAddress(address) ?? '')

describe('AddressList', () => {
  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    // Bits behind the prefix say nothing.
    ['10.1.2.3/8', '10.255.0.1', true],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3', '10.1.2.4', false],
    ['0.0.0.0/0', '203.0.113.7', true],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '2001:db8::1', true],
    ['::/0', '203.0.113.7', false],
    ['::/0', '::ffff:203.0.113.7', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '::ffff:a01:203', true],
    ['10.0.0.0/8', '::10.1.2.3', false],
    ['::ffff:10.0.0.0/104', '10.1.2.3', true],
    ['::ffff:a00:0/104', '10.1.2.3', true],
    ['::ffff:a00:0/104', '11.1.2.3', false],
    ['::ffff:10.1.2.3', '10.1.2.3', true],
    ['2001:db8::/32', '2001:0DB8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['2001:db8::1', '2001:db8::2', false],
  ])('%s and %s: %s', (cidr, address, isIn) => {
    expect(includes(cidr, address)).toBe(isIn)
  })

  it('agrees with arithmetic for every IPv4 prefix', () => {
    const word = fc.nat({ max: 0xff_ff_ff_ff })
    const dotted = (number: number) => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.')
    fc.assert(
      fc.property(word, fc.nat({ max: 32 }), fc.nat({ max: 32 }), (network, bits, flipped) => {
        // One bit away, or the same: addresses at random are hardly ever near.
        const address = flipped === 32 ? network : (network ^ (1 << flipped)) >>> 0
        const size = 2 ** (32 - bits)
        const isIn = Math.floor(network / size) === Math.floor(address / size)
        expect(includes(`${dotted(network)}/${bits}`, dotted(address))).toBe(isIn)
      }),
    )
  })

  it('agrees with arithmetic for every IPv6 prefix', () => {
    const text = (number: bigint) =>
      Array.from({ length: 8 }, (_, i) => ((number >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':')
    // In a range that nothing is mapped into.
    const number = fc.bigInt({ min: 0x2000n << 112n, max: (0x4000n << 112n) - 1n })
    fc.assert(
      fc.property(number, fc.nat({ max: 128 }), fc.nat({ max: 128 }), (network, bits, flipped) => {
        const address = flipped === 128 ? network : network ^ (1n << BigInt(flipped))
        const behind = BigInt(128 - bits)
        const isIn = network >> behind === address >> behind
        expect(includes(`${text(network)}/${bits}`, text(address))).toBe(isIn)
      }),
    )
  })
})

interface Case {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly address: string
  readonly rule: ReturnType<AddressRules['refusedBy']>
}

const CASES: readonly Case[] = [
  // Without rules every address is admitted.
  { address: '203.0.113.7', rule: null },
  { address: '', rule: null },
  { allow: ['10.0.0.0/8'], address: '10.0.0.1', rule: null },
  { allow: ['10.0.0.0/8'], address: '11.0.0.1', rule: 'cidr-allow' },
  { allow: ['10.0.0.0/8'], address: '2001:db8::1', rule: 'cidr-allow' },
  { allow: ['10.0.0.0/8', '2001:db8::/32'], address: '2001:db8::1', rule: null },
  { deny: ['10.0.0.0/8'], address: '10.0.0.1', rule: 'cidr-deny' },
  { deny: ['10.0.0.0/8'], address: '11.0.0.1', rule: null },
  // Deny wins, however narrow the allow rule.
  { allow: ['10.0.0.1'], deny: ['10.0.0.0/8'], address: '10.0.0.1', rule: 'cidr-deny' },
  { allow: ['10.0.0.0/8'], deny: ['10.0.0.1'], address: '10.0.0.1', rule: 'cidr-deny' },
  { allow: ['10.0.0.0/8'], deny: ['10.0.0.1'], address: '10.0.0.2', rule: null },
  // Every spelling of one address is that address.
  { deny: ['10.0.0.0/8'], address: '::ffff:10.0.0.1', rule: 'cidr-deny' },
  { deny: ['10.0.0.0/8'], address: '::ffff:a00:1', rule: 'cidr-deny' },
  { allow: ['10.0.0.0/8'], address: '::ffff:10.0.0.1', rule: null },
  { deny: ['fe80::/10'], address: 'fe80::1%eth0', rule: 'cidr-deny' },
  // An unknown address passes no rule.
  { allow: ['10.0.0.0/8'], address: '', rule: 'cidr-allow' },
  { deny: ['10.0.0.0/8'], address: '', rule: 'cidr-deny' },
  { allow: ['0.0.0.0/0'], address: '0x7f.1', rule: 'cidr-allow' },
]

describe('AddressRules', () => {
  it.each(CASES)('allow $allow, deny $deny, $address: $rule', ({ allow = [], deny = [], address, rule }) => {
    expect(new AddressRules({ allow, deny }).refusedBy(address)).toBe(rule)
  })
})
