/**
 * Builds the HTTP application: pipeline, routes, errors. Never listens; the caller owns the ports, the registry and the
 * shutdown.
 */
import type { Socket } from 'node:net'
import Fastify, { LogController, type FastifyInstance } from 'fastify'
import type { Clock } from '../core/clock.ts'
import { InvariantError } from '../core/errors.ts'
import type { Firewall } from '../guards/firewall/firewall.ts'
import { keepRequestId } from '../net/requests/request-head.ts'
import { requireDeclaredAccess } from './pipeline/access.ts'
import { answerOddRequests, createClientErrorListener } from '../net/client-errors.ts'
import { holdContinue } from '../net/requests/read-body.ts'
import { guardConnections } from '../net/connections/guard-connections.ts'
import { limitAddressConnections } from '../net/connections/limit-address-connections.ts'
import { HTTP_BOUNDS, MAX_HEAD_BYTES, serverOptions } from '../net/http-bounds.ts'
import { answerOrigin } from './pipeline/cors.ts'
import type { AppDeps } from './deps.ts'
import { registerConsoleRoutes } from './console/console-routes.ts'
import { auditActions } from './pipeline/audit.ts'
import { registerBodyParsers } from './pipeline/body-parser.ts'
import { registerErrorHandlers, sendError } from './pipeline/error-handler.ts'
import { registerPipeline } from './pipeline/gates.ts'
import { namePlugin } from './pipeline/name-plugin.ts'
import { clientAddressOf } from './pipeline/request-context.ts'
import { registerAdminAuditRoutes } from './routes/admin-audit.ts'
import { registerAdminBanRoutes } from './routes/admin-bans.ts'
import { registerAdminKeyRoutes } from './routes/admin-keys.ts'
import { registerAdminModelRoutes } from './routes/admin-models.ts'
import { registerAdminTeamRoutes } from './routes/admin-teams.ts'
import { registerAdminUserRoutes } from './routes/admin-users.ts'
import { registerInvitationRoutes } from './routes/admin/invitations.ts'
import { registerStatusRoutes } from './routes/admin/status.ts'
import { registerAuthRoutes } from './routes/auth.ts'
import { registerChatRoutes } from './routes/chat.ts'
import { registerCompletionRoutes } from './routes/completions.ts'
import { registerDocsRoutes } from './routes/docs.ts'
import { registerEmbeddingRoutes } from './routes/embeddings.ts'
import { registerGenerateRoutes } from './routes/generate.ts'
import { registerKeyRoutes } from './routes/keys.ts'
import { registerMessageRoutes } from './routes/messages.ts'
import { registerModelRoutes } from './routes/models.ts'
import { registerResponsesRoutes } from './routes/responses.ts'
import { registerSessionRoutes } from './routes/sessions.ts'
import { registerServiceRoutes } from './routes/service.ts'
import { registerTokenRoutes } from './routes/tokens.ts'
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
    // Requests that arrive while the server closes get this server's error body, not Fastify's.
    return503OnClosing: false,
    genReqId: ({ headers }) => keepRequestId(headers['x-request-id']),
    http: serverOptions(bounds),
    // An id of any length is one that nobody has, and no other path: the length of a head bounds it.
    routerOptions: { maxParamLength: MAX_HEAD_BYTES },
    // Those that are set below; without any here Fastify loads its own first.
    schemaController: { compilersFactory: { buildValidator: refuse, buildSerializer: refuse } },
    clientErrorHandler: createClientErrorListener(isUnwelcome),
    frameworkErrors: (thrown, request, reply) => {
      // These requests pass no gate.
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
  auditActions(app, deps.auditLog)
  registerBodyParsers(app, firewall?.bodyLimit ?? null)
  if (firewall !== null) installFirewallHooks(app, firewall, deps.clock)
  registerDocsRoutes(app)
  // In a plugin of their own, so that the documentation is listening when they register.
  app.register(namePlugin('routes', async (routes) => registerRoutes(routes, deps)))
  return app
}

function refuse(): never {
  throw new InvariantError('Fastify made a compiler of its own.')
}

function registerRoutes(app: FastifyInstance, deps: AppDeps): void {
  registerServiceRoutes(app, deps)
  registerConsoleRoutes(app, deps)
  registerModelRoutes(app, deps)
  registerGenerateRoutes(app, deps)
  registerChatRoutes(app, deps)
  registerResponsesRoutes(app, deps)
  registerEmbeddingRoutes(app, deps)
  registerCompletionRoutes(app, deps)
  registerMessageRoutes(app, deps)
  registerTokenRoutes(app, deps)
  registerAuthRoutes(app, deps)
  registerSessionRoutes(app, deps)
  registerKeyRoutes(app, deps)
  registerUsageRoutes(app, deps)
  registerAdminKeyRoutes(app, deps)
  registerAdminUserRoutes(app, deps)
  registerAdminTeamRoutes(app, deps)
  registerInvitationRoutes(app, deps)
  registerStatusRoutes(app, deps)
  registerAdminAuditRoutes(app, deps)
  registerAdminModelRoutes(app, deps)
  registerAdminBanRoutes(app, deps)
}

/** What the firewall does beside its gate: limits the connections of each address and counts refused requests. */
function installFirewallHooks(app: FastifyInstance, firewall: Firewall, clock: Clock): void {
  limitAddressConnections(app.server, {
    clock,
    isExempt: (address) => firewall.isExempt(address),
    onCut: (rule) => firewall.countHit(rule),
  })
  app.addHook('onSend', async ({ context }, reply) => {
    const code = reply.getHeader('x-error-code')?.toString()
    await firewall.recordAnswer(context.clientAddress, reply.statusCode, code)
  })
}
