/**
 * Reads the head of a request, for both servers: its id, its bearer secret, and whether a proxy in front could read the head
 * differently. Node's parser accepts some heads on which two parties can disagree where a request ends, or for which host it
 * is: that is how requests are smuggled. The connection ends with the refusal.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { newId } from '../../core/ids.ts'

const SAFE_REQUEST_ID = /^[\w.:-]{1,64}$/

/** The caller's own id when it is safe to repeat, else a new one (spec: decisions, Errors). */
export function keepRequestId(given: string | readonly string[] | undefined): string {
  return typeof given === 'string' && SAFE_REQUEST_ID.test(given) ? given : newId()
}

/** A body may take longer to arrive; then the key is looked up again, as it may be revoked or of another tier. */
export const CREDENTIAL_FRESH_MS = 100

const BEYOND_ASCII = /[\x80-\xff]/

/**
 * The secret of a route that takes a key: the bearer secret or, where none is given, `x-api-key`, which Anthropic's clients
 * send. Null without one.
 */
export function keySecret(headers: IncomingHttpHeaders): string | null {
  const { 'x-api-key': given } = headers
  return bearerSecret(headers) ?? (typeof given === 'string' && given !== '' ? decoded(given) : null)
}

/** Null without one; the scheme may be in any case. */
export function bearerSecret({ authorization = '' }: IncomingHttpHeaders): string | null {
  const secret = /^bearer +(\S.*)$/i.exec(authorization)?.[1]?.trimEnd() ?? null
  return secret === null ? null : decoded(secret)
}

/** Node reads header bytes as Latin-1, clients write UTF-8. */
function decoded(secret: string): string {
  return BEYOND_ASCII.test(secret) ? Buffer.from(secret, 'latin1').toString('utf8') : secret
}

/** Node keeps the first of these and drops the others silently. Each has its own bit. */
const GIVEN_ONCE: ReadonlyMap<string, number> = new Map([
  ['host', 1],
  ['authorization', 2],
  ['content-length', 4],
  ['content-type', 8],
  ['transfer-encoding', 16],
])
const HOST = 1
const TRANSFER_ENCODING = 16

/** Node silently leaves headers out from the 1001st on. Their total size is bounded already. */
const MAX_HEADERS = 200

const VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1'])

/** The end of the message of `malformed_request`, or null. Runs for every request, so it allocates only what it needs. */
export function findHeadProblem(request: IncomingMessage): string | null {
  const { httpVersion, rawHeaders } = request
  if (rawHeaders.length / 2 > MAX_HEADERS) return `it has more than ${MAX_HEADERS} headers.`
  // Node reads a request line of another version as HTTP/1.1.
  if (!VERSIONS.has(httpVersion)) return `its version is HTTP/${httpVersion}, which is not spoken here.`
  const targetProblem = findTargetProblem(request)
  if (targetProblem !== null) return targetProblem
  let seen = 0
  let repeated: string | null = null
  // Names and values alternate.
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

/** A router may cut these off, and a proxy in front compare its rules with the whole. */
function findTargetProblem({ method, url = '' }: IncomingMessage): string | null {
  if (url.includes('#')) return 'its target has a fragment.'
  // Of the whole server.
  const isStar = url === '*' && method === 'OPTIONS'
  return url.startsWith('*') && !isStar ? 'its target must be a path.' : null
}

function findEncodingProblem({ headers, httpVersion }: IncomingMessage): string | null {
  const encoding = headers['transfer-encoding'] ?? ''
  if (encoding.toLowerCase() !== 'chunked') return `Transfer-Encoding must be chunked, but was '${encoding}'.`
  return httpVersion === '1.1' ? null : `Transfer-Encoding must not be sent with HTTP/${httpVersion}.`
}
