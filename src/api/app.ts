/**
 * Puts the HTTP side together: pipeline, routes, errors. Builds and never listens; the caller owns the ports, the
 * registry behind it and the shutdown.
 */
import type { Socket } from 'node:net'
import Fastify, { LogController, type FastifyInstance } from 'fastify'
import { keepRequestId } from '../net/requests/request-id.ts'
import { requireDeclaredAccess } from './pipeline/access.ts'
import { registerBodyParsers } from './pipeline/body-parser.ts'
import { answerOddRequests, createClientErrorListener } from '../net/client-errors.ts'
import { holdContinue } from '../net/requests/expect-continue.ts'
import { guardConnections } from '../net/connections/guard-connections.ts'
import { HTTP_BOUNDS, serverOptions } from '../net/http-bounds.ts'
import { answerOrigin } from './pipeline/cors.ts'
import type { AppDeps } from './deps.ts'
import { registerErrorHandlers, sendError } from './pipeline/error-handler.ts'
import { installFirewallHooks } from './pipeline/firewall-hooks.ts'
import { registerPipeline } from './pipeline/gates.ts'
import { clientAddressOf } from './pipeline/request-context.ts'
import { registerAdminBanRoutes } from './routes/admin-bans.ts'
import { registerAdminKeyRoutes } from './routes/admin-keys.ts'
import { registerAdminModelRoutes } from './routes/admin-models.ts'
import { registerAdminUserRoutes } from './routes/admin-users.ts'
import { registerAuthRoutes } from './routes/auth.ts'
import { registerChatRoutes } from './routes/chat.ts'
import { registerDocsRoutes } from './routes/docs.ts'
import { registerGenerateRoutes } from './routes/generate.ts'
import { registerBatchRoutes } from './routes/batch.ts'
import { registerHealthRoutes } from './routes/health.ts'
import { registerKeyRoutes } from './routes/keys.ts'
import { registerMetricsRoutes } from './routes/metrics.ts'
import { registerModelRoutes } from './routes/models.ts'
import { registerUsageRoutes } from './routes/usage.ts'
import { validatorCompiler } from './schemas/validator.ts'

export function buildApp(deps: AppDeps): FastifyInstance {
  const bounds = { ...HTTP_BOUNDS, ...deps.httpBounds }
  const { firewall } = deps
  const isUnwelcome = ({ remoteAddress = '', bytesRead }: Socket) =>
    firewall?.judgeClientError(remoteAddress, bytesRead) ?? false
  const app = Fastify({
    logController: new LogController({ disableRequestLogging: true }),
    // Fastify sets these two itself, after the server is made.
    requestTimeout: bounds.requestTimeoutMs,
    keepAliveTimeout: bounds.keepAliveTimeoutMs,
    // Requests that still come in while the server closes get an answer of ours, not Fastify's.
    return503OnClosing: false,
    genReqId: ({ headers }) => keepRequestId(headers['x-request-id']),
    http: serverOptions(bounds),
    clientErrorHandler: createClientErrorListener(isUnwelcome),
    frameworkErrors: (thrown, request, reply) => {
      // No gate has seen this one.
      if (answerOrigin(deps.corsOrigins, request, reply)) return
      const send = (error: unknown) => sendError(error, { request, reply, log: deps.log })
      if (firewall === null) return send(thrown)
      const { url: target = '', rawHeaders } = request.raw
      const judging = firewall.judgeUnroutable({
        address: clientAddressOf(deps.trustedProxies, request),
        target,
        rawHeaders,
      })
      judging.then((refusal) => send(refusal?.error ?? thrown), send)
    },
  })
  answerOddRequests(app.server, isUnwelcome)
  holdContinue(app.server)
  guardConnections(app.server, bounds, (rule) => deps.metrics.countGuardHit({ guard: 'http', rule }))
  app.setValidatorCompiler(validatorCompiler)
  // Response schemas document and are checked by tests; checking each answer would cost more than making it.
  app.setSerializerCompiler(() => JSON.stringify)
  requireDeclaredAccess(app)
  registerErrorHandlers(app, deps.log)
  registerPipeline(app, deps)
  registerBodyParsers(app, firewall?.bodyLimit)
  if (firewall !== null) installFirewallHooks(app, firewall, deps.clock)
  registerDocsRoutes(app)
  // In a plugin of their own, so that the documentation is listening when they register.
  app.register(async (routes) => {
    registerHealthRoutes(routes, deps)
    registerMetricsRoutes(routes, deps)
    registerModelRoutes(routes, deps)
    registerGenerateRoutes(routes, deps)
    registerBatchRoutes(routes, deps)
    registerChatRoutes(routes, deps)
    registerAuthRoutes(routes, deps)
    registerKeyRoutes(routes, deps)
    registerUsageRoutes(routes, deps)
    registerAdminKeyRoutes(routes, deps)
    registerAdminUserRoutes(routes, deps)
    registerAdminModelRoutes(routes, deps)
    registerAdminBanRoutes(routes, deps)
  })
  return app
}
