/**
 * Opens the session of a user who has proved to be one: by a password, an invitation, or as the first admin. Owns how long a
 * session lives and how many an account may have. Sessions end by deletion.
 */
import { randomUUID } from 'node:crypto'
import type { Role } from '../../core/credential.ts'
import type { Tier } from '../../core/tiers.ts'
import type { ApiDatabase } from '../../storage/api-database.ts'
import {
  deleteExpiredSessions,
  deleteOldestSessions,
  insertSession,
} from '../../storage/sessions-repository.ts'
import { findUser, type StoredUser } from '../../storage/users-repository.ts'
import { readUserAccount } from '../account-tier.ts'
import { hashSecret, newKeySecret } from '../keys/key-secret.ts'

export interface Login {
  readonly sessionId: string
  readonly userId: string
  readonly email: string
  /** The account's: the highest of its own and its active keys'. */
  readonly tier: Tier
  readonly role: Role
  /** Of the session; shown only here. */
  readonly keySecret: string
  readonly expiresAtUnixSeconds: number
}

/** A session is valid for a day wherever a key is. */
export const SESSION_SECONDS = 24 * 60 * 60

/** Of one account; a login beyond it ends the oldest. */
const MAX_SESSIONS = 20

/**
 * For the user whose password was checked; null when the user has been disabled or deleted or has another password since.
 * Deletes the expired sessions of all users, and the oldest of this one.
 * @param transaction the caller's
 */
export async function openSession(
  transaction: ApiDatabase,
  checked: Pick<StoredUser, 'id' | 'passwordHash'>,
  unixSeconds: number,
): Promise<Login | null> {
  await deleteExpiredSessions(transaction, unixSeconds)
  const user = await findUser(transaction, checked.id)
  if (user === null || user.disabledAtUnixSeconds !== null) return null
  if (user.passwordHash !== checked.passwordHash) return null
  const { tier } = await readUserAccount(transaction, user, unixSeconds)
  const { id: userId, email, role } = user
  const keySecret = newKeySecret()
  const expiresAtUnixSeconds = unixSeconds + SESSION_SECONDS
  const session = { id: randomUUID(), userId, createdAtUnixSeconds: unixSeconds, expiresAtUnixSeconds }
  await deleteOldestSessions(transaction, userId, { kept: MAX_SESSIONS - 1 })
  await insertSession(transaction, session, hashSecret(keySecret))
  return { sessionId: session.id, userId, email, tier, role, keySecret, expiresAtUnixSeconds }
}
