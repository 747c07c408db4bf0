/**
 * `--cidr-allow` and `--cidr-deny`: deny wins, and an allow list denies every other address. An unknown address is in
 * every deny list and in no allow list.
 */
import { canonicalAddress } from '../core/ip-address.ts'
import { AddressList } from './address-list.ts'

export interface AddressRuleLists {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

/** The option that refuses an address. */
export type AddressRule = 'cidr-allow' | 'cidr-deny'

export class AddressRules {
  readonly #allowed: AddressList | null
  readonly #denied: AddressList | null

  constructor({ allow, deny }: AddressRuleLists) {
    this.#allowed = allow.length === 0 ? null : new AddressList(allow)
    this.#denied = deny.length === 0 ? null : new AddressList(deny)
  }

  /** Null for an address that is admitted. */
  refusedBy(clientAddress: string): AddressRule | null {
    const address = canonicalAddress(clientAddress)
    if (this.#denied !== null && (address === null || this.#denied.includes(address))) return 'cidr-deny'
    if (this.#allowed !== null && (address === null || !this.#allowed.includes(address))) return 'cidr-allow'
    return null
  }
}
