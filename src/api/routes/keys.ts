/** `/v1/keys`: the caller's own keys; keys that are configuration are not among them. */
import type { FastifyInstance } from 'fastify'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import {
  createdKey,
  createKeyRequest,
  keyList,
  keyParams,
  revokedKey,
  toCreatedKeyBody,
  toKeyBody,
} from '../schemas/keys.ts'
import { pageQuery, toListing, toPage } from '../schemas/query.ts'

const OWN = { tag: 'Keys', access: 'key' } as const

export function registerKeyRoutes(app: FastifyInstance, { keys }: Pick<AppDeps, 'keys'>): void {
  addRoute(app, 'GET /v1/keys', {
    operationId: 'listKeys',
    summary: "The account's keys",
    ...OWN,
    query: pageQuery,
    ok: keyList,
    errors: [400, 401, 429, 500],
    handler: async ({ context, query }) => {
      const page = await keys.list(context.credential, toPage(query))
      return { keys: page.items.map(toKeyBody), ...toListing(query, page) }
    },
  })

  addRoute(app, 'POST /v1/keys', {
    operationId: 'createKey',
    summary: 'Make a key',
    ...OWN,
    body: createKeyRequest,
    ok: createdKey,
    errors: [400, 401, 409, 429, 500],
    handler: async ({ context, body }) => {
      const wish = { name: body.name, expiresInDays: body.expires_in_days ?? null }
      const { keySecret, record } = await keys.create(context.credential, wish)
      return toCreatedKeyBody(keySecret, record)
    },
  })

  addRoute(app, 'DELETE /v1/keys/:key_id', {
    operationId: 'revokeKey',
    summary: 'Revoke a key',
    ...OWN,
    params: keyParams,
    ok: revokedKey,
    errors: [401, 404, 429, 500],
    handler: async ({ context, params }) => {
      await keys.revoke(context.credential, params.key_id)
      return { status: 'revoked', key_id: params.key_id }
    },
  })
}
