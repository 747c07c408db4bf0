/** `/v1/keys`: the caller's own keys; keys that are configuration are not among them. */
import type { FastifyInstance } from 'fastify'
import type { KeyRecord } from '../../accounts/keys/key-record.ts'
import { InvariantError } from '../../core/errors.ts'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import {
  createdKey,
  createKeyRequest,
  keyList,
  keyParams,
  revokedKey,
  ownKey,
  renameKeyRequest,
  toCreatedKeyBody,
  toOwnKeyBody,
} from '../schemas/keys.ts'
import { pageQuery, toListing, toPage } from '../schemas/query.ts'

const OWN = { tag: 'Keys', access: 'key' } as const

type KeyDeps = Pick<AppDeps, 'keys' | 'limiter' | 'tokenBudgets'>

export function registerKeyRoutes(app: FastifyInstance, deps: KeyDeps): void {
  const { keys } = deps

  addRoute(app, 'GET /v1/keys', {
    operationId: 'listKeys',
    summary: "The account's keys",
    ...OWN,
    query: pageQuery,
    ok: keyList,
    handler: async ({ context, query }) => {
      const page = await keys.list(context.credential, toPage(query))
      return { keys: await toBodies(deps, page.items), ...toListing(query, page) }
    },
  })

  addRoute(app, 'POST /v1/keys', {
    operationId: 'createKey',
    summary: 'Make a key',
    ...OWN,
    body: createKeyRequest,
    ok: createdKey,
    errors: ['keys_need_authentication', 'key_budget_by_key', 'key_limit_reached'],
    handler: async ({ context, body }) => {
      const wish = {
        ...{ name: body.name, expiresInDays: body.expires_in_days ?? null },
        dailyTokenBudget: body.daily_token_budget ?? null,
        monthlyTokenBudget: body.monthly_token_budget ?? null,
      }
      const { keySecret, record } = await keys.create(context.credential, wish)
      return toCreatedKeyBody(keySecret, record)
    },
  })

  addRoute(app, 'PATCH /v1/keys/:key_id', {
    operationId: 'renameKey',
    summary: 'Give a key another name',
    ...OWN,
    params: keyParams,
    body: renameKeyRequest,
    ok: ownKey,
    errors: ['key_not_found'],
    handler: async ({ context, params, body }) => {
      const record = await keys.rename(context.credential, params.key_id, body.name)
      const [renamed] = await toBodies(deps, [record])
      if (renamed === undefined) throw new InvariantError('each key has a body')
      return renamed
    },
  })

  addRoute(app, 'DELETE /v1/keys/:key_id', {
    operationId: 'revokeKey',
    summary: 'Revoke a key',
    ...OWN,
    params: keyParams,
    ok: revokedKey,
    errors: ['keys_need_authentication', 'key_not_found'],
    handler: async ({ context, params }) => {
      await keys.revoke(context.credential, params.key_id)
      return { status: 'revoked', key_id: params.key_id }
    },
  })
}

/** What an inactive key uses and spent is of no use to its owner, and is not read. */
async function toBodies({ limiter, tokenBudgets }: KeyDeps, records: readonly KeyRecord[]) {
  const ids = records.filter(({ isActive }) => isActive).map(({ id }) => id)
  const inUse = await limiter.inUse(ids)
  const uses = new Map(ids.map((id, index) => [id, inUse[index]]))
  return await Promise.all(
    records.map(async (record) => {
      const budgets = record.isActive ? await tokenBudgets.report(boundsOf(record)) : []
      return toOwnKeyBody(record, { ...(uses.get(record.id) ?? UNUSED), budgets })
    }),
  )
}

const UNUSED = { requests: 0, running: 0 }

function boundsOf({ id, dailyTokenBudget: day, monthlyTokenBudget: month }: KeyRecord) {
  return [
    ...(day === null ? [] : [{ scope: 'key', id, period: 'day', maxTokens: day } as const]),
    ...(month === null ? [] : [{ scope: 'key', id, period: 'month', maxTokens: month } as const]),
  ]
}
