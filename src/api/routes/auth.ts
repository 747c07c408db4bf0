/** `/v1/auth/…`: an account, and a session of it. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Login } from '../../accounts/sessions/login-session.ts'
import { addressKey } from '../../net/client-address.ts'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import { PASSWORD_ERRORS } from '../openapi/route-errors.ts'
import { clearSessionCookie, requireOwnPage } from '../pipeline/browser-session.ts'
import {
  loginRequest,
  loginResponse,
  logoutResponse,
  passwordRequest,
  passwordResponse,
  registerRequest,
  registerResponse,
} from '../schemas/accounts/users.ts'
import { sessionResponse } from '../schemas/accounts/sessions.ts'
import { beginBrowserSession } from './sessions.ts'

const PUBLIC = { tag: 'Accounts', access: 'public' } as const
const SESSION = { tag: 'Accounts', access: 'key' } as const

const KEY_SHOWN_ONCE = 'Keep the API key: it is not shown again.'

type AuthDeps = Pick<AppDeps, 'accounts' | 'browserSessions' | 'guests' | 'trustedProxies'>

export function registerAuthRoutes(app: FastifyInstance, deps: AuthDeps): void {
  const { accounts, guests, trustedProxies } = deps

  addRoute(app, 'POST /v1/auth/register', {
    operationId: 'register',
    summary: 'Make an account and its first key',
    ...PUBLIC,
    body: registerRequest,
    ok: registerResponse,
    errors: ['registration_closed', 'email_taken', 'too_many_registrations', 'password_queue_full'],
    handler: async ({ body, context }) => {
      const caller = addressKey(context.clientAddress)
      const { userId, email, tier, keySecret } = await accounts.register(body, caller)
      return { user_id: userId, email, tier, api_key: keySecret, message: KEY_SHOWN_ONCE }
    },
  })

  addRoute(app, 'POST /v1/auth/login', {
    operationId: 'login',
    summary: 'Begin a session',
    ...PUBLIC,
    body: loginRequest,
    ok: z.union([loginResponse, sessionResponse]),
    errors: ['csrf_failed', 'invalid_login', ...PASSWORD_ERRORS],
    handler: async ({ body, context }) => {
      if (body.cookie === true) requireOwnPage(trustedProxies, context.request)
      const session = await accounts.login(body, addressKey(context.clientAddress))
      if (body.cookie === true) return beginBrowserSession(deps, context, session)
      return toTokenBody(session)
    },
  })

  addRoute(app, 'POST /v1/auth/logout', {
    operationId: 'logout',
    summary: 'End the session',
    ...SESSION,
    ok: logoutResponse,
    errors: ['not_a_session'],
    handler: async ({ context }) => {
      if (context.credential.kind === 'guest') await guests.end(context.credential)
      else await accounts.logout(context.credential)
      if (context.request.headers.cookie !== undefined) clearSessionCookie(deps, context)
      return { status: 'logged_out' }
    },
  })

  addRoute(app, 'POST /v1/auth/password', {
    operationId: 'changePassword',
    summary: 'Change the password and end all other sessions',
    ...SESSION,
    body: passwordRequest,
    ok: passwordResponse,
    errors: ['user_required', 'wrong_password', ...PASSWORD_ERRORS],
    handler: async ({ body, context }) => {
      const passwords = { currentPassword: body.current_password, newPassword: body.new_password }
      await accounts.changePassword(context.credential, passwords, addressKey(context.clientAddress))
      return { status: 'password_changed' }
    },
  })
}

/** Of a session whose token the caller keeps itself. */
export function toTokenBody(login: Login): z.output<typeof loginResponse> {
  const { userId, email, tier, keySecret: token, expiresAtUnixSeconds } = login
  return { user_id: userId, email, tier, token, expires_at: expiresAtUnixSeconds }
}
