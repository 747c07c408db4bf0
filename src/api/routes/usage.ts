/** `GET /v1/usage`: what the caller's account has used; `GET /v1/admin/usage`: what all have. */
import type { FastifyInstance } from 'fastify'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import {
  detailedUsage,
  toDetailedUsageBody,
  toUsageBody,
  usageQuery,
  usageSummary,
} from '../schemas/usage.ts'

export function registerUsageRoutes(
  app: FastifyInstance,
  { usageReports }: Pick<AppDeps, 'usageReports'>,
): void {
  addRoute(app, 'GET /v1/usage', {
    operationId: 'getUsage',
    summary: "Usage of all the account's keys, revoked ones too",
    tag: 'Usage',
    access: 'key',
    query: usageQuery,
    ok: usageSummary,
    errors: [400, 401, 429, 500],
    handler: async ({ context, query }) =>
      toUsageBody(await usageReports.ofAccount(context.credential.accountId, query.since ?? null)),
  })

  addRoute(app, 'GET /v1/admin/usage', {
    operationId: 'getTotalUsage',
    summary: 'Usage of all accounts',
    tag: 'Admin',
    access: 'admin',
    query: usageQuery,
    ok: detailedUsage,
    errors: [400, 401, 429, 500],
    handler: async ({ query }) => toDetailedUsageBody(await usageReports.total(query.since ?? null)),
  })
}
