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

/** Null where there is none. Takes a few nanoseconds an endpoint. @param key of the conversation; null where nothing is gained by staying */
export function chooseEndpoint<Endpoint extends Choosable>(
  endpoints: readonly Endpoint[],
  key: string | null,
): Endpoint | null {
  if (endpoints.length <= 1) return endpoints[0] ?? null
  const preferred = key === null ? null : findPreferred(endpoints, hashOf(key))
  return preferred ?? endpoints.reduce((least, one) => (one.outstanding < least.outstanding ? one : least))
}

/** Of those below the bound the one with the greatest weight; null where there is none. */
function findPreferred<Endpoint extends Choosable>(
  endpoints: readonly Endpoint[],
  keyHash: number,
): Endpoint | null {
  const total = endpoints.reduce((sum, { outstanding }) => sum + outstanding, 0)
  const bound = Math.max(MIN_BOUND, Math.ceil((LOAD_BOUND * (total + 1)) / endpoints.length))
  let preferred: Endpoint | null = null
  let greatest = -1
  for (const endpoint of endpoints) {
    if (endpoint.outstanding >= bound) continue
    const weight = mix(keyHash ^ urlHashOf(endpoint))
    if (weight <= greatest) continue
    greatest = weight
    preferred = endpoint
  }
  return preferred
}

const urlHashes = new WeakMap<Choosable, number>()

function urlHashOf(endpoint: Choosable): number {
  const known = urlHashes.get(endpoint)
  if (known !== undefined) return known
  const hash = hashOf(endpoint.url)
  urlHashes.set(endpoint, hash)
  return hash
}

/** 32 bits, the same in every process: several servers keep a conversation at the same endpoint. */
function hashOf(text: string): number {
  return createHash('sha1').update(text).digest().readUInt32BE(0)
}

/** MurmurHash3's finalizer, unsigned: each bit of the result depends on each bit given. */
function mix(bits: number): number {
  let mixed = bits ^ (bits >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
