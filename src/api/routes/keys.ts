/** `/v1/keys`: the caller's own keys. Keys that are configuration are not among them. */
import type { AppDeps } from '../deps.ts'
import { describeRoute, type RouteApp } from '../openapi/describe-route.ts'
import {
  createdKey,
  createKeyRequest,
  keyList,
  keyListQuery,
  keyParams,
  revokedKey,
  toCreatedKeyBody,
  toKeyBody,
} from '../schemas/keys.ts'
import { toListing, toPage } from '../schemas/query.ts'

const access = 'key'

export function registerKeyRoutes(app: RouteApp, { keys }: Pick<AppDeps, 'keys'>): void {
  app.route({
    method: 'GET',
    url: '/v1/keys',
    ...describeRoute({
      operationId: 'listKeys',
      summary: "The account's keys",
      tag: 'Keys',
      access,
      query: keyListQuery,
      ok: keyList,
      errors: [400, 401, 429, 500],
    }),
    handler: async ({ context, query }) => {
      const page = await keys.list(context.credential, toPage(query))
      return { keys: page.items.map(toKeyBody), ...toListing(query, page) }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/keys',
    ...describeRoute({
      operationId: 'createKey',
      summary: 'Make a key',
      tag: 'Keys',
      access,
      body: createKeyRequest,
      ok: createdKey,
      errors: [400, 401, 409, 429, 500],
    }),
    handler: async ({ context, body }) => {
      const wish = { name: body.name, expiresInDays: body.expires_in_days ?? null }
      const { keySecret, record } = await keys.create(context.credential, wish)
      return toCreatedKeyBody(keySecret, record)
    },
  })

  app.route({
    method: 'DELETE',
    url: '/v1/keys/:key_id',
    ...describeRoute({
      operationId: 'revokeKey',
      summary: 'Revoke a key',
      tag: 'Keys',
      access,
      params: keyParams,
      ok: revokedKey,
      errors: [401, 404, 429, 500],
    }),
    handler: async ({ context, params }) => {
      await keys.revoke(context.credential, params.key_id)
      return { status: 'revoked', key_id: params.key_id }
    },
  })
}
