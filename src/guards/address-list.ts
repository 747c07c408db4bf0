/**
 * Lists of addresses and CIDRs, and the rules of `--cidr-allow` and `--cidr-deny` over them. IPv4 and IPv6 are kept apart: `::/0` is every IPv6
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

/**
 * `--cidr-allow` and `--cidr-deny`: deny wins, and an allow list denies every other address. An unknown address is in
 * every deny list and in no allow list.
 */
export class AddressRules {
  readonly #allowed: AddressList | null
  readonly #denied: AddressList | null

  constructor({ allow, deny }: { readonly allow: readonly string[]; readonly deny: readonly string[] }) {
    this.#allowed = allow.length === 0 ? null : new AddressList(allow)
    this.#denied = deny.length === 0 ? null : new AddressList(deny)
  }

  /** The option that refuses an address; null for an address that is admitted. */
  refusedBy(clientAddress: string): 'cidr-deny' | 'cidr-allow' | null {
    const address = canonicalAddress(clientAddress)
    if (this.#denied !== null && (address === null || this.#denied.includes(address))) return 'cidr-deny'
    if (this.#allowed !== null && (address === null || !this.#allowed.includes(address))) return 'cidr-allow'
    return null
  }
}
