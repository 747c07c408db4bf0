/** Invitations, as the admin makes and sees them, and as one is accepted. */
import { z } from 'zod'
import { INVITATION_DAYS, MAX_INVITED } from '../../../accounts/sessions/invitation-bounds.ts'
import { type Invitation, INVITATION_STATES } from '../../../accounts/sessions/invitation-service.ts'
import { ROLES } from '../../../core/credential.ts'
import { TIERS } from '../../../core/tiers.ts'
import { arrayOf, boolean, integer, must, storedText, text } from '../fields.ts'
import { nextCursor } from '../query.ts'
import { email, password, role, tier } from './users.ts'

const object = { error: must('a JSON object') }

const invitationFields = {
  id: z.string(),
  email: z.string(),
  tier: z.enum(TIERS),
  role: z.enum(ROLES),
  team_id: z.string().nullable(),
  state: z.enum(INVITATION_STATES),
  created_at: z.number().describe('Unix seconds.'),
  expires_at: z.number().describe('Unix seconds.'),
}

export const invitation = z.object(invitationFields).meta({ id: 'Invitation' })

export const invitationList = z
  .object({
    invitations: z.array(invitation),
    count: z.int().describe('Of all invitations, whatever the page.'),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'InvitationList' })

export const inviteRequest = z
  .object(
    {
      emails: arrayOf(email(), { min: 1, max: MAX_INVITED, of: 'e-mail addresses' }),
      tier: tier().default('free'),
      role: role().default('user'),
      team_id: storedText(1, 200).nullish().describe('The team to put the account in.'),
      expires_in_days: integer(INVITATION_DAYS.min, INVITATION_DAYS.max).default(INVITATION_DAYS.default),
    },
    object,
  )
  .meta({ id: 'InviteRequest' })

export const invited = z
  .object({
    invitations: z.array(
      z
        .object({
          ...invitationFields,
          link_path: z.string().describe("To append to the console's address; shown here and never again."),
        })
        .meta({ id: 'NewInvitation' }),
    ),
    errors: z.array(
      z.object({ email: z.string(), code: z.string(), detail: z.string() }).meta({ id: 'InvitationError' }),
    ),
  })
  .meta({ id: 'Invited' })

export const invitationParams = z.object({ invitation_id: z.string() })

export const revokedInvitation = z
  .object({ status: z.literal('revoked'), id: z.string() })
  .meta({ id: 'RevokedInvitation' })

export const acceptRequest = z
  .object({ token: text(), password: password(), cookie: boolean().optional() }, object)
  .meta({ id: 'AcceptInvitationRequest' })

export function toInvitationBody(record: Invitation): z.output<typeof invitation> {
  const { id, email: address, tier: offered, role: offeredRole, teamId, state } = record
  return {
    ...{ id, email: address, tier: offered, role: offeredRole, team_id: teamId, state },
    created_at: record.createdAtUnixSeconds,
    expires_at: record.expiresAtUnixSeconds,
  }
}
