/**
 * Which pages of a browser may call (`--cors-origins`), as the Fetch standard has it. Off unless origins are given; a
 * page of another origin gets the ordinary answer without the headers, which its browser then keeps from it. No answer allows
 * credentials, so no other origin, `*` included, ever reaches a session's cookie.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'

const ANY_ORIGIN = '*'
const PREFLIGHT_SECONDS = 7200
const METHODS = 'GET, HEAD, POST, PATCH, DELETE'

/** What a page may read of an answer beside its body. */
const EXPOSED_HEADERS = [
  'x-request-id',
  'x-error-code',
  'x-should-retry',
  'x-max-tokens-applied',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-budget-warning',
  'retry-after',
].join(', ')

const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/

export function isAllowedOrigin(origins: readonly string[], origin: string): boolean {
  return origins.includes(ANY_ORIGIN) || origins.includes(origin)
}

/** Adds the headers that the page's origin has a right to; true when that was all: a preflight, now answered. */
export function answerOrigin(
  origins: readonly string[],
  { headers, method }: FastifyRequest,
  reply: FastifyReply,
): boolean {
  if (origins.length === 0) return false
  const isForAll = origins.includes(ANY_ORIGIN)
  if (!isForAll) reply.header('vary', 'Origin')
  const { origin } = headers
  if (origin === undefined || !isAllowedOrigin(origins, origin)) return false
  reply.header('access-control-allow-origin', isForAll ? ANY_ORIGIN : origin)
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) {
    reply.header('access-control-expose-headers', EXPOSED_HEADERS)
    return false
  }
  const wanted = headers['access-control-request-headers']
  if (wanted !== undefined && HEADER_NAMES.test(wanted)) reply.header('access-control-allow-headers', wanted)
  reply
    .header('access-control-allow-methods', METHODS)
    .header('access-control-max-age', String(PREFLIGHT_SECONDS))
    .code(204)
    .send()
  return true
}
