/**
 * Turns whatever was thrown, by us, by Fastify or by a library, into the error that is answered. Below 500 the
 * message goes out; at 500 the text is fixed and the cause goes to the log with the request id.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RequestContext } from './request-context.ts'
import { type ErrorCode, ServiceError, toServiceError } from '../../core/errors.ts'
import { type Log, logCause } from '../../telemetry/log.ts'
import { type AnyErrorShape, errorShapeOf, renderError } from '../../net/render-error.ts'
import { meantPath } from '../../net/requests/meant-path.ts'
import { badEncoding, unknownRoute } from '../../net/requests/request-target.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Of each method, the paths of routes without captures. */
    readonly literalPaths: Map<string, string[]>
  }
}

/** Before any route is registered. */
export function registerErrorHandlers(app: FastifyInstance, log: Log): void {
  app.decorate('literalPaths', new Map<string, string[]>())
  app.addHook('onRoute', ({ method, url }) => {
    if (/[:*]/.test(url)) return
    for (const one of [method].flat()) app.literalPaths.set(one, [...(app.literalPaths.get(one) ?? []), url])
  })
  app.setErrorHandler((thrown, request, reply) => {
    // The client has left: an answer would not be read, and leaving is no error.
    if (reply.raw.destroyed || request.raw.socket.destroyed) return void reply.hijack()
    sendError(thrown, { request, reply, log })
  })
  app.setNotFoundHandler((request, reply) => {
    sendError(notFound(request), { request, reply, log })
  })
}

interface ErrorContext {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly log: Log
}

/** After these nothing more is read from the connection: it is unwelcome, or what follows may be no request. */
const CLOSING_CODES: ReadonlySet<ErrorCode> = new Set([
  'address_banned',
  'malformed_request',
  'shutting_down',
])

export function sendError(thrown: unknown, { request, reply, log }: ErrorContext): void {
  const error = toRequestError(thrown, request)
  logCause(error, request.id, log)
  // Refused before its handler ran, which would give its permit back; the client may ask again as soon as it has read this.
  const { context } = request as { readonly context?: RequestContext }
  if (context?.isHandled === false) context.releasePermit()
  const { status, headers, body } = renderError(error, { requestId: request.id, shape: shapeFor(request) })
  if (CLOSING_CODES.has(error.code)) reply.header('connection', 'close')
  // Fastify closes the connection after every body that is refused; with the rest still on the way its sender would lose
  // the answer.
  else if (!request.raw.complete) reply.removeHeader('connection')
  // Straight to a string: what is thrown before a route is found has no serializer of ours.
  reply.code(status).headers(headers).serializer(String).send(body)
}

/** Some routes serve several dialects, and a path that there is not has none: Anthropic's clients tell by a header who they are. */
function shapeFor({ routeOptions, url, headers, is404 }: FastifyRequest): AnyErrorShape {
  const shape = routeOptions.config.errorShape ?? errorShapeOf(url)
  const isAnthropic = headers['anthropic-version'] !== undefined
  return isAnthropic && (shape !== 'plain' || is404) ? 'anthropic' : shape
}

function toRequestError(thrown: unknown, request: FastifyRequest): ServiceError {
  if (thrown instanceof ServiceError || !isFrameworkError(thrown)) return toServiceError(thrown, request.id)
  if (thrown.code === 'FST_ERR_BAD_URL') return badEncoding('path')
  // Fastify checks methods and types before it reports an unknown route.
  if (request.is404) return notFound(request)
  return thrown.statusCode < 500
    ? new ServiceError('malformed_request', { message: thrown.message })
    : toServiceError(thrown, request.id)
}

function notFound({ method, server, url }: FastifyRequest): ServiceError {
  const path = url.split('?', 1)[0] ?? ''
  const routes = {
    has: (candidate: string) => server.findRoute({ method, url: candidate }) !== null,
    literals: server.literalPaths.get(method) ?? [],
  }
  return unknownRoute(method, path, meantPath(path, routes))
}

interface FrameworkError extends Error {
  readonly code?: string
  readonly statusCode: number
}

/** Errors of Fastify and of its plugins about the request itself, as opposed to whatever a library may throw. */
function isFrameworkError(thrown: unknown): thrown is FrameworkError {
  if (!(thrown instanceof Error) || !('statusCode' in thrown) || typeof thrown.statusCode !== 'number')
    return false
  return (
    ('code' in thrown && String(thrown.code).startsWith('FST_')) ||
    ('expose' in thrown && thrown.expose === true)
  )
}
