import { describe, expect, it } from 'vitest'
import { canonicalAddress } from './ip-address.ts'

describe('canonicalAddress', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7%eth0', '203.0.113.7'],
    ['2001:0DB8:0000::0001', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    // Only looks like a mapped one.
    ['::203.0.113.7', '::203.0.113.7'],
    ['::1', '::1'],
  ])('%s is %s', (text, address) => {
    expect(canonicalAddress(text)).toBe(address)
  })

  it.each([
    '',
    'unknown',
    '127.1',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '010.0.0.1',
    '256.0.0.1',
    '1.2.3.4%eth0',
    '1.2.3.4:80',
    '[::1]',
    ' 1.2.3.4',
    '1.2.3.4\n',
    '1:2:3:4:5:6:7:8:9',
    'fe80::1%',
    `fe80::1%${'x'.repeat(100)}`,
  ])('%j is none', (text) => {
    expect(canonicalAddress(text)).toBeNull()
  })
})
