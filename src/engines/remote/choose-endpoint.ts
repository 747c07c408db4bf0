/**
 * Which endpoint a request goes to: consistent hashing of the conversation's beginning (rendezvous hashing, so that an endpoint that
 * comes or goes moves only its own conversations), with bounded loads, then the least outstanding work. Pure.
 */
import { createHash } from 'node:crypto'

/** Outstanding requests an endpoint may have, as a share of the average with this request. */
const LOAD_BOUND = 1.25
/** So many run in one batch anyway: a conversation's cache is worth more than an idle endpoint. */
const MIN_BOUND = 4

export interface Choosable {
  readonly url: string
  /** Requests that it has not answered to the end. */
  readonly outstanding: number
}

/** Null where there is none. @param key of the conversation; null where nothing is gained by staying */
export function chooseEndpoint<Endpoint extends Choosable>(
  endpoints: readonly Endpoint[],
  key: string | null,
): Endpoint | null {
  if (endpoints.length <= 1) return endpoints[0] ?? null
  if (key !== null) {
    const total = endpoints.reduce((sum, { outstanding }) => sum + outstanding, 0)
    const bound = Math.max(MIN_BOUND, Math.ceil((LOAD_BOUND * (total + 1)) / endpoints.length))
    const ranked = endpoints
      .map((endpoint) => ({ endpoint, weight: weightOf(key, endpoint.url) }))
      .sort((one, other) => (one.weight < other.weight ? 1 : -1))
    const preferred = ranked.find(({ endpoint }) => endpoint.outstanding < bound)
    if (preferred !== undefined) return preferred.endpoint
  }
  return endpoints.reduce((least, one) => (one.outstanding < least.outstanding ? one : least))
}

function weightOf(key: string, url: string): string {
  return createHash('sha1').update(key).update('\0').update(url).digest('hex')
}
