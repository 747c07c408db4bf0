/**
 * One request from its head to its answer. It passes the gates before its body is read, so that a caller without a
 * right to be here costs nothing:
 *
 *   proper HTTP → route → key, unless the path is public → body → handler
 *                   └── none: a file of the static folder, or 404
 *
 * Every request gets exactly one answer, unless its client has left.
 */
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Clock } from '../core/clock.ts'
import type { Credential } from '../core/credential.ts'
import { ServiceError, toServiceError } from '../core/errors.ts'
import { watchClient } from '../http/client-presence.ts'
import { readJsonBody } from '../http/json-body.ts'
import { renderError } from '../http/render-error.ts'
import { keepRequestId } from '../http/request-id.ts'
import { renderValue, sendAnswer, type Answer, type RequestName } from './answers.ts'
import { type KeyLookup, requireKey } from './bearer-keys.ts'
import type { OnError } from './light-options.ts'
import { parseTarget, type PathParams, type Pattern } from './path-pattern.ts'
import type { IsPublic } from './public-paths.ts'
import type { Router } from './router.ts'
import type { StaticFiles } from './static-files.ts'

export interface LightRequest<Params = Readonly<Record<string, string>>> {
  /** What the pattern captured, percent-decoded. */
  readonly params: Params
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** The parsed JSON of a POST, PUT or PATCH; undefined when there is none. */
  readonly body: unknown
  /** Whose key it is; null on a public path and without a key database. */
  readonly credential: Credential | null
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

export interface RequestDeps {
  readonly router: Router<Handler>
  readonly isPublic: IsPublic
  readonly keys: () => KeyLookup | null
  readonly files: StaticFiles | null
  readonly clock: Clock
  readonly isClosing: () => boolean
  /** Never throws. */
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
  const send = async (answer: Answer): Promise<void> => {
    // Nobody reads the answer of a client that has left, and its own leaving is no error.
    if (signal.aborted || response.destroyed) {
      if (answer.body instanceof Readable) answer.body.destroy()
      return
    }
    if (deps.isClosing()) response.setHeader('connection', 'close')
    await sendAnswer(response, answer)
  }
  try {
    await send(await handle(deps, request, { ...name, signal }))
  } catch (thrown) {
    const error = toServiceError(thrown, name.requestId)
    if (error.status === 500 && !signal.aborted) deps.onError(error.cause ?? error, name.requestId)
    // A file that breaks off under way cannot be answered for any more: only a broken connection says so.
    if (response.headersSent) return void response.destroy()
    await send(withoutCaching(renderError(error, name)))
  }
}

function withoutCaching(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } }
}

/** Whatever else is sent as a body is ignored. */
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

async function handle(
  { router, isPublic, keys, files, clock }: RequestDeps,
  request: IncomingMessage,
  name: RequestName & { readonly signal: AbortSignal },
): Promise<Answer> {
  const { requestId, url, signal } = name
  const { method = '', headers } = request
  const { path, segments, query } = parseTarget(url)
  // Node's own check, which answers without a body, is switched off for this one.
  if (request.httpVersion === '1.1' && headers.host === undefined) {
    throw new ServiceError('malformed_request', { message: 'it has no Host header.' })
  }
  const match = router.find(method, segments)
  if (match === null) {
    const file = files === null ? null : await files.answer({ method, segments, headers, requestId })
    if (file === null) throw new ServiceError('not_found', { method, path: shorten(path) })
    return file
  }
  const needsKey = !isPublic(method, segments)
  let credential = needsKey ? await requireKey(headers, keys()) : null
  const receivedMs = clock.nowMs()
  const body = METHODS_WITH_BODY.has(method) ? await readJsonBody(request) : undefined
  if (credential !== null && clock.nowMs() - receivedMs >= FRESH_MS) {
    credential = await requireKey(headers, keys())
  }
  const value = await match.target({
    params: match.params,
    query,
    headers,
    body,
    credential,
    requestId,
    signal,
  })
  return renderValue(value, name)
}

/** A body may take its time; by then the key may be revoked. */
const FRESH_MS = 100

const MAX_SHOWN_CHARACTERS = 200

function shorten(path: string): string {
  return path.length > MAX_SHOWN_CHARACTERS ? `${path.slice(0, MAX_SHOWN_CHARACTERS)}…` : path
}
