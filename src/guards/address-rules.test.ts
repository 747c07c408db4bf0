import { describe, expect, it } from 'vitest'
import { type AddressRule, AddressRules } from './address-rules.ts'

interface Case {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly address: string
  readonly rule: AddressRule | null
}

const CASES: readonly Case[] = [
  // Without rules everybody comes in, whoever that is.
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
