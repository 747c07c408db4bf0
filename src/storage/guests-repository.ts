/**
 * Guests: who opened the link that a start printed, while there is no admin. Every function takes the database or a transaction.
 * A link becomes its guest as it is opened, so it opens once.
 */
import type { ApiDatabase } from './api-database.ts'
import { selectActiveAdmins } from './users-repository.ts'

interface StoredGuest {
  readonly id: string
  readonly expiresAtUnixSeconds: number
}

export async function insertStartLink(
  db: ApiDatabase,
  { id, expiresAtUnixSeconds, unixSeconds }: StoredGuest & { readonly unixSeconds: number },
  secretHash: string,
): Promise<void> {
  const times = { created_at: unixSeconds, expires_at: expiresAtUnixSeconds, opened_at: null }
  await db
    .insertInto('guests')
    .values({ id, secret_hash: secretHash, ...times })
    .execute()
}

interface LinkOpening {
  readonly linkHash: string
  readonly guestHash: string
  readonly unixSeconds: number
  readonly expiresAtUnixSeconds: number
}

/** Null for a link that there is not, was opened or has expired. */
export async function openStartLink(
  db: ApiDatabase,
  { linkHash, guestHash, unixSeconds, expiresAtUnixSeconds }: LinkOpening,
): Promise<StoredGuest | null> {
  const opened = await db
    .updateTable('guests')
    .set({ secret_hash: guestHash, opened_at: unixSeconds, expires_at: expiresAtUnixSeconds })
    .where('secret_hash', '=', linkHash)
    .where('opened_at', 'is', null)
    .where('expires_at', '>', unixSeconds)
    .returning('id')
    .executeTakeFirst()
  return opened === undefined ? null : { id: opened.id, expiresAtUnixSeconds }
}

/** Of one that has opened its link; none while there is an admin. */
export async function findGuest(
  db: ApiDatabase,
  secretHash: string,
  unixSeconds: number,
): Promise<StoredGuest | null> {
  const guest = await db
    .selectFrom('guests')
    .select(['id', 'expires_at as expiresAtUnixSeconds'])
    .where('secret_hash', '=', secretHash)
    .where('opened_at', 'is not', null)
    .where('expires_at', '>', unixSeconds)
    .where((row) => row.not(row.exists(selectActiveAdmins(db))))
    .executeTakeFirst()
  return guest ?? null
}

export async function deleteGuest(db: ApiDatabase, id: string): Promise<void> {
  await db.deleteFrom('guests').where('id', '=', id).execute()
}

export async function deleteExpiredGuests(db: ApiDatabase, unixSeconds: number): Promise<void> {
  await db.deleteFrom('guests').where('expires_at', '<=', unixSeconds).execute()
}

/** With their links. */
export async function deleteAllGuests(db: ApiDatabase): Promise<void> {
  await db.deleteFrom('guests').execute()
}
