/** The one line a request leaves in the log when it is over. Never its text: no prompts, outputs, keys or addresses. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CLIENT_GONE_STATUS } from '../../net/connections/client-presence.ts'
import type { Log } from '../../telemetry/log.ts'

/** The same question as in `client-presence.ts`: was the answer written before the connection closed? */
export function endedStatus({ raw }: FastifyReply): number {
  return raw.writableEnded ? raw.statusCode : CLIENT_GONE_STATUS
}

export function logRequest(log: Log, request: FastifyRequest, reply: FastifyReply): void {
  log.info(
    {
      requestId: request.id,
      method: request.method,
      // The pattern, not the path: a path may hold what somebody pasted into it.
      route: request.routeOptions.url ?? null,
      status: endedStatus(reply),
      ...(request.optionalCredential && { key: request.optionalCredential.keyId }),
      ...(request.brokenRule !== null && { rule: request.brokenRule }),
      ms: Math.round(request.timeline.elapsedMs() * 10) / 10,
      ...request.timeline.summary(),
    },
    'request',
  )
}
