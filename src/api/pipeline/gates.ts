/**
 * The gates in front of every route, in the one order there is. A request passes them before its body is read, so
 * that a caller without a right to be here costs nothing:
 *
 *   received → address rules → firewall: not banned, no rule broken → proper HTTP → browser's origin → proper query
 *   → address limit → credential → not shutting down → rate and concurrency → body parsed → handler
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Credential } from '../../core/credential.ts'
import { ServiceError } from '../../core/errors.ts'
import { afterAnswer, type Answer } from '../../core/shared-state.ts'
import { bearerSecret, CREDENTIAL_FRESH_MS } from '../../net/requests/bearer-secret.ts'
import { addressKey } from '../../net/client-address.ts'
import { onExchangeEnd } from '../../net/connections/client-presence.ts'
import { findHeadProblem } from '../../net/requests/head-problem.ts'
import { decodePart } from '../../net/requests/request-target.ts'
import { toRateHeaders } from '../../limits/rate-headers.ts'
import { withoutRedaction } from '../../telemetry/log.ts'
import { RequestTimeline } from '../../telemetry/request-timeline.ts'
import { answerOrigin } from './cors.ts'
import type { AppDeps } from '../deps.ts'
import { passFirewall } from './firewall-hooks.ts'
import { endedStatus, logRequest } from './request-log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    timeline: RequestTimeline
    /** The client's address, for guards and limits; empty when the connection is gone already. */
    clientAddress: string
    /** The firewall's rule that refused it. */
    brokenRule: string | null
    /** Set on routes of class `key`; null before and on others. */
    optionalCredential: Credential | null
    /** @throws Error on a route that no key was asked for. */
    readonly credential: Credential
  }
}

/** Throws what the request is refused with; a gate that has answered by itself says so, and the way ends there. */
type Gate = (deps: AppDeps, request: FastifyRequest, reply: FastifyReply) => Answer<Passing>

type Passing = 'answered' | void

const GATES: readonly Gate[] = [
  receive,
  admitByAddressRules,
  passFirewall,
  requireProperHead,
  forgetTypeOfNoBody,
  admitOrigin,
  requireProperQuery,
  admitAddress,
  authenticate,
  refuseWhileDraining,
  admit,
]

export function registerPipeline(app: FastifyInstance, deps: AppDeps): void {
  app.decorateRequest('timeline')
  app.decorateRequest('clientAddress', '')
  app.decorateRequest('brokenRule', null)
  app.decorateRequest('optionalCredential', null)
  app.decorateRequest('credential', {
    getter(this: FastifyRequest): Credential {
      if (this.optionalCredential === null) throw new Error('This route asks for no key.')
      return this.optionalCredential
    },
  })
  const requestLog = withoutRedaction(deps.log)
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => {
      logRequest(requestLog, request, reply)
      countRequest(deps, request, reply)
    })
    for (const gate of GATES) {
      const passing = gate(deps, request, reply)
      // Most pass at once, and cost no turn.
      if ((passing instanceof Promise ? await passing : passing) === 'answered') return reply
    }
  })
  // Mostly there is nothing to wait for.
  app.addHook('preHandler', (request, _reply, done) =>
    isFresh(request) ? done() : authenticate(deps, request),
  )
}

function countRequest({ metrics }: AppDeps, request: FastifyRequest, reply: FastifyReply): void {
  const { method, routeOptions, timeline } = request
  metrics.observeRequest({ method, route: routeOptions.url ?? null, status: endedStatus(reply), timeline })
}

function receive(deps: AppDeps, request: FastifyRequest, reply: FastifyReply): void {
  request.timeline = new RequestTimeline(deps.clock)
  request.clientAddress = clientAddressOf(deps, request)
  reply.headers({
    'x-request-id': request.id,
    // Answers are for the one who asked, and some hold a secret. Files of the documentation say otherwise themselves.
    'cache-control': 'no-store',
    // What somebody made a model say must not become a page.
    'x-content-type-options': 'nosniff',
  })
}

export function clientAddressOf({ trustedProxies }: AppDeps, { raw }: FastifyRequest): string {
  const peerAddress = raw.socket.remoteAddress ?? ''
  // Node has joined all lines of the header, in their order.
  const forwardedFor = raw.headers['x-forwarded-for']?.toString()
  return trustedProxies?.clientAddress(peerAddress, forwardedFor) ?? peerAddress
}

/** Before all that a request could be told otherwise, for every route and for none. */
function admitByAddressRules({ addressRules, metrics }: AppDeps, { clientAddress }: FastifyRequest): void {
  const rule = addressRules?.refusedBy(clientAddress) ?? null
  if (rule === null) return
  metrics.countGuardHit({ guard: 'address', rule })
  throw new ServiceError('address_refused')
}

function requireProperHead(_deps: AppDeps, { raw }: FastifyRequest): void {
  const message = findHeadProblem(raw)
  if (message !== null) throw new ServiceError('malformed_request', { message })
}

/** An empty body counts as no body whatever its type (spec: decisions, Errors), even a type that is no type. */
function forgetTypeOfNoBody(_deps: AppDeps, { raw }: FastifyRequest): void {
  const { headers } = raw
  const length = headers['content-length']
  if (headers['transfer-encoding'] === undefined && (length === undefined || Number(length) === 0)) {
    delete headers['content-type']
  }
}

function admitOrigin(deps: AppDeps, request: FastifyRequest, reply: FastifyReply): Passing {
  return answerOrigin(deps.corsOrigins, request, reply) ? 'answered' : undefined
}

/** Of the path the router sees to it; in a query it would take what is no encoding for text. */
function requireProperQuery(_deps: AppDeps, { url }: FastifyRequest): void {
  const start = url.indexOf('?')
  if (start >= 0) decodePart(url.slice(start), 'query')
}

/** All but what tells whether the server is up: that is asked often, and from one address. */
function admitAddress(deps: AppDeps, request: FastifyRequest): Answer<void> {
  if (deps.addressLimiter === null || request.routeOptions.config.isProbe === true) return
  return afterAnswer(deps.addressLimiter.refuse(addressKey(request.clientAddress)), (error) => {
    if (error !== null) throw error
  })
}

async function authenticate(deps: AppDeps, request: FastifyRequest): Promise<void> {
  switch (request.routeOptions.config.access) {
    case 'public':
    // An unknown route has no class, and its answer is 404 for everyone.
    case undefined:
      return
    case 'key':
      request.optionalCredential = await deps.authenticator.authenticate(bearerSecret(request.headers))
      if (request.optionalCredential === null) throw new ServiceError('unauthorized')
      return
    case 'admin':
      if (deps.adminCheck === null) throw new ServiceError('admin_disabled')
      if (!deps.adminCheck(bearerSecret(request.headers))) throw new ServiceError('unauthorized')
  }
}

function isFresh({ optionalCredential, timeline }: FastifyRequest): boolean {
  return optionalCredential === null || timeline.elapsedMs() < CREDENTIAL_FRESH_MS
}

function refuseWhileDraining(deps: AppDeps, { routeOptions }: FastifyRequest): void {
  if (routeOptions.config.generates === true && deps.isDraining()) throw new ServiceError('shutting_down')
}

/** Decides rate and concurrency in one; the permit is held to the last byte, or until the client leaves. */
function admit(deps: AppDeps, request: FastifyRequest, reply: FastifyReply): Answer<void> {
  if (request.optionalCredential === null) return
  const countsAsConcurrent = request.routeOptions.config.generates === true
  return afterAnswer(deps.limiter.admit(request.optionalCredential, { countsAsConcurrent }), (admission) => {
    if (admission.rate !== null) reply.headers(toRateHeaders(admission.rate))
    if (admission.outcome === 'refused') throw admission.error
    if (countsAsConcurrent) onExchangeEnd(request.raw, reply.raw, () => admission.release())
  })
}
