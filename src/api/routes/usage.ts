/** `GET /v1/usage`: what the caller's account has used; `GET /v1/admin/usage`: what all have. */
import type { FastifyInstance } from 'fastify'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import {
  adminUsageQuery,
  detailedUsage,
  toDetailedUsageBody,
  toUsageBody,
  usageQuery,
  usageSummary,
} from '../schemas/usage.ts'

export function registerUsageRoutes(
  app: FastifyInstance,
  { accounts, usageReports }: Pick<AppDeps, 'accounts' | 'usageReports'>,
): void {
  addRoute(app, 'GET /v1/usage', {
    operationId: 'getUsage',
    summary: "Usage of all the account's keys, revoked ones too",
    tag: 'Usage',
    access: 'key',
    query: usageQuery,
    ok: usageSummary,
    errors: [400, 401, 429, 500, 503],
    handler: async ({ context, query }) =>
      toUsageBody(await usageReports.ofAccount(context.credential.accountId, query.since ?? null)),
  })

  addRoute(app, 'GET /v1/admin/usage', {
    operationId: 'getTotalUsage',
    summary: 'Usage of all accounts, or of one user',
    tag: 'Admin',
    access: 'admin',
    query: adminUsageQuery,
    ok: detailedUsage,
    errors: [400, 401, 404, 429, 500, 503],
    handler: async ({ query }) => {
      const since = query.since ?? null
      if (query.user === undefined) return toDetailedUsageBody(await usageReports.total(since))
      const { userId } = await accounts.findUser(query.user)
      return toDetailedUsageBody(await usageReports.ofAccount(userId, since))
    },
  })
}
