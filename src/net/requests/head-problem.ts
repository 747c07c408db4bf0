/**
 * Heads that Node's parser lets through although a proxy in front may read them otherwise: two parties that do not agree
 * where a request ends, or whom it is for, are how requests are smuggled. The connection ends with the refusal.
 */
import type { IncomingMessage } from 'node:http'

/** Of these Node keeps the first and drops the others without a word. Each has a bit of its own. */
const GIVEN_ONCE: ReadonlyMap<string, number> = new Map([
  ['host', 1],
  ['authorization', 2],
  ['content-length', 4],
  ['content-type', 8],
  ['transfer-encoding', 16],
])
const HOST = 1
const TRANSFER_ENCODING = 16

/** Their bytes are bounded already. Node leaves headers out from the 1001st on, without a word. */
const MAX_HEADERS = 200

const VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1'])

/** A sentence's end for `malformed_request`, or null. Every request comes by, so nothing is made that is not needed. */
export function findHeadProblem(request: IncomingMessage): string | null {
  const { httpVersion, rawHeaders } = request
  if (rawHeaders.length / 2 > MAX_HEADERS) return `it has more than ${MAX_HEADERS} headers.`
  // Node takes a line of another version for one of HTTP/1.1 that asks for less.
  if (!VERSIONS.has(httpVersion)) return `its version is HTTP/${httpVersion}, which is not spoken here.`
  let seen = 0
  let repeated: string | null = null
  // Names and values take turns.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const bit = GIVEN_ONCE.get(name) ?? GIVEN_ONCE.get(name.toLowerCase()) ?? 0
    if ((seen & bit) !== 0) repeated ??= name
    seen |= bit
  }
  if (httpVersion === '1.1' && (seen & HOST) === 0) return 'it has no Host header.'
  const encodingProblem = (seen & TRANSFER_ENCODING) === 0 ? null : findEncodingProblem(request)
  if (encodingProblem !== null) return encodingProblem
  return repeated === null ? null : `${repeated} must be given once.`
}

function findEncodingProblem({ headers, httpVersion }: IncomingMessage): string | null {
  const encoding = headers['transfer-encoding'] ?? ''
  if (encoding.toLowerCase() !== 'chunked') return `Transfer-Encoding must be chunked, but was '${encoding}'.`
  return httpVersion === '1.1' ? null : `Transfer-Encoding must not be sent with HTTP/${httpVersion}.`
}
