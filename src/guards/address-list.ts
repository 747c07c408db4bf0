/**
 * A list of addresses and CIDRs, and whether an address is in it. IPv4 and IPv6 are kept apart: `::/0` is every IPv6
 * address and no IPv4 one, and an IPv4 rule written in IPv6 form (`::ffff:10.0.0.0/104`) is the IPv4 rule.
 */
import { BlockList, isIPv4 } from 'node:net'
import { canonicalAddress } from '../core/ip-address.ts'

/** Bits in front of an IPv4 address in its IPv6 form. */
const MAPPED_PREFIX_BITS = 96

export class AddressList {
  readonly #ipv4 = new BlockList()
  readonly #ipv6 = new BlockList()

  /** @param cidrs as the `cidr` kind of the options accepts them. */
  constructor(cidrs: readonly string[]) {
    for (const cidr of cidrs) this.#add(cidr)
  }

  /** Of a canonical address. */
  includes(address: string): boolean {
    return isIPv4(address) ? this.#ipv4.check(address, 'ipv4') : this.#ipv6.check(address, 'ipv6')
  }

  #add(cidr: string): void {
    const [written = '', prefix] = cidr.split('/')
    const address = canonicalAddress(written)
    if (address === null) throw new TypeError(`'${cidr}' is not a CIDR.`)
    if (!isIPv4(address)) {
      this.#ipv6.addSubnet(address, prefix === undefined ? 128 : Number(prefix), 'ipv6')
    } else if (isIPv4(written)) {
      this.#ipv4.addSubnet(address, prefix === undefined ? 32 : Number(prefix), 'ipv4')
    } else {
      const bits = prefix === undefined ? 128 : Number(prefix)
      if (bits >= MAPPED_PREFIX_BITS) this.#ipv4.addSubnet(address, bits - MAPPED_PREFIX_BITS, 'ipv4')
      else this.#ipv6.addSubnet(written, bits, 'ipv6')
    }
  }
}
