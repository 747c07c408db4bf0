/**
 * One request from its head to its answer. It passes the gates before its body is read, so that a caller without a
 * right to be here costs nothing:
 *
 *   proper HTTP → route → key, unless the path is public → body → handler
 *
 * Every request gets exactly one answer, unless its client has left.
 */
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { ServiceError, toServiceError } from '../core/errors.ts'
import { renderError } from '../http/render-error.ts'
import { keepRequestId } from '../http/request-id.ts'
import { renderValue, sendAnswer, type Answer, type RequestName } from './answers.ts'
import { requireKey } from './bearer-keys.ts'
import { watchClient } from '../http/client-presence.ts'
import { findHeadProblem } from '../http/head-problem.ts'
import { readJsonBody } from '../http/json-body.ts'
import { parseTarget, type PathParams, type Pattern } from './path-pattern.ts'
import type { IsPublic } from './public-paths.ts'
import type { Router } from './router.ts'

export interface LightRequest<Params = Readonly<Record<string, string>>> {
  /** What the pattern captured, percent-decoded. */
  readonly params: Params
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** The parsed JSON of a POST, PUT or PATCH; undefined when there is none. */
  readonly body: unknown
  /** As it goes back in `x-request-id`. */
  readonly requestId: string
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
}

/**
 * Answers a request: what it returns, or what its promise resolves to, is sent as JSON with status 200. A ServiceError
 * that it throws becomes its answer, anything else a 500 with fixed text.
 */
export type Handler<P extends Pattern = Pattern> = (request: LightRequest<PathParams<P>>) => unknown

/** Told what a 500 hides from the caller. */
export type OnError = (error: unknown, requestId: string) => void

export interface RequestDeps {
  readonly router: Router<Handler>
  readonly isPublic: IsPublic
  readonly isClosing: () => boolean
  readonly onError: OnError
}

export function createRequestListener(deps: RequestDeps): RequestListener {
  return (request, response) => void answerRequest(deps, request, response)
}

async function answerRequest(
  deps: RequestDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const name = { requestId: keepRequestId(request.headers['x-request-id']), url: request.url ?? '' }
  const signal = watchClient(request, response)
  const send = (answer: Answer): void => {
    // Nobody reads the answer of a client that has left, and its own leaving is no error.
    if (signal.aborted || response.destroyed) return
    if (deps.isClosing()) response.setHeader('connection', 'close')
    sendAnswer(response, answer)
  }
  try {
    send(renderValue(await handle(deps, request, { ...name, signal }), name))
  } catch (thrown) {
    const error = toServiceError(thrown, name.requestId)
    // What follows on the connection belongs to nobody knows whom.
    if (error.code === 'malformed_request' && !response.headersSent) response.setHeader('connection', 'close')
    send(renderError(error, name))
    if (error.status === 500 && !signal.aborted) deps.onError(error.cause ?? error, name.requestId)
  }
}

/** Whatever else is sent as a body is ignored. */
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

async function handle(
  { router, isPublic }: RequestDeps,
  request: IncomingMessage,
  { requestId, url, signal }: RequestName & { readonly signal: AbortSignal },
): Promise<unknown> {
  const { method = '', headers } = request
  const { path, segments, query } = parseTarget(url)
  const problem = findHeadProblem(request)
  if (problem !== null) throw new ServiceError('malformed_request', { message: problem })
  const match = router.find(method, segments)
  if (match === null) throw new ServiceError('not_found', { method, path: shorten(path) })
  if (!isPublic(method, segments)) requireKey(headers)
  const body = METHODS_WITH_BODY.has(method) ? await readJsonBody(request) : undefined
  return await match.target({ params: match.params, query, headers, body, requestId, signal })
}

const MAX_SHOWN_CHARACTERS = 200

function shorten(path: string): string {
  return path.length > MAX_SHOWN_CHARACTERS ? `${path.slice(0, MAX_SHOWN_CHARACTERS)}…` : path
}
