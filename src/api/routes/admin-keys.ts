/** `/v1/admin/keys`: all keys, for the holder of the admin key. Its values travel in the query string, never in a body. */
import type { AppDeps } from '../deps.ts'
import { describeRoute, type RouteApp } from '../openapi/describe-route.ts'
import {
  adminChangeKeyQuery,
  adminCreatedKey,
  adminCreateKeyQuery,
  adminKey,
  adminKeyList,
  keyListQuery,
  keyParams,
  revokedKey,
  toAdminKeyBody,
  toCreatedKeyBody,
} from '../schemas/keys.ts'
import { toListing, toPage } from '../schemas/query.ts'
import { detailedUsage, toDetailedUsageBody, usageQuery } from '../schemas/usage.ts'

const access = 'admin'
const tag = 'Admin'

export function registerAdminKeyRoutes(
  app: RouteApp,
  { keys, usageReports }: Pick<AppDeps, 'keys' | 'usageReports'>,
): void {
  app.route({
    method: 'GET',
    url: '/v1/admin/keys',
    ...describeRoute({
      operationId: 'listAllKeys',
      summary: 'All keys',
      tag,
      access,
      query: keyListQuery,
      ok: adminKeyList,
      errors: [400, 401, 500],
    }),
    handler: async ({ query }) => {
      const page = await keys.listAll(toPage(query))
      return { keys: page.items.map(toAdminKeyBody), count: page.count, ...toListing(query, page) }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/admin/keys',
    ...describeRoute({
      operationId: 'createAnyKey',
      summary: 'Make a key for a user, or one that is an account of its own',
      tag,
      access,
      query: adminCreateKeyQuery,
      ok: adminCreatedKey,
      errors: [400, 401, 404, 409, 500],
    }),
    handler: async ({ query }) => {
      const { keySecret, record } = await keys.createFor({
        name: query.name,
        tier: query.tier,
        expiresInDays: query.expires_in_days ?? null,
        userId: query.user_id ?? null,
        customRateLimitRpm: query.rate_limit_rpm ?? null,
      })
      const owner = { user_id: record.userId, rate_limit_rpm: record.rateLimitRpm }
      return { ...toCreatedKeyBody(keySecret, record), ...owner }
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/admin/keys/:key_id',
    ...describeRoute({
      operationId: 'getKey',
      summary: 'One key',
      tag,
      access,
      params: keyParams,
      ok: adminKey,
      errors: [401, 404, 500],
    }),
    handler: async ({ params }) => toAdminKeyBody(await keys.get(params.key_id)),
  })

  app.route({
    method: 'DELETE',
    url: '/v1/admin/keys/:key_id',
    ...describeRoute({
      operationId: 'revokeAnyKey',
      summary: 'Revoke any key',
      tag,
      access,
      params: keyParams,
      ok: revokedKey,
      errors: [401, 404, 500],
    }),
    handler: async ({ params }) => {
      await keys.revokeAny(params.key_id)
      return { status: 'revoked', key_id: params.key_id }
    },
  })

  app.route({
    method: 'PATCH',
    url: '/v1/admin/keys/:key_id',
    ...describeRoute({
      operationId: 'changeKey',
      summary: 'Change a key',
      tag,
      access,
      params: keyParams,
      query: adminChangeKeyQuery,
      ok: adminKey,
      errors: [400, 401, 404, 500],
    }),
    handler: async ({ params, query }) => {
      const change = {
        name: query.name,
        tier: query.tier,
        rateLimitRpm: query.rate_limit_rpm,
        expiresInDays: query.expires_in_days,
      }
      return toAdminKeyBody(await keys.change(params.key_id, change))
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/admin/keys/:key_id/usage',
    ...describeRoute({
      operationId: 'getKeyUsage',
      summary: 'Usage of one key',
      tag,
      access,
      params: keyParams,
      query: usageQuery,
      ok: detailedUsage,
      errors: [400, 401, 404, 500],
    }),
    handler: async ({ params, query }) => {
      const { id } = await keys.get(params.key_id)
      return toDetailedUsageBody(await usageReports.ofKey(id, query.since ?? null))
    },
  })
}
