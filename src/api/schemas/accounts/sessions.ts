/** Sessions of browsers: the link of a start, the first admin, and what a page learns of its session. */
import { z } from 'zod'
import type { Login } from '../../../accounts/sessions/login-session.ts'
import { type Credential, ROLES } from '../../../core/credential.ts'
import { TIERS } from '../../../core/tiers.ts'
import { must, text } from '../fields.ts'
import { queryChoice } from '../query.ts'

export const sessionResponse = z
  .object({
    kind: z
      .enum(['account', 'guest', 'open'])
      .describe('A guest opened the link of the start; `open` is every caller with `--auth-mode none`.'),
    user_id: z.string().nullable(),
    email: z.string().nullable(),
    tier: z.enum(TIERS),
    role: z.enum(ROLES),
    csrf_token: z
      .string()
      .nullable()
      .describe('For `x-csrf-token` of each request with the cookie that changes something.'),
    expires_at: z.number().nullable().describe('Unix seconds.'),
  })
  .meta({ id: 'Session' })

export const sessionQuery = z.object({
  visitor: queryChoice(['true', 'false'])
    .default('false')
    .describe('`true` answers a caller without a session with `{"kind": "visitor"}`, and not with 401.'),
})

export const visitorResponse = z.object({ kind: z.literal('visitor') }).meta({ id: 'Visitor' })

export const signInRequest = z
  .object({ token: text().describe('Of the link that the start printed.') }, { error: must('a JSON object') })
  .meta({ id: 'SignInRequest' })

type SessionBody = z.output<typeof sessionResponse>

/** Of a session, a guest or every caller; null for a key. */
export function toSessionBody(credential: Credential, csrfToken: (id: string) => string): SessionBody | null {
  const { kind, keyId, userId, tier, session } = credential
  const { email = null, role = 'user', expiresAtUnixSeconds: expiry = null } = session ?? {}
  const facts = { user_id: userId, email, tier, role, expires_at: expiry }
  switch (kind) {
    case 'session':
      return { kind: 'account', ...facts, csrf_token: csrfToken(keyId) }
    case 'guest':
      return { kind: 'guest', ...facts, csrf_token: csrfToken(keyId) }
    case 'open':
      return { kind: 'open', ...facts, csrf_token: null }
    case 'key':
    case 'static':
      return null
  }
}

export function toLoginBody(
  { sessionId, userId, email, tier, role, expiresAtUnixSeconds }: Login,
  csrfToken: (id: string) => string,
): SessionBody {
  const facts = { user_id: userId, email, tier, role, expires_at: expiresAtUnixSeconds }
  return { kind: 'account', ...facts, csrf_token: csrfToken(sessionId) }
}
