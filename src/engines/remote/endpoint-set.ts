/**
 * The endpoints of a remote model: those listed, and the addresses of those named `dns+…`, read again every ten seconds. Probes
 * them and chooses among those that may take work. Owned by `remote-engine.ts`.
 *
 * Invariant: an endpoint that has left the DNS gets no new request; those that it has are read to their ends.
 */
import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { chooseEndpoint } from './choose-endpoint.ts'
import { Endpoint, type EndpointAddress, type EndpointOptions } from './endpoint.ts'
import { DNS_PREFIX, withVersion } from './endpoint-url.ts'

const RESOLVE_MS = 10_000
const PROBE_MS = 5000

export interface EndpointSetOptions extends EndpointOptions {
  readonly endpoints: readonly string[]
  /** The addresses of a host. @default the system's resolver */
  readonly resolve?: (hostName: string) => Promise<readonly string[]>
  /** An endpoint takes work, or takes none. */
  readonly onHealth?: (url: string, isHealthy: boolean) => void
}

export class EndpointSet {
  readonly #options: EndpointSetOptions
  readonly #resolve: (hostName: string) => Promise<readonly string[]>
  readonly #byUrl = new Map<string, Endpoint>()
  /** Those that have left the DNS, while they have requests. */
  readonly #leaving = new Set<Endpoint>()
  /** The last addresses of each name, kept while it cannot be read. */
  readonly #resolved = new Map<string, readonly EndpointAddress[]>()
  readonly #timers: NodeJS.Timeout[] = []
  #isClosed = false

  constructor(options: EndpointSetOptions) {
    this.#options = options
    this.#resolve = options.resolve ?? resolveAll
  }

  get all(): readonly Endpoint[] {
    return [...this.#byUrl.values()]
  }

  /** Those that answered their last probe, and may take work. */
  get ready(): readonly Endpoint[] {
    return this.available.filter(({ isHealthy }) => isHealthy !== false)
  }

  /** Those that may take work now. */
  get available(): readonly Endpoint[] {
    return this.all.filter(({ breaker }) => breaker.mayPass)
  }

  /** Reads the names and probes all once; both go on until `close`. */
  async open(): Promise<void> {
    await this.#update()
    await this.#probeAll()
    const isNamed = this.#options.endpoints.some((url) => url.startsWith(DNS_PREFIX))
    if (isNamed) this.#timers.push(setInterval(() => void this.#update(), RESOLVE_MS).unref())
    this.#timers.push(setInterval(() => void this.#probeAll(), PROBE_MS).unref())
  }

  /** Null where none takes work. @param tried those that have failed this request */
  choose(key: string | null, tried: ReadonlySet<Endpoint>): Endpoint | null {
    const left = this.available.filter((endpoint) => !tried.has(endpoint))
    // One whose breaker is half open is among them, or nothing would find out whether it answers requests again.
    const present = left.filter(({ isHealthy }) => isHealthy !== false)
    return chooseEndpoint(present.length > 0 ? present : left, key)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all([...this.all, ...this.#leaving].map((endpoint) => endpoint.close()))
  }

  async #update(): Promise<void> {
    const addresses = (await Promise.all(this.#options.endpoints.map((url) => this.#addressesOf(url)))).flat()
    if (this.#isClosed) return
    const urls = new Set(addresses.map(({ url }) => url))
    for (const address of addresses) {
      if (!this.#byUrl.has(address.url)) this.#byUrl.set(address.url, new Endpoint(address, this.#options))
    }
    for (const [url, endpoint] of this.#byUrl) {
      if (urls.has(url)) continue
      this.#byUrl.delete(url)
      void this.#closeWhenIdle(endpoint)
    }
  }

  async #closeWhenIdle(endpoint: Endpoint): Promise<void> {
    this.#leaving.add(endpoint)
    while (endpoint.outstanding > 0) await new Promise((resolve) => setTimeout(resolve, PROBE_MS).unref())
    await endpoint.close()
    this.#leaving.delete(endpoint)
  }

  async #addressesOf(given: string): Promise<readonly EndpointAddress[]> {
    if (!given.startsWith(DNS_PREFIX)) return [{ url: withVersion(given), hostName: null }]
    const url = new URL(withVersion(given.slice(DNS_PREFIX.length)))
    const hostName = url.hostname
    try {
      const found = await this.#resolve(hostName)
      if (found.length > 0)
        this.#resolved.set(
          given,
          found.map((address) => ({ url: withHost(url, address), hostName })),
        )
    } catch {
      // The addresses that were known go on being probed.
    }
    return this.#resolved.get(given) ?? []
  }

  async #probeAll(): Promise<void> {
    await Promise.all(
      this.all.map(async (endpoint) => {
        const before = endpoint.isHealthy
        const isHealthy = await endpoint.probe()
        if (isHealthy !== before) this.#options.onHealth?.(endpoint.url, isHealthy)
      }),
    )
  }
}

async function resolveAll(hostName: string): Promise<readonly string[]> {
  return (await lookup(hostName, { all: true })).map(({ address }) => address)
}

function withHost(url: URL, address: string): string {
  const copy = new URL(url)
  copy.hostname = isIPv6(address) ? `[${address}]` : address
  return copy.href
}
