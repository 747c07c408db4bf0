/**
 * The names under which a server without authentication answers: those of loopback and the configured ones. A web page can
 * point a name of its own at 127.0.0.1 (DNS rebinding) and so reach the server as its own origin, but its browser then sends
 * that name in `Host`; and a page of another site can send requests whose answers it may not read, but its browser then
 * sends that site in `Origin`. Pure; called by the gates of the API.
 */
import { isIP } from 'node:net'
import { isLoopbackAddress } from './client-address.ts'

export class OwnHosts {
  readonly #names: ReadonlySet<string>

  /** @param names host names or addresses, without ports */
  constructor(names: readonly string[]) {
    this.#names = new Set(names.map(normalize))
  }

  /** Whether a `Host` header names this server. Programs may leave it out, browsers never do. */
  includes(hostHeader: string | undefined): boolean {
    return hostHeader === undefined || hostHeader === '' || this.#has(withoutPort(hostHeader))
  }

  /** Whether a page of this `Origin` is a page of this server or of another port of its host. */
  includesOrigin(origin: string): boolean {
    return URL.canParse(origin) && this.#has(new URL(origin).hostname)
  }

  #has(host: string): boolean {
    const name = normalize(host)
    return name === 'localhost' || (isIP(name) !== 0 && isLoopbackAddress(name)) || this.#names.has(name)
  }
}

/** The host of a `Host` header, brackets included. */
export function withoutPort(hostHeader: string): string {
  return hostHeader.replace(/:\d*$/, '')
}

/** Without case, the brackets of an IPv6 address, and the dot that ends an absolute name. */
function normalize(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}
