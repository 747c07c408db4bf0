/** Login sessions. Every function takes the database or a transaction. An ended session is deleted. */
import type { ApiDatabase } from './api-database.ts'

interface StoredSession {
  readonly id: string
  readonly userId: string
  readonly createdAtUnixSeconds: number
  readonly expiresAtUnixSeconds: number
}

export async function insertSession(
  db: ApiDatabase,
  session: StoredSession,
  secretHash: string,
): Promise<void> {
  await db
    .insertInto('sessions')
    .values({
      id: session.id,
      secret_hash: secretHash,
      user_id: session.userId,
      created_at: session.createdAtUnixSeconds,
      expires_at: session.expiresAtUnixSeconds,
    })
    .execute()
}

export async function isSessionLive(db: ApiDatabase, id: string, unixSeconds: number): Promise<boolean> {
  const session = await db
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', id)
    .where('expires_at', '>', unixSeconds)
    .executeTakeFirst()
  return session !== undefined
}

export async function deleteSession(db: ApiDatabase, id: string): Promise<void> {
  await db.deleteFrom('sessions').where('id', '=', id).execute()
}

/** Ends the user's sessions, all but `keptId`. */
export async function deleteSessionsOf(
  db: ApiDatabase,
  userId: string,
  { keptId }: { readonly keptId: string | null } = { keptId: null },
): Promise<void> {
  let query = db.deleteFrom('sessions').where('user_id', '=', userId)
  if (keptId !== null) query = query.where('id', '<>', keptId)
  await query.execute()
}

/** Ends all but the user's `kept` newest sessions. */
export async function deleteOldestSessions(
  db: ApiDatabase,
  userId: string,
  { kept }: { readonly kept: number },
): Promise<void> {
  const newest = db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(kept)
  await db.deleteFrom('sessions').where('user_id', '=', userId).where('id', 'not in', newest).execute()
}

export async function deleteExpiredSessions(db: ApiDatabase, unixSeconds: number): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<=', unixSeconds).execute()
}
