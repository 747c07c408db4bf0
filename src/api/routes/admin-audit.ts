/** `GET /v1/admin/audit`: who did what as the admin, for the holder of the admin key. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { AuditRecord } from '../../storage/audit-repository.ts'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import {
  nextCursor,
  pageQuery,
  queryText,
  requireSpan,
  since,
  toListing,
  toPage,
  until,
} from '../schemas/query.ts'

const auditRecord = z
  .object({
    id: z.string(),
    created_at: z.number().describe('Unix seconds.'),
    actor: z.string().describe('`admin`, or `command-line:` and the name of the user of the system.'),
    action: z.string().describe('Such as `key.revoke`.'),
    target: z.string().nullable().describe('The id that it is about.'),
    details: z.record(z.string(), z.unknown()).describe('What was asked for, without secrets.'),
    status: z.int().nullable().describe('Of its answer; null of an action that was cut off.'),
    request_id: z.string().nullable(),
  })
  .meta({ id: 'AuditRecord' })

const auditList = z
  .object({ records: z.array(auditRecord), count: z.int(), next_cursor: nextCursor() })
  .meta({ id: 'AuditList' })

const auditQuery = pageQuery.extend({
  since: since(),
  until: until(),
  action: queryText('the name of an action').optional().describe('Only these, such as `key.revoke`.'),
})

export function registerAdminAuditRoutes(
  app: FastifyInstance,
  { auditLog }: Pick<AppDeps, 'auditLog'>,
): void {
  addRoute(app, 'GET /v1/admin/audit', {
    operationId: 'listAuditRecords',
    summary: 'What was done as the admin, oldest first',
    tag: 'Admin',
    access: 'admin',
    query: auditQuery,
    ok: auditList,
    handler: async ({ query }) => {
      requireSpan(query)
      const filter = {
        sinceUnixSeconds: query.since ?? null,
        untilUnixSeconds: query.until ?? null,
        action: query.action ?? null,
      }
      const page = await auditLog.list(filter, toPage(query))
      return { records: page.items.map(toBody), count: page.count, ...toListing(query, page) }
    },
  })
}

function toBody(record: AuditRecord): z.output<typeof auditRecord> {
  const { id, createdAtUnixSeconds, actor, action, target, details, status, requestId } = record
  return {
    ...{ id, created_at: createdAtUnixSeconds, actor, action, target },
    ...{ details: JSON.parse(details) as Record<string, unknown>, status, request_id: requestId },
  }
}
