/**
 * Heads that Node's parser lets through although a proxy in front may read them otherwise: two parties that do not agree
 * where a request ends, or whom it is for, are how requests are smuggled. The connection ends with the refusal.
 */
import type { IncomingMessage } from 'node:http'

/** Of these Node keeps the first and drops the others without a word. */
const GIVEN_ONCE: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'content-length',
  'content-type',
  'transfer-encoding',
])

/** Their bytes are bounded already. Node leaves headers out from the 1001st on, without a word. */
const MAX_HEADERS = 200

const VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1'])

/** A sentence's end for `malformed_request`, or null. */
export function findHeadProblem({ headers, httpVersion, rawHeaders }: IncomingMessage): string | null {
  if (rawHeaders.length / 2 > MAX_HEADERS) return `it has more than ${MAX_HEADERS} headers.`
  // Node takes a line of another version for one of HTTP/1.1 that asks for less.
  if (!VERSIONS.has(httpVersion)) return `its version is HTTP/${httpVersion}, which is not spoken here.`
  if (httpVersion === '1.1' && headers.host === undefined) return 'it has no Host header.'
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    return `Transfer-Encoding must be chunked, but was '${encoding}'.`
  }
  if (encoding !== undefined && httpVersion !== '1.1') {
    return `Transfer-Encoding must not be sent with HTTP/${httpVersion}.`
  }
  const twice = findRepeated(rawHeaders)
  return twice === null ? null : `${twice} must be given once.`
}

/** Names and values take turns. */
function findRepeated(rawHeaders: readonly string[]): string | null {
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    if (!GIVEN_ONCE.has(name)) continue
    if (seen.has(name)) return rawHeaders[index] ?? name
    seen.add(name)
  }
  return null
}
