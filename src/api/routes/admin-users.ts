/** `/v1/admin/users`: the accounts, for the holder of the admin key. Passwords travel in a body, never in a URL. */
import type { FastifyInstance } from 'fastify'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import {
  changeUserRequest,
  createUserRequest,
  createUserResponse,
  deletedUser,
  toUserBody,
  user,
  userList,
  userParams,
} from '../schemas/accounts.ts'
import { pageQuery, toListing, toPage } from '../schemas/query.ts'

const ADMIN = { tag: 'Admin', access: 'admin' } as const

export function registerAdminUserRoutes(app: FastifyInstance, { accounts }: Pick<AppDeps, 'accounts'>): void {
  addRoute(app, 'GET /v1/admin/users', {
    operationId: 'listUsers',
    summary: 'All users',
    ...ADMIN,
    query: pageQuery,
    ok: userList,
    errors: [400, 401, 429, 500],
    handler: async ({ query }) => {
      const page = await accounts.listUsers(toPage(query))
      return { users: page.items.map(toUserBody), count: page.count, ...toListing(query, page) }
    },
  })

  addRoute(app, 'POST /v1/admin/users', {
    operationId: 'createUser',
    summary: 'Make an account and its first key, also where registration is closed',
    ...ADMIN,
    body: createUserRequest,
    ok: createUserResponse,
    errors: [400, 401, 409, 429, 500],
    handler: async ({ body, context }) => {
      const { userId, email, tier, keySecret } = await accounts.createUser(body)
      context.adminTarget = userId
      return { user_id: userId, email, tier, api_key: keySecret }
    },
  })

  addRoute(app, 'PATCH /v1/admin/users/:user_id', {
    operationId: 'changeUser',
    summary: 'Change the tier or the password of a user, disable or enable it',
    ...ADMIN,
    params: userParams,
    body: changeUserRequest,
    ok: user,
    errors: [400, 401, 404, 429, 500],
    handler: async ({ params, body }) => {
      const change = {
        tier: body.tier ?? undefined,
        disabled: body.disabled ?? undefined,
        password: body.password ?? undefined,
      }
      return toUserBody(await accounts.changeUser(params.user_id, change))
    },
  })

  addRoute(app, 'DELETE /v1/admin/users/:user_id', {
    operationId: 'deleteUser',
    summary: 'Delete a user with all keys and sessions; what they used stays counted',
    ...ADMIN,
    params: userParams,
    ok: deletedUser,
    errors: [401, 404, 429, 500],
    handler: async ({ params }) => {
      await accounts.deleteUser(params.user_id)
      return { status: 'deleted', user_id: params.user_id }
    },
  })
}
