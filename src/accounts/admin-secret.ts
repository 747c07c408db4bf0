/** The admin key (`--admin-key`), which is configuration and belongs to no account. */
import { createHash, timingSafeEqual } from 'node:crypto'

/** Whether this secret is the admin key. */
export type AdminCheck = (secret: string | null) => boolean

/**
 * Null without a key: there is no admin. Compares digests in constant time, which reveals neither the key's length nor its
 * beginning.
 * @throws RangeError for an empty key.
 */
export function createAdminCheck(adminKey: string | null): AdminCheck | null {
  if (adminKey === null) return null
  if (adminKey === '') throw new RangeError('The admin key must not be empty.')
  const expected = digest(adminKey)
  return (secret) => secret !== null && timingSafeEqual(digest(secret), expected)
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest()
}
