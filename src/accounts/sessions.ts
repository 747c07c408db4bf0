/** Login sessions: a secret in the form of a key, valid for a day wherever a key is. */
import { randomUUID } from 'node:crypto'
import type { Tier } from '../core/tiers.ts'
import type { ApiDatabase } from '../storage/api-database.ts'
import { deleteExpiredSessions, insertSession } from '../storage/sessions-repository.ts'
import { findUser, type StoredUser } from '../storage/users-repository.ts'
import { readUserAccount } from './account-tier.ts'
import { hashSecret, newKeySecret } from './keys/key-secret.ts'

export interface Login {
  readonly userId: string
  readonly email: string
  /** The account's: the highest of its own and its active keys'. */
  readonly tier: Tier
  /** Of the session; shown here and never again. */
  readonly keySecret: string
  readonly expiresAtUnixSeconds: number
}

const SESSION_SECONDS = 24 * 60 * 60

/**
 * Opens a session for the user whose password was checked; null when the user has been disabled or deleted or has another
 * password since. Deletes the expired sessions of all users.
 */
export async function openSession(
  database: ApiDatabase,
  checked: StoredUser,
  unixSeconds: number,
): Promise<Login | null> {
  const keySecret = newKeySecret()
  const expiresAtUnixSeconds = unixSeconds + SESSION_SECONDS
  return await database.transaction().execute(async (transaction) => {
    await deleteExpiredSessions(transaction, unixSeconds)
    const user = await findUser(transaction, checked.id)
    if (user === null || user.disabledAtUnixSeconds !== null) return null
    if (user.passwordHash !== checked.passwordHash) return null
    const { tier } = await readUserAccount(transaction, user, unixSeconds)
    const session = {
      id: randomUUID(),
      userId: user.id,
      createdAtUnixSeconds: unixSeconds,
      expiresAtUnixSeconds,
    }
    await insertSession(transaction, session, hashSecret(keySecret))
    return { userId: user.id, email: user.email, tier, keySecret, expiresAtUnixSeconds }
  })
}
