/**
 * Sends one request to an endpoint, and to another where that one fails before the first byte of its answer. Feeds the breakers.
 * Called by `remote-engine.ts`.
 */
import { ServiceError } from '../../core/errors.ts'
import type { Endpoint, EndpointAnswer } from './endpoint.ts'
import type { EndpointSet } from './endpoint-set.ts'
import type { UpstreamRequest } from './request-body.ts'
import { unavailable } from './upstream-errors.ts'

/** Endpoints that one request is sent to. */
const MAX_TRIES = 3

/** Of a connection that the endpoint had closed while it was idle. */
const STALE_CODES: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** A refusal is the last one, where others were tried. @throws ServiceError `engine_unavailable`; the signal's reason */
export async function sendRequest(
  endpoints: EndpointSet,
  { path, body, key, traceparent, onSent }: UpstreamRequest,
  signal: AbortSignal,
): Promise<EndpointAnswer> {
  /** Whether there was a connection to the endpoint that is being tried. */
  let hasLeft = false
  const sent = {
    path,
    json: JSON.stringify(body),
    ...(traceparent !== undefined && { traceparent }),
    onSent: () => {
      hasLeft = true
      onSent?.()
    },
  }
  const tried = new Set<Endpoint>()
  let refused: EndpointAnswer | null = null
  let hasResent = false
  while (tried.size < MAX_TRIES) {
    const endpoint = endpoints.choose(key, tried)
    if (endpoint === null) break
    tried.add(endpoint)
    endpoint.breaker.pass()
    hasLeft = false
    try {
      const answer = await endpoint.send(sent, signal)
      if (answer.kind === 'refused' && isFailure(answer.refusal.status))
        endpoint.breaker.recordFailure({ isAway: false })
      else endpoint.breaker.recordSuccess()
      if (answer.kind === 'answered' || !mayTryElsewhere(answer.refusal.status)) return answer
      refused = answer
    } catch (error) {
      if (signal.aborted || isClosed(error)) {
        endpoint.breaker.cancel()
        throw error
      }
      if (!hasResent && isStale(error)) {
        hasResent = true
        tried.delete(endpoint)
        endpoint.breaker.cancel()
      } else endpoint.breaker.recordFailure({ isAway: !hasLeft })
    }
  }
  if (refused !== null) return refused
  throw unavailable(tried.size === 0 ? 'none of its endpoints is up.' : 'its endpoints do not answer.')
}

/** A 500 may be the request's own fault: a client that repeats it must not take the endpoint from the others. Its probes tell more. */
function isFailure(status: number): boolean {
  return status > 501
}

function mayTryElsewhere(status: number): boolean {
  return status === 429 || (status >= 500 && status !== 501)
}

function isClosed(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'shutting_down'
}

function isStale(error: unknown): boolean {
  return error instanceof Error && 'code' in error && STALE_CODES.has(error.code)
}
