/**
 * `--trusted-proxies`: the client's address of a request that comes through proxies. A proxy appends the address that
 * connected to it to `X-Forwarded-For`, so the header is read from the right while the writer of an entry is trusted;
 * entries left of the first untrusted address were written by that client and are ignored. Where an entry is missing
 * or is no address, the address is that of the proxy that should have written it.
 */
import { isIPv4 } from 'node:net'
import { canonicalAddress } from '../core/ip-address.ts'
import { AddressList } from './address-list.ts'

/** Proxies in a row; the header may hold thousands of addresses. */
const MAX_HOPS = 32

export class TrustedProxies {
  readonly #proxies: AddressList

  constructor(cidrs: readonly string[]) {
    this.#proxies = new AddressList(cidrs)
  }

  includes(address: string): boolean {
    const canonical = canonicalAddress(address)
    return canonical !== null && this.#proxies.includes(canonical)
  }

  /** The right-most untrusted address, or the last trusted one. `forwardedFor` is the joined value of all its lines. */
  clientAddress(peerAddress: string, forwardedFor = ''): string {
    const peer = canonicalAddress(peerAddress)
    if (peer === null) return peerAddress
    let address = peer
    let end = forwardedFor.length
    for (let hop = 0; hop < MAX_HOPS && end >= 0 && this.#proxies.includes(address); hop++) {
      const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(',', end - 1)
      const entry = parseEntry(forwardedFor.slice(comma + 1, end))
      if (entry === null) break
      address = entry
      end = comma
    }
    return address
  }
}

/** Longer than any address with brackets and port. */
const MAX_ENTRY_LENGTH = 80

/** The address of an entry, without the brackets and the port that some proxies write. */
function parseEntry(text: string): string | null {
  if (text.length > MAX_ENTRY_LENGTH) return null
  const entry = text.trim()
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(entry) ?? []
  if (bracketed !== undefined) return bracketed.includes(':') ? canonicalAddress(bracketed) : null
  const [, beforePort] = /^([\d.]+):\d{1,5}$/.exec(entry) ?? []
  return beforePort !== undefined && isIPv4(beforePort) ? beforePort : canonicalAddress(entry)
}
