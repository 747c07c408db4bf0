/** `/v1/auth/…` of browsers: what a page knows of its session, and how the first visitor of a new server becomes its admin. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Login } from '../../accounts/sessions/login-session.ts'
import type { Credential } from '../../core/credential.ts'
import { InvariantError, ServiceError } from '../../core/errors.ts'
import { addressKey } from '../../net/client-address.ts'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import { PASSWORD_ERRORS } from '../openapi/route-errors.ts'
import { requireOwnPage, setSessionCookie } from '../pipeline/browser-session.ts'
import type { RequestContext } from '../pipeline/request-context.ts'
import { registerRequest } from '../schemas/accounts/users.ts'
import {
  sessionQuery,
  sessionResponse,
  signInRequest,
  toLoginBody,
  toSessionBody,
  visitorResponse,
} from '../schemas/accounts/sessions.ts'

const ACCOUNTS = { tag: 'Accounts', ok: sessionResponse } as const

type SessionDeps = Pick<AppDeps, 'accounts' | 'auditLog' | 'browserSessions' | 'guests' | 'trustedProxies'>

export function registerSessionRoutes(app: FastifyInstance, deps: SessionDeps): void {
  const { accounts, auditLog, guests, trustedProxies } = deps

  addRoute(app, 'GET /v1/auth/session', {
    operationId: 'getSession',
    summary: 'Whose session is this?',
    tag: 'Accounts',
    access: 'visitor',
    query: sessionQuery,
    ok: z.union([sessionResponse, visitorResponse]),
    handler: ({ query, context: { optionalCredential: credential } }) => {
      if (credential !== null) return bodyOf(deps, credential)
      if (query.visitor === 'true') return { kind: 'visitor' } as const
      throw new ServiceError('unauthorized')
    },
  })

  addRoute(app, 'POST /v1/auth/sign-in', {
    operationId: 'signIn',
    summary: 'Open the link that the start printed; sets the cookie of a guest',
    ...ACCOUNTS,
    access: 'public',
    body: signInRequest,
    errors: ['csrf_failed', 'invalid_link', ...PASSWORD_ERRORS],
    handler: async ({ body, context }) => {
      requireOwnPage(trustedProxies, context.request)
      const { credential, secret } = await guests.open(body.token, addressKey(context.clientAddress))
      setSessionCookie(deps, context, secret)
      return bodyOf(deps, credential)
    },
  })

  addRoute(app, 'POST /v1/auth/first-admin', {
    operationId: 'createFirstAdmin',
    summary: 'Make the first admin of this server, as the guest who opened the link of the start',
    ...ACCOUNTS,
    access: 'key',
    body: registerRequest,
    errors: ['guest_required', 'admin_exists', 'email_taken', 'password_queue_full'],
    handler: async ({ body, context }) => {
      if (context.credential.kind !== 'guest') throw new ServiceError('guest_required')
      let login: Login | null = null
      const { requestId } = context
      const action = { actor: 'guest', action: 'user.first-admin', details: body, requestId }
      await auditLog.record({ ...action, target: () => login?.userId ?? null }, async () => {
        login = await accounts.createFirstAdmin(body, addressKey(context.clientAddress))
      })
      if (login === null) throw new InvariantError('An action that is done has its outcome.')
      return beginBrowserSession(deps, context, login)
    },
  })
}

/** Sets the cookie of a session that was just opened, and answers what its page learns of it. */
export function beginBrowserSession(
  deps: Pick<AppDeps, 'browserSessions' | 'trustedProxies'>,
  context: RequestContext,
  login: Login,
) {
  setSessionCookie(deps, context, login.keySecret)
  return toLoginBody(login, (id) => deps.browserSessions.csrfToken(id))
}

function bodyOf({ browserSessions }: Pick<AppDeps, 'browserSessions'>, credential: Credential) {
  const body = toSessionBody(credential, (id) => browserSessions.csrfToken(id))
  if (body === null) throw new ServiceError('unauthorized')
  return body
}
