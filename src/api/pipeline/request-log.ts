/** The one line a request leaves in the log when it is over. Never its text: no prompts, outputs, keys or addresses. */
import { CLIENT_GONE_STATUS } from '../../net/connections/client-presence.ts'
import type { Log } from '../../telemetry/log.ts'
import type { RequestContext } from './request-context.ts'

/** The same question as in `client-presence.ts`: was the answer written before the connection closed? */
export function endedStatus({ reply: { raw } }: RequestContext): number {
  return raw.writableEnded ? raw.statusCode : CLIENT_GONE_STATUS
}

export function logRequest(log: Log, context: RequestContext): void {
  const { optionalCredential, brokenRule, timeline } = context
  log.info(
    {
      requestId: context.requestId,
      method: context.request.method,
      // The pattern, not the path: a path may hold pasted secrets.
      route: context.routePath,
      status: endedStatus(context),
      ...(optionalCredential && { key: optionalCredential.keyId }),
      ...(brokenRule !== null && { rule: brokenRule }),
      ms: Math.round(timeline.elapsedMs() * 10) / 10,
      ...timeline.summary(),
    },
    'request',
  )
}
