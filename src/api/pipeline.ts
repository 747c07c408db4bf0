/**
 * The gates in front of every route, in the one order there is. A request passes them before its body is read, so
 * that a caller without a right to be here costs nothing:
 *
 *   received → proper HTTP → credential → not shutting down → (limits) → body parsed → handler
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Credential } from '../accounts/authenticator.ts'
import { ServiceError } from '../core/errors.ts'
import { withoutRedaction } from '../telemetry/log.ts'
import { RequestTimeline } from '../telemetry/request-timeline.ts'
import type { AppDeps } from './deps.ts'
import { logRequest } from './request-log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    timeline: RequestTimeline
    /** Set on routes of class `key`; null before and on others. */
    optionalCredential: Credential | null
    /** @throws Error on a route that no key was asked for. */
    readonly credential: Credential
  }
}

type Gate = (deps: AppDeps, request: FastifyRequest, reply: FastifyReply) => void | Promise<void>

const GATES: readonly Gate[] = [receive, requireHost, forgetTypeOfNoBody, authenticate, refuseWhileDraining]

export function registerPipeline(app: FastifyInstance, deps: AppDeps): void {
  app.decorateRequest('timeline')
  app.decorateRequest('optionalCredential', null)
  app.decorateRequest('credential', {
    getter(this: FastifyRequest): Credential {
      if (this.optionalCredential === null) throw new Error('This route asks for no key.')
      return this.optionalCredential
    },
  })
  const requestLog = withoutRedaction(deps.log)
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => logRequest(requestLog, request, reply))
    for (const gate of GATES) {
      const passing = gate(deps, request, reply)
      if (passing !== undefined) await passing
    }
  })
}

function receive(deps: AppDeps, request: FastifyRequest, reply: FastifyReply): void {
  request.timeline = new RequestTimeline(deps.clock)
  reply.header('x-request-id', request.id)
}

/** Node's own check, which answers without a body, is switched off for this one. */
function requireHost(_deps: AppDeps, { raw }: FastifyRequest): void {
  if (raw.httpVersion === '1.1' && raw.headers.host === undefined) {
    throw new ServiceError('malformed_request', { message: 'it has no Host header.' })
  }
}

/** An empty body counts as no body whatever its type (spec: decisions, Errors), even a type that is no type. */
function forgetTypeOfNoBody(_deps: AppDeps, { raw }: FastifyRequest): void {
  const { headers } = raw
  const length = headers['content-length']
  if (headers['transfer-encoding'] === undefined && (length === undefined || Number(length) === 0)) {
    delete headers['content-type']
  }
}

async function authenticate(deps: AppDeps, request: FastifyRequest): Promise<void> {
  switch (request.routeOptions.config.access) {
    case 'public':
    // An unknown route has no class, and its answer is 404 for everyone.
    case undefined:
      return
    case 'key':
      request.optionalCredential = await deps.authenticator.authenticate(bearerSecret(request))
      if (request.optionalCredential === null) throw new ServiceError('unauthorized')
      return
    case 'admin':
      throw new ServiceError('admin_unauthorized', { message: 'The admin API is not available.' })
  }
}

function bearerSecret({ headers }: FastifyRequest): string | null {
  const [, secret] = /^bearer +(\S.*)$/i.exec(headers.authorization ?? '') ?? []
  // Node reads header bytes as Latin-1, clients write UTF-8.
  return secret === undefined ? null : Buffer.from(secret.trimEnd(), 'latin1').toString('utf8')
}

function refuseWhileDraining(deps: AppDeps, { routeOptions }: FastifyRequest): void {
  if (routeOptions.config.generates === true && deps.isDraining()) throw new ServiceError('shutting_down')
}
