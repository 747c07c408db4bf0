/** Invitations. Every function takes the database or a transaction. A row is never deleted; its state follows from its times. */
import type { Role } from '../core/credential.ts'
import type { Tier } from '../core/tiers.ts'
import type { ApiDatabase } from './api-database.ts'
import { listPage, type Page, type PageRequest } from './pages.ts'

export interface StoredInvitation {
  readonly id: string
  /** As given, trimmed. */
  readonly email: string
  readonly emailKey: string
  readonly tier: Tier
  readonly role: Role
  readonly teamId: string | null
  readonly createdAtUnixSeconds: number
  readonly expiresAtUnixSeconds: number
  readonly acceptedAtUnixSeconds: number | null
  readonly revokedAtUnixSeconds: number | null
}

const COLUMNS = [
  'id',
  'email',
  'email_key as emailKey',
  'tier',
  'role',
  'team_id as teamId',
  'created_at as createdAtUnixSeconds',
  'expires_at as expiresAtUnixSeconds',
  'accepted_at as acceptedAtUnixSeconds',
  'revoked_at as revokedAtUnixSeconds',
] as const

export async function insertInvitation(
  db: ApiDatabase,
  invitation: StoredInvitation,
  secretHash: string,
): Promise<void> {
  await db
    .insertInto('invitations')
    .values({
      id: invitation.id,
      secret_hash: secretHash,
      email: invitation.email,
      email_key: invitation.emailKey,
      tier: invitation.tier,
      role: invitation.role,
      team_id: invitation.teamId,
      created_at: invitation.createdAtUnixSeconds,
      expires_at: invitation.expiresAtUnixSeconds,
      accepted_at: invitation.acceptedAtUnixSeconds,
      revoked_at: invitation.revokedAtUnixSeconds,
    })
    .execute()
}

export async function listInvitations(db: ApiDatabase, page: PageRequest): Promise<Page<StoredInvitation>> {
  return await listPage(db.selectFrom('invitations').select(COLUMNS), page)
}

/** Null for one that there is not, was accepted or revoked, or has expired. */
export async function findPendingInvitation(
  db: ApiDatabase,
  secretHash: string,
  unixSeconds: number,
): Promise<StoredInvitation | null> {
  const invitation = await db
    .selectFrom('invitations')
    .select(COLUMNS)
    .where('secret_hash', '=', secretHash)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', unixSeconds)
    .executeTakeFirst()
  return invitation ?? null
}

/** False for one that is no longer open. */
export async function acceptInvitation(db: ApiDatabase, id: string, unixSeconds: number): Promise<boolean> {
  const accepted = db.updateTable('invitations').set({ accepted_at: unixSeconds }).where('id', '=', id)
  const open = accepted.where('accepted_at', 'is', null).where('revoked_at', 'is', null)
  return (await open.where('expires_at', '>', unixSeconds).executeTakeFirst()).numUpdatedRows > 0n
}

/** False for one that there is not, or was accepted or revoked. */
export async function revokeInvitation(db: ApiDatabase, id: string, unixSeconds: number): Promise<boolean> {
  const revoked = db.updateTable('invitations').set({ revoked_at: unixSeconds }).where('id', '=', id)
  const open = revoked.where('accepted_at', 'is', null).where('revoked_at', 'is', null)
  return (await open.executeTakeFirst()).numUpdatedRows > 0n
}

/** Those that are open and offer the role of an admin. */
export async function revokeInvitationsOfAdmins(db: ApiDatabase, unixSeconds: number): Promise<void> {
  await db
    .updateTable('invitations')
    .set({ revoked_at: unixSeconds })
    .where('role', '=', 'admin')
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute()
}

/** Those that are open for an address. */
export async function revokeInvitationsOf(
  db: ApiDatabase,
  emailKey: string,
  unixSeconds: number,
): Promise<void> {
  await db
    .updateTable('invitations')
    .set({ revoked_at: unixSeconds })
    .where('email_key', '=', emailKey)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute()
}
