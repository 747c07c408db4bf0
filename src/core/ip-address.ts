/**
 * The canonical text of an IP address, so that no spelling of an address evades a rule: without a zone, IPv6 in its
 * shortest form, IPv4-mapped IPv6 as IPv4.
 */
import { isIPv4, isIPv6, SocketAddress } from 'node:net'

/** The longest address with its zone. */
const MAX_LENGTH = 64

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** Null for anything else, including legacy short forms such as `127.1` or `0x7f.1`. */
export function canonicalAddress(text: string): string | null {
  if (text.length > MAX_LENGTH) return null
  if (isIPv4(text)) return text
  if (!isIPv6(text)) return null
  const [address = ''] = text.split('%', 1)
  const shortest = new SocketAddress({ address, family: 'ipv6' }).address
  return MAPPED_IPV4.exec(shortest)?.[1] ?? shortest
}
