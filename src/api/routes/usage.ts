/** `GET /v1/usage`: what the caller's account has used; `GET /v1/admin/usage`: what all have. */
import type { AppDeps } from '../deps.ts'
import { describeRoute, type RouteApp } from '../openapi/describe-route.ts'
import {
  detailedUsage,
  toDetailedUsageBody,
  toUsageBody,
  usageQuery,
  usageSummary,
} from '../schemas/usage.ts'

export function registerUsageRoutes(app: RouteApp, { usageReports }: Pick<AppDeps, 'usageReports'>): void {
  app.route({
    method: 'GET',
    url: '/v1/usage',
    ...describeRoute({
      operationId: 'getUsage',
      summary: "Usage of all the account's keys, revoked ones too",
      tag: 'Usage',
      access: 'key',
      query: usageQuery,
      ok: usageSummary,
      errors: [400, 401, 429, 500],
    }),
    handler: async ({ context, query }) =>
      toUsageBody(await usageReports.ofAccount(context.credential.accountId, query.since ?? null)),
  })

  app.route({
    method: 'GET',
    url: '/v1/admin/usage',
    ...describeRoute({
      operationId: 'getTotalUsage',
      summary: 'Usage of all accounts',
      tag: 'Admin',
      access: 'admin',
      query: usageQuery,
      ok: detailedUsage,
      errors: [400, 401, 500],
    }),
    handler: async ({ query }) => toDetailedUsageBody(await usageReports.total(query.since ?? null)),
  })
}
