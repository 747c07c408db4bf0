/**
 * Invitations: an admin's offer of an account to an address, as a link that works once, also where registration is closed. Owns
 * their states and what an accepted one becomes; the link's token is kept as a hash. An address has one open invitation: a new one
 * revokes that before it.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import type { Role } from '../../core/credential.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Tier } from '../../core/tiers.ts'
import type { AttemptThrottle } from '../../limits/attempt-throttle.ts'
import type { ApiDatabase } from '../../storage/api-database.ts'
import {
  acceptInvitation,
  findPendingInvitation,
  insertInvitation,
  listInvitations,
  revokeInvitation,
  revokeInvitationsOf,
  type StoredInvitation,
} from '../../storage/invitations-repository.ts'
import type { Page, PageRequest } from '../../storage/pages.ts'
import { findUserByEmailKey } from '../../storage/users-repository.ts'
import type { AccountService } from '../account-service.ts'
import { emailKey } from '../email.ts'
import { hashSecret } from '../keys/key-secret.ts'
import type { Login } from './login-session.ts'
import { requireTeam } from '../team-service.ts'

export interface InvitationServiceDeps {
  readonly database: ApiDatabase
  readonly accounts: Pick<AccountService, 'createWithSession'>
  readonly throttle: Pick<AttemptThrottle, 'token'>
  readonly clock: Clock
}

export const INVITATION_STATES = ['pending', 'accepted', 'expired', 'revoked'] as const

export interface Invitation extends Omit<StoredInvitation, 'emailKey'> {
  readonly state: (typeof INVITATION_STATES)[number]
}

export interface InvitationRequest {
  readonly emails: readonly string[]
  readonly tier: Tier
  readonly role: Role
  readonly teamId: string | null
  readonly expiresInDays: number
}

export interface Invited {
  /** With their tokens, shown only here. */
  readonly made: readonly { readonly invitation: Invitation; readonly token: string }[]
  /** Addresses that have an account. */
  readonly refused: readonly { readonly email: string; readonly error: ServiceError }[]
}

const DAY_SECONDS = 24 * 60 * 60

export class InvitationService {
  readonly #deps: InvitationServiceDeps

  constructor(deps: InvitationServiceDeps) {
    this.#deps = deps
  }

  /** An address that stands twice is invited once. @throws ServiceError `team_not_found` */
  async invite({ emails, expiresInDays, ...offer }: InvitationRequest): Promise<Invited> {
    const unixSeconds = this.#deps.clock.unixSeconds()
    const expiresAtUnixSeconds = unixSeconds + expiresInDays * DAY_SECONDS
    const byKey = new Map(emails.map((email) => [emailKey(email), email.trim()]))
    return await this.#deps.database.transaction().execute(async (transaction) => {
      await requireTeam(transaction, offer.teamId)
      const made: Invited['made'][number][] = []
      const refused: Invited['refused'][number][] = []
      for (const [key, email] of byKey) {
        if ((await findUserByEmailKey(transaction, key)) !== null) {
          refused.push({ email, error: new ServiceError('email_taken', { email }) })
          continue
        }
        await revokeInvitationsOf(transaction, key, unixSeconds)
        const stored: StoredInvitation = {
          ...{ id: randomUUID(), email, emailKey: key, ...offer },
          ...{ createdAtUnixSeconds: unixSeconds, expiresAtUnixSeconds },
          ...{ acceptedAtUnixSeconds: null, revokedAtUnixSeconds: null },
        }
        const token = randomBytes(32).toString('base64url')
        await insertInvitation(transaction, stored, hashSecret(token))
        made.push({ invitation: toInvitation(stored, unixSeconds), token })
      }
      return { made, refused }
    })
  }

  async list(page: PageRequest): Promise<Page<Invitation>> {
    const unixSeconds = this.#deps.clock.unixSeconds()
    const { items, ...rest } = await listInvitations(this.#deps.database, page)
    return { ...rest, items: items.map((stored) => toInvitation(stored, unixSeconds)) }
  }

  /** @throws ServiceError `invitation_not_found` for one that was accepted or revoked, too */
  async revoke(id: string): Promise<void> {
    if (!(await revokeInvitation(this.#deps.database, id, this.#deps.clock.unixSeconds())))
      throw new ServiceError('invitation_not_found', { invitationId: id })
  }

  /** Makes the account, and a session of it. @throws ServiceError `invalid_invitation`, `email_taken`, `too_many_logins` */
  async accept(
    { token, password }: { readonly token: string; readonly password: string },
    addressKey: string,
  ): Promise<Login> {
    const { database, accounts, throttle, clock } = this.#deps
    let found: StoredInvitation | null = null
    await throttle.token(addressKey, async () => {
      found = await findPendingInvitation(database, hashSecret(token), clock.unixSeconds())
      return found !== null
    })
    const invitation: StoredInvitation | null = found
    if (invitation === null) throw new ServiceError('invalid_invitation')
    const { id, email, tier, role, teamId } = invitation
    const account = { email, password, tier, role, teamId }
    return await accounts.createWithSession(account, addressKey, async (transaction) => {
      if (!(await acceptInvitation(transaction, id, clock.unixSeconds())))
        throw new ServiceError('invalid_invitation')
    })
  }
}

function toInvitation({ emailKey: _key, ...stored }: StoredInvitation, unixSeconds: number): Invitation {
  return { ...stored, state: stateOf(stored, unixSeconds) }
}

function stateOf(stored: Omit<StoredInvitation, 'emailKey'>, unixSeconds: number): Invitation['state'] {
  if (stored.acceptedAtUnixSeconds !== null) return 'accepted'
  if (stored.revokedAtUnixSeconds !== null) return 'revoked'
  return stored.expiresAtUnixSeconds > unixSeconds ? 'pending' : 'expired'
}
