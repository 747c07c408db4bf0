/**
 * One request from its head to its answer. It passes the gates before its body is read, so that a caller without a
 * right to be here costs nothing:
 *
 *   proper HTTP → route → key, unless the path is public → body → handler
 *                   └── none: a file of the static folder, or 404
 *
 * Every request gets exactly one answer, unless its client has left. What needs no waiting is answered in the same turn
 * of the event loop: for an answer as short as health's, waiting would be half of the work.
 */
import type { RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import type { Clock } from '../core/clock.ts'
import { ServiceError, toServiceError } from '../core/errors.ts'
import { CREDENTIAL_FRESH_MS } from '../net/bearer-secret.ts'
import { findHeadProblem } from '../net/head-problem.ts'
import { readJsonBody } from '../net/json-body.ts'
import { errorShapeOf, renderError } from '../net/render-error.ts'
import { splitTarget, toSegments, unknownRoute } from '../net/request-target.ts'
import { renderValue, sendAnswer, type Answer } from './answers.ts'
import { type KeyLookup, requireKey } from './bearer-keys.ts'
import type { Endpoints } from './endpoints.ts'
import { Exchange, type LightRequest } from './exchange.ts'
import type { OnError } from './light-options.ts'
import type { PathParams, Pattern } from './routing/path-pattern.ts'
import type { IsPublic } from './routing/public-paths.ts'
import type { RouteMatch, Router } from './routing/router.ts'
import type { StaticFiles } from './static/static-files.ts'

/**
 * Answers a request: what it returns, or what its promise resolves to, is sent as JSON with status 200. A ServiceError
 * that it throws becomes its answer, anything else a 500 with fixed text.
 */
export type Handler<P extends Pattern = Pattern> = (request: LightRequest<PathParams<P>>) => unknown

/** An endpoint's, which sees more than an application needs. */
export type EndpointHandler = (exchange: Exchange, endpoints: Endpoints) => unknown

export interface LightRoute {
  readonly handler: EndpointHandler
  /** Whether it needs no key; null where that depends on what is captured. */
  readonly isPublic: boolean | null
}

export interface RequestDeps {
  readonly router: Router<LightRoute>
  readonly isPublic: IsPublic
  readonly keys: KeyLookup | null
  readonly files: StaticFiles | null
  readonly endpoints: Endpoints
  readonly clock: Clock
  readonly isClosing: () => boolean
  /** Never throws. */
  readonly onError: OnError
}

export function createRequestListener(deps: RequestDeps): RequestListener {
  return (incoming, response) => {
    const exchange = new Exchange(incoming, response)
    try {
      const answer = handle(deps, exchange)
      if (answer instanceof Promise) void answerLater(deps, exchange, answer)
      else if (answer.body instanceof Readable) void answerLater(deps, exchange, Promise.resolve(answer))
      else void send(deps, exchange, answer)
    } catch (thrown) {
      void answerError(deps, exchange, thrown)
    }
  }
}

async function answerLater(deps: RequestDeps, exchange: Exchange, answer: Promise<Answer>): Promise<void> {
  try {
    await send(deps, exchange, await answer)
  } catch (thrown) {
    await answerError(deps, exchange, thrown)
  }
}

async function answerError(deps: RequestDeps, exchange: Exchange, thrown: unknown): Promise<void> {
  const error = toServiceError(thrown, exchange.requestId)
  if (error.status === 500 && !exchange.hasClientLeft) deps.onError(error.cause ?? error, exchange.requestId)
  // A file that breaks off under way cannot be answered for any more: only a broken connection says so.
  if (exchange.response.headersSent) return void exchange.response.destroy()
  // What follows on the connection belongs to nobody knows whom.
  if (error.code === 'malformed_request') exchange.response.setHeader('connection', 'close')
  const { requestId, url } = exchange
  await send(deps, exchange, renderError(error, { requestId, shape: errorShapeOf(url) }))
}

/** Undefined when there is nothing to wait for. */
function send(deps: RequestDeps, exchange: Exchange, answer: Answer): Promise<void> | undefined {
  // The client's own leaving is no error.
  if (exchange.hasClientLeft) {
    if (answer.body instanceof Readable) answer.body.destroy()
    return undefined
  }
  if (deps.isClosing()) exchange.response.setHeader('connection', 'close')
  return sendAnswer(exchange.response, answer)
}

function handle(deps: RequestDeps, exchange: Exchange): Answer | Promise<Answer> {
  const { incoming } = exchange
  const { method = '' } = incoming
  const { path, query } = splitTarget(exchange.url)
  const problem = findHeadProblem(incoming)
  if (problem !== null) throw new ServiceError('malformed_request', { message: problem })
  exchange.queryText = query
  const literal = deps.router.findLiteral(method, path)
  if (literal !== null) return enterRoute(deps, exchange, { match: literal, segments: null })
  const segments = toSegments(path)
  const match = deps.router.find(method, segments)
  return match === null
    ? answerFile(deps, exchange, { path, segments })
    : enterRoute(deps, exchange, { match, segments })
}

async function answerFile(
  { files }: RequestDeps,
  { incoming: { method = '' }, headers, requestId }: Exchange,
  { path, segments }: { readonly path: string; readonly segments: readonly string[] },
): Promise<Answer> {
  const file = files === null ? null : await files.answer({ method, segments, headers, requestId })
  if (file === null) throw unknownRoute(method, path)
  return file
}

interface EnteredRoute {
  readonly match: RouteMatch<LightRoute>
  /** Null of a route that was found by its whole path. */
  readonly segments: readonly string[] | null
}

/** Whatever else is sent as a body is ignored. */
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

function enterRoute(
  deps: RequestDeps,
  exchange: Exchange,
  { match: { target, params }, segments }: EnteredRoute,
): Answer | Promise<Answer> {
  const { method = '' } = exchange.incoming
  exchange.params = params
  const isPublic = target.isPublic ?? deps.isPublic(method, segments ?? [])
  const hasBody = METHODS_WITH_BODY.has(method)
  if (!isPublic || hasBody) return handleSlowly(deps, exchange, { target, isPublic, hasBody })
  const value = target.handler(exchange, deps.endpoints)
  return isPromise(value) ? renderLater(value, exchange) : renderValue(value, exchange)
}

interface SlowRoute {
  readonly target: LightRoute
  readonly isPublic: boolean
  readonly hasBody: boolean
}

async function handleSlowly(
  deps: RequestDeps,
  exchange: Exchange,
  { target, isPublic, hasBody }: SlowRoute,
): Promise<Answer> {
  const { clock, keys, endpoints } = deps
  if (!isPublic) exchange.credential = await requireKey(exchange.headers, keys)
  if (hasBody) {
    const startedMs = clock.nowMs()
    exchange.body = await readJsonBody(exchange.incoming)
    const isStale = exchange.credential !== null && clock.nowMs() - startedMs >= CREDENTIAL_FRESH_MS
    if (isStale) exchange.credential = await requireKey(exchange.headers, keys)
  }
  return renderValue(await target.handler(exchange, endpoints), exchange)
}

async function renderLater(value: PromiseLike<unknown>, exchange: Exchange): Promise<Answer> {
  return renderValue(await value, exchange)
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
