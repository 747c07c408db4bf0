/**
 * One text for each IP address, so that no spelling of an address passes by a rule for another: without a zone, IPv6 in
 * its shortest form, and an IPv4 address as such also when it comes in IPv6 form.
 */
import { isIPv4, isIPv6, SocketAddress } from 'node:net'

/** As long as an address with its zone may be. */
const MAX_LENGTH = 64

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** Null for what is no address; short forms of old such as `127.1` or `0x7f.1` are none. */
export function canonicalAddress(text: string): string | null {
  if (text.length > MAX_LENGTH) return null
  if (isIPv4(text)) return text
  if (!isIPv6(text)) return null
  const [address = ''] = text.split('%', 1)
  const shortest = new SocketAddress({ address, family: 'ipv6' }).address
  return MAPPED_IPV4.exec(shortest)?.[1] ?? shortest
}
