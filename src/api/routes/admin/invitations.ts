/** Invitations: made and revoked by the admin, and accepted by who has the link. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addressKey } from '../../../net/client-address.ts'
import type { AppDeps } from '../../deps.ts'
import { addRoute } from '../../openapi/add-route.ts'
import { PASSWORD_ERRORS } from '../../openapi/route-errors.ts'
import { requireOwnPage } from '../../pipeline/browser-session.ts'
import {
  acceptRequest,
  invitationList,
  invitationParams,
  invited,
  inviteRequest,
  revokedInvitation,
  toInvitationBody,
} from '../../schemas/accounts/invitations.ts'
import { sessionResponse } from '../../schemas/accounts/sessions.ts'
import { loginResponse } from '../../schemas/accounts/users.ts'
import { pageQuery, toListing, toPage } from '../../schemas/query.ts'
import { toTokenBody } from '../auth.ts'
import { beginBrowserSession } from '../sessions.ts'

const ADMIN = { tag: 'Admin', access: 'admin' } as const

/** A hundred addresses of the longest kind, however they are escaped. */
const MAX_INVITE_BYTES = 262_144

type InvitationDeps = Pick<AppDeps, 'browserSessions' | 'invitations' | 'trustedProxies'>

export function registerInvitationRoutes(app: FastifyInstance, deps: InvitationDeps): void {
  const { invitations, trustedProxies } = deps

  addRoute(app, 'POST /v1/auth/accept-invitation', {
    operationId: 'acceptInvitation',
    summary:
      'Make the account that an invitation offers, also where registration is closed, and begin a session',
    tag: 'Accounts',
    access: 'public',
    body: acceptRequest,
    ok: z.union([loginResponse, sessionResponse]),
    errors: ['csrf_failed', 'invalid_invitation', 'email_taken', ...PASSWORD_ERRORS],
    handler: async ({ body, context }) => {
      if (body.cookie === true) requireOwnPage(trustedProxies, context.request)
      const login = await invitations.accept(body, addressKey(context.clientAddress))
      return body.cookie === true ? beginBrowserSession(deps, context, login) : toTokenBody(login)
    },
  })

  addRoute(app, 'GET /v1/admin/invitations', {
    operationId: 'listInvitations',
    summary: 'All invitations, whatever became of them',
    ...ADMIN,
    query: pageQuery,
    ok: invitationList,
    handler: async ({ query }) => {
      const page = await invitations.list(toPage(query))
      return {
        invitations: page.items.map(toInvitationBody),
        count: page.count,
        ...toListing(query, page),
      }
    },
  })

  addRoute(app, 'POST /v1/admin/invitations', {
    operationId: 'invite',
    audit: 'invitation.create',
    summary: 'Offer accounts to addresses: a link for each, which works once',
    ...ADMIN,
    body: inviteRequest,
    maxBodyBytes: MAX_INVITE_BYTES,
    ok: invited,
    errors: ['team_not_found'],
    handler: async ({ body }) => {
      const { emails, tier, role, team_id: teamId = null, expires_in_days: expiresInDays } = body
      const { made, refused } = await invitations.invite({ emails, tier, role, teamId, expiresInDays })
      return {
        invitations: made.map(({ invitation, token }) => ({
          ...toInvitationBody(invitation),
          link_path: `#invite=${token}`,
        })),
        errors: refused.map(({ email, error }) => ({ email, code: error.code, detail: error.message })),
      }
    },
  })

  addRoute(app, 'DELETE /v1/admin/invitations/:invitation_id', {
    operationId: 'revokeInvitation',
    audit: 'invitation.revoke',
    summary: 'Revoke an invitation that is still open',
    ...ADMIN,
    params: invitationParams,
    ok: revokedInvitation,
    errors: ['invitation_not_found'],
    handler: async ({ params }) => {
      await invitations.revoke(params.invitation_id)
      return { status: 'revoked', id: params.invitation_id } as const
    },
  })
}
