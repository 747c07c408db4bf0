/**
 * Audits every route of the admin that changes something: its handler runs inside a record of the audit log. A request that is
 * refused before, for its key, its query or its body, does nothing and leaves no record.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { AuditLog } from '../../accounts/audit-log.ts'
import { InvariantError } from '../../core/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The name of the action, such as `key.revoke`. */
    readonly audit?: string | undefined
  }
}

/** They change nothing (RFC 9110, 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Before any route is registered. @throws InvariantError for such a route without the name of its action */
export function auditActions(app: FastifyInstance, auditLog: AuditLog): void {
  app.addHook('onRoute', (route) => {
    const { access, audit } = route.config ?? {}
    const changes = [route.method].flat().some((method) => !SAFE_METHODS.has(method))
    if (access !== 'admin' || !changes) return
    if (audit === undefined) throw new InvariantError(`${route.url} has no name in the audit log.`)
    route.handler = audited(route.handler, { auditLog, action: audit })
  })
}

function audited(
  handler: RouteHandlerMethod,
  { auditLog, action }: { readonly auditLog: AuditLog; readonly action: string },
): RouteHandlerMethod {
  return function (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
    const { context, query, body } = request
    const details = { ...(query as object), ...(body as object | undefined) }
    const { requestId } = context
    return auditLog.record(
      { actor: context.adminActor, action, details, requestId, target: () => context.auditTarget },
      () => handler.call(this, request, reply),
    )
  }
}
