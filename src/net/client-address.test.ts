import { describe, expect, it } from 'vitest'
import { addressKey, isLoopbackAddress } from './client-address.ts'

describe('addressKey', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::a:b:c:d:e:f', '0:0:a:b::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::ffff:203.0.113.7%eth0', '203.0.113.7'],
    ['', 'unknown'],
  ])('%s counts as %s', (address, key) => {
    expect(addressKey(address)).toBe(key)
  })
})

describe('isLoopbackAddress', () => {
  it.each(['127.0.0.1', '127.255.0.9', '::1', '::ffff:127.0.0.1', ''])('%j is', (address) => {
    expect(isLoopbackAddress(address)).toBe(true)
  })

  it.each(['128.0.0.1', '10.0.0.1', '::2', '::ffff:12.7.0.1', '2001:db8::1', 'fe80::1'])(
    '%s is not',
    (address) => {
      expect(isLoopbackAddress(address)).toBe(false)
    },
  )
})
