import { describe, expect, it } from 'vitest'
import { TrustedProxies } from './trusted-proxies.ts'

const PROXY = '10.0.0.1'
const CLIENT = '203.0.113.7'
const proxies = new TrustedProxies(['10.0.0.0/8', '2001:db8:1::/48'])

const through = (peer: string, forwardedFor?: string) => proxies.clientAddress(peer, forwardedFor)

describe('TrustedProxies', () => {
  it('believes nobody but a trusted proxy', () => {
    expect(through(CLIENT, '198.51.100.1')).toBe(CLIENT)
    expect(through(CLIENT, `198.51.100.1, ${PROXY}`)).toBe(CLIENT)
    expect(new TrustedProxies([]).clientAddress(PROXY, CLIENT)).toBe(PROXY)
  })

  it.each([
    [CLIENT, CLIENT],
    [` ${CLIENT}\t`, CLIENT],
    // What the client wrote itself stands to the left.
    [`127.0.0.1, ${CLIENT}`, CLIENT],
    [`10.9.9.9, 127.0.0.1, ${CLIENT}`, CLIENT],
    [`<script>, ,,${CLIENT}`, CLIENT],
    // Proxies in a row.
    [`127.0.0.1, ${CLIENT}, 10.0.0.2, 10.0.0.3`, CLIENT],
    [`${CLIENT}, ::ffff:10.0.0.2, 2001:db8:1::9`, CLIENT],
    // A client inside the trusted range, and nobody beyond it.
    ['10.0.0.9', '10.0.0.9'],
    ['10.0.0.9, 10.0.0.2', '10.0.0.9'],
    // Every spelling.
    ['203.0.113.7:51234', CLIENT],
    ['[2001:db8::7]', '2001:db8::7'],
    ['[2001:db8::7]:443', '2001:db8::7'],
    ['2001:0DB8::0007', '2001:db8::7'],
    ['::ffff:203.0.113.7', CLIENT],
    ['[::ffff:cb00:7107]:443', CLIENT],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%eth0]:80', 'fe80::1'],
  ])('%j is from %s', (forwardedFor, address) => {
    expect(through(PROXY, forwardedFor)).toBe(address)
    expect(through(`::ffff:${PROXY}`, forwardedFor)).toBe(address)
  })

  it.each([
    undefined,
    '',
    ' ',
    ',',
    'unknown',
    '_hidden',
    '0x7f.1',
    '127.1',
    '[203.0.113.7]',
    '[2001:db8::7',
    '2001:db8::7]:80',
    '[2001:db8::7]:123456',
    '203.0.113.7:',
    '203.0.113.7:80:80',
    '"203.0.113.7"',
    'for=203.0.113.7',
    '203.0.113.7 198.51.100.1',
    `203.0.113.7${' '.repeat(100)}`,
    `${CLIENT}, garbage`,
    `${CLIENT},`,
  ])('%j says nothing, so the proxy is responsible', (forwardedFor) => {
    expect(through(PROXY, forwardedFor)).toBe(PROXY)
  })

  it('holds the last proxy that is known responsible when what that one wrote is no address', () => {
    expect(through(PROXY, `${CLIENT}, unknown, 10.0.0.3`)).toBe('10.0.0.3')
  })

  it('reads a bounded number of hops of a header of 10,000 addresses', () => {
    const entries = Array.from({ length: 10_000 }, (_, i) => `10.1.${i >> 8}.${i & 255}`)

    expect(through(PROXY, [CLIENT, ...entries].join(', '))).toBe(entries.at(-32))
    expect(through(PROXY, [...entries, CLIENT].join(', '))).toBe(CLIENT)
  })

  it('gives an address that it cannot read back as it is', () => {
    expect(through('', CLIENT)).toBe('')
  })
})
