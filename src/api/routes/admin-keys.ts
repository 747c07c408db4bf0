/**
 * `/v1/admin/keys`: all keys, for the holder of the admin key. Its values travel in the query string, those of a change also in
 * a body.
 */
import type { FastifyInstance } from 'fastify'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import { mergeChange } from '../schemas/change.ts'
import {
  adminChangeKeyQuery,
  adminChangeKeyRequest,
  adminCreatedKey,
  adminCreateKeyQuery,
  adminKey,
  adminKeyList,
  adminKeyListQuery,
  keyParams,
  revokedKey,
  toAdminKeyBody,
  toCreatedKeyBody,
} from '../schemas/keys.ts'
import { toListing, toPage } from '../schemas/query.ts'
import { toSpending } from '../schemas/spending.ts'
import { detailedUsage, toDetailedUsageBody, usageQuery } from '../schemas/usage.ts'

const CHANGED_FIELDS = Object.keys(adminChangeKeyRequest.shape)

const ADMIN = { tag: 'Admin', access: 'admin' } as const

export function registerAdminKeyRoutes(
  app: FastifyInstance,
  deps: Pick<AppDeps, 'accounts' | 'keys' | 'usageReports'>,
): void {
  registerAllKeys(app, deps)
  registerOneKey(app, deps)
}

function registerAllKeys(app: FastifyInstance, { accounts, keys }: Pick<AppDeps, 'accounts' | 'keys'>): void {
  addRoute(app, 'GET /v1/admin/keys', {
    operationId: 'listAllKeys',
    summary: 'All keys, or those of one user',
    ...ADMIN,
    query: adminKeyListQuery,
    ok: adminKeyList,
    errors: ['user_not_found'],
    handler: async ({ query }) => {
      const owner = query.user === undefined ? null : await accounts.findUser(query.user)
      const page = await keys.listAll(toPage(query), owner?.userId ?? null)
      return { keys: page.items.map(toAdminKeyBody), count: page.count, ...toListing(query, page) }
    },
  })

  addRoute(app, 'POST /v1/admin/keys', {
    operationId: 'createAnyKey',
    audit: 'key.create',
    summary: 'Make a key for a user, or one that is an account of its own',
    ...ADMIN,
    query: adminCreateKeyQuery,
    ok: adminCreatedKey,
    errors: ['user_not_found', 'team_not_found', 'key_limit_reached'],
    handler: async ({ query, context }) => {
      const { keySecret, record } = await keys.createFor({
        name: query.name,
        tier: query.tier,
        expiresInDays: query.expires_in_days ?? null,
        userId: query.user_id ?? null,
        customRateLimitRpm: query.rate_limit_rpm ?? null,
        spending: {
          teamId: query.team_id ?? null,
          dailyTokenBudget: query.daily_token_budget ?? null,
          monthlyTokenBudget: query.monthly_token_budget ?? null,
        },
      })
      context.adminTarget = record.id
      const owner = { user_id: record.userId, rate_limit_rpm: record.rateLimitRpm }
      return { ...toCreatedKeyBody(keySecret, record), ...owner }
    },
  })
}

function registerOneKey(
  app: FastifyInstance,
  { keys, usageReports }: Pick<AppDeps, 'keys' | 'usageReports'>,
): void {
  addRoute(app, 'GET /v1/admin/keys/:key_id', {
    operationId: 'getKey',
    summary: 'One key',
    ...ADMIN,
    params: keyParams,
    ok: adminKey,
    errors: ['key_not_found'],
    handler: async ({ params }) => toAdminKeyBody(await keys.get(params.key_id)),
  })

  addRoute(app, 'DELETE /v1/admin/keys/:key_id', {
    operationId: 'revokeAnyKey',
    audit: 'key.revoke',
    summary: 'Revoke any key',
    ...ADMIN,
    params: keyParams,
    ok: revokedKey,
    errors: ['key_not_found'],
    handler: async ({ params }) => {
      await keys.revokeAny(params.key_id)
      return { status: 'revoked', key_id: params.key_id }
    },
  })

  addRoute(app, 'PATCH /v1/admin/keys/:key_id', {
    operationId: 'changeKey',
    audit: 'key.change',
    summary: 'Change a key',
    ...ADMIN,
    params: keyParams,
    query: adminChangeKeyQuery,
    body: adminChangeKeyRequest,
    ok: adminKey,
    errors: ['key_not_active', 'key_not_found', 'team_not_found'],
    handler: async ({ params, query, body }) => {
      const merged = mergeChange(query, body, CHANGED_FIELDS)
      const { name, tier, rate_limit_rpm: rateLimitRpm, expires_in_days: expiresInDays } = merged
      const change = { name, tier, rateLimitRpm, expiresInDays, ...toSpending(merged) }
      return toAdminKeyBody(await keys.change(params.key_id, change))
    },
  })

  addRoute(app, 'GET /v1/admin/keys/:key_id/usage', {
    operationId: 'getKeyUsage',
    summary: 'Usage of one key',
    ...ADMIN,
    params: keyParams,
    query: usageQuery,
    ok: detailedUsage,
    errors: ['key_not_found'],
    handler: async ({ params, query }) => {
      const { id } = await keys.get(params.key_id)
      return toDetailedUsageBody(await usageReports.ofKey(id, query.since ?? null))
    },
  })
}
