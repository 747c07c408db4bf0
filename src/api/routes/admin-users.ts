/** `/v1/admin/users`: the accounts, for the holder of the admin key. Passwords travel in a body, never in a URL. */
import type { FastifyInstance } from 'fastify'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import {
  changeUserQuery,
  changeUserRequest,
  createUserRequest,
  createUserResponse,
  deletedUser,
  toUserBody,
  user,
  userList,
  userListQuery,
  userParams,
} from '../schemas/accounts/users.ts'
import { mergeChange } from '../schemas/change.ts'
import { toListing, toPage } from '../schemas/query.ts'
import { toSpending } from '../schemas/spending.ts'

const CHANGED_FIELDS = Object.keys(changeUserRequest.shape)

const ADMIN = { tag: 'Admin', access: 'admin' } as const

export function registerAdminUserRoutes(app: FastifyInstance, { accounts }: Pick<AppDeps, 'accounts'>): void {
  addRoute(app, 'GET /v1/admin/users', {
    operationId: 'listUsers',
    summary: 'All users, or one',
    ...ADMIN,
    query: userListQuery,
    ok: userList,
    errors: ['user_not_found'],
    handler: async ({ query }) => {
      if (query.user !== undefined) {
        const found = toUserBody(await accounts.findUser(query.user))
        return { users: [found], count: 1, ...toListing(query, { nextCursor: null }) }
      }
      const page = await accounts.listUsers(toPage(query))
      return { users: page.items.map(toUserBody), count: page.count, ...toListing(query, page) }
    },
  })

  addRoute(app, 'POST /v1/admin/users', {
    operationId: 'createUser',
    audit: 'user.create',
    summary: 'Make an account and its first key, also where registration is closed',
    ...ADMIN,
    body: createUserRequest,
    ok: createUserResponse,
    errors: ['email_taken', 'team_not_found', 'password_queue_full'],
    handler: async ({ body, context }) => {
      const { userId, email, tier, keySecret } = await accounts.createUser({ ...body, ...toSpending(body) })
      context.adminTarget = userId
      return { user_id: userId, email, tier, api_key: keySecret }
    },
  })

  addRoute(app, 'PATCH /v1/admin/users/:user_id', {
    operationId: 'changeUser',
    audit: 'user.change',
    summary:
      'Change the tier, the role, the password, the team or the budgets of a user, disable or enable it',
    ...ADMIN,
    params: userParams,
    query: changeUserQuery,
    body: changeUserRequest,
    ok: user,
    errors: ['user_not_found', 'team_not_found', 'last_admin'],
    handler: async ({ params, query, body }) => {
      const merged = mergeChange(query, body, CHANGED_FIELDS)
      const { tier, role, disabled, password } = merged
      const change = { tier, role, disabled, password, ...toSpending(merged) }
      return toUserBody(await accounts.changeUser(params.user_id, change))
    },
  })

  addRoute(app, 'DELETE /v1/admin/users/:user_id', {
    operationId: 'deleteUser',
    audit: 'user.delete',
    summary: 'Delete a user with all keys and sessions; what they used stays counted',
    ...ADMIN,
    params: userParams,
    ok: deletedUser,
    errors: ['user_not_found', 'last_admin'],
    handler: async ({ params }) => {
      await accounts.deleteUser(params.user_id)
      return { status: 'deleted', user_id: params.user_id }
    },
  })
}
