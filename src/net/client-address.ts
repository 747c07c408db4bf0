/** The client's address as limits count it: one key for all addresses that one client may have. */
import { isIPv4 } from 'node:net'

/** An IPv4 address itself, also when given in IPv6 form; of an IPv6 address its /64, which belongs to one client. */
export function addressKey(address: string): string {
  if (address === '') return 'unknown'
  const [plain = ''] = address.split('%', 1)
  const mapped = /^::ffff:([\d.]+)$/i.exec(plain)?.[1]
  if (mapped !== undefined && isIPv4(mapped)) return mapped
  return isIPv4(plain) ? plain : `${networkGroups(plain).join(':')}::/64`
}

/** This machine: its operator, or a proxy for all clients. Also a connection that is closed already. */
export function isLoopbackAddress(address: string): boolean {
  return address === '' || address === '::1' || addressKey(address).startsWith('127.')
}

/** The first four groups, without leading zeros. */
function networkGroups(address: string): string[] {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  return groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
}
