/**
 * Handles one request from its head to its answer. The checks run before the body is read, so that an unauthorized
 * caller costs little:
 *
 *   proper HTTP → route → key, unless the path is public → body → handler
 *                   └── none: a file of the static folder, or 404
 *
 * Every request gets exactly one answer, unless its client has left.
 */
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import type { Clock } from '../core/clock.ts'
import type { Credential } from '../core/credential.ts'
import { ServiceError, toServiceError } from '../core/errors.ts'
import { CREDENTIAL_FRESH_MS, findHeadProblem, keySecret } from '../net/requests/request-head.ts'
import { addressKey } from '../net/client-address.ts'
import type { BodyBudget } from '../net/requests/body-budget.ts'
import { parseJsonBody } from '../net/requests/json-body.ts'
import { bodyLimit, MAX_BODY_BYTES, readBody } from '../net/requests/read-body.ts'
import { errorShapeOf, renderError } from '../net/render-error.ts'
import { meantPath } from '../net/requests/meant-path.ts'
import { splitTarget, toSegments, unknownRoute } from '../net/requests/request-target.ts'
import { type LightAnswer, renderValue, sendAnswer } from './answers.ts'
import type { Endpoints } from './endpoints.ts'
import { Exchange, type LightRequest } from './exchange.ts'
import type { OnError } from './light-options.ts'
import type { IsPublic, PathParams, Pattern } from './routing/path-pattern.ts'
import type { Router } from './routing/router.ts'
import { findFile } from './static/static-files.ts'

/**
 * Answers a request: what it returns, or what its promise resolves to, is sent as JSON with status 200. A ServiceError
 * that it throws becomes its answer, anything else a 500 with fixed text.
 */
export type Handler<P extends Pattern = Pattern> = (request: LightRequest<PathParams<P>>) => unknown

/** The handler of an endpoint. */
export type EndpointHandler = (exchange: Exchange, endpoints: Endpoints) => unknown

const KEY_FORM = /^sk-svc-\S+$/

/** Looks up keys and login tokens of a key database. */
export interface KeyLookup {
  /** Null for a key that is unknown, revoked or expired. @throws when it cannot be looked up. */
  authenticate(secret: string): Promise<Credential | null>
  close(): Promise<void>
}

export interface RequestDeps {
  readonly router: Router<EndpointHandler>
  readonly isPublic: IsPublic
  readonly keys: KeyLookup | null
  readonly endpoints: Endpoints
  readonly bodyBudget: BodyBudget
  /** The folder of the static files. */
  readonly root: string | null
  readonly clock: Clock
  readonly isClosing: () => boolean
  /** Never throws. */
  readonly onError: OnError
}

export function createRequestListener(deps: RequestDeps): RequestListener {
  return (incoming, response) => void respond(deps, new Exchange(incoming, response))
}

async function respond(deps: RequestDeps, exchange: Exchange): Promise<void> {
  try {
    await send(deps, exchange, await findAnswer(deps, exchange))
  } catch (thrown) {
    await sendError(deps, exchange, thrown)
  } finally {
    exchange.bodyHold?.[Symbol.dispose]()
  }
}

async function findAnswer(deps: RequestDeps, exchange: Exchange): Promise<LightAnswer> {
  const { method } = exchange
  const { path, query } = splitTarget(exchange.url)
  const problem = findHeadProblem(exchange.incoming)
  if (problem !== null) throw new ServiceError('malformed_request', { message: problem })
  exchange.queryText = query
  const match = deps.router.find(method, path)
  if (match === null) {
    const file = deps.root === null ? null : await findFile(deps.root, exchange, toSegments(path))
    if (file === null) throw unknownRoute(method, path, meantRoute(deps, method, path))
    return file
  }
  exchange.params = match.params
  const isPublic = deps.isPublic(method, match.segments)
  if (!isPublic) exchange.credential = await requireKey(exchange.headers, deps.keys)
  if (METHODS_WITH_BODY.has(method)) await receiveBody(deps, exchange)
  return renderValue(await match.target(exchange, deps.endpoints), exchange)
}

function meantRoute({ router }: RequestDeps, method: string, path: string): string | null {
  const has = (candidate: string) => router.find(method, candidate) !== null
  return meantPath(path, { has, literals: router.literalPaths(method) })
}

/** The bodies of other methods are ignored. */
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

const LIMIT = bodyLimit(MAX_BODY_BYTES)

async function receiveBody({ bodyBudget, clock, keys }: RequestDeps, exchange: Exchange): Promise<void> {
  const startedMs = clock.nowMs()
  const { headers, incoming } = exchange
  const openHold = () =>
    (exchange.bodyHold = bodyBudget.open(addressKey(incoming.socket.remoteAddress ?? '')))
  const body = await readBody(incoming, { headers, limit: LIMIT, openHold })
  if (body.length > 0) exchange.body = await parseJsonBody(body, headers)
  const isFresh = clock.nowMs() - startedMs < CREDENTIAL_FRESH_MS
  if (exchange.credential !== null && !isFresh) exchange.credential = await requireKey(exchange.headers, keys)
}

async function sendError(deps: RequestDeps, exchange: Exchange, thrown: unknown): Promise<void> {
  const error = toServiceError(thrown, exchange.requestId)
  if (error.status === 500 && !exchange.hasClientLeft) deps.onError(error.cause ?? error, exchange.requestId)
  // The head of a file's answer is sent already: only a broken connection can report the error.
  if (exchange.response.headersSent) return void exchange.response.destroy()
  // The bytes that follow on the connection may not be a request.
  if (error.code === 'malformed_request') exchange.response.setHeader('connection', 'close')
  const { requestId, url } = exchange
  await send(deps, exchange, renderError(error, { requestId, shape: errorShapeOf(url) }))
}

/** Undefined when there is nothing to wait for. */
function send(deps: RequestDeps, exchange: Exchange, answer: LightAnswer): Promise<void> | undefined {
  // A client that disconnects is no error.
  if (exchange.hasClientLeft) {
    if (typeof answer.body !== 'string') answer.body.stream.destroy()
    return undefined
  }
  if (deps.isClosing()) exchange.response.setHeader('connection', 'close')
  return sendAnswer(exchange.response, answer)
}

/**
 * Null without a key database, the only source of a key's owner.
 * @throws ServiceError `unauthorized` unless the request carries a valid key.
 */
async function requireKey(
  headers: IncomingHttpHeaders,
  lookup: KeyLookup | null,
): Promise<Credential | null> {
  const key = keySecret(headers)
  if (key === null || !KEY_FORM.test(key)) throw new ServiceError('unauthorized')
  const credential = await lookup?.authenticate(key)
  if (credential === null) throw new ServiceError('unauthorized')
  return credential ?? null
}
