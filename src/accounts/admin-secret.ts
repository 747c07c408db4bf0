/** The admin key (`--admin-key`), which is configuration and belongs to no account. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { AttemptThrottle } from '../limits/attempt-throttle.ts'
import { isKeySecret } from './keys/key-secret.ts'

/** Whether this secret is the admin key. @throws ServiceError `too_many_admin_keys` */
export type AdminCheck = (secret: string, addressKey: string) => Promise<boolean>

/**
 * Null without a key: there is no admin. Compares digests in constant time, which reveals neither the key's length nor its
 * beginning. A wrong key counts as a guess, unless it has the form of an API key: nobody guesses 256 random bits, and a user
 * who calls an admin route by mistake is no attacker.
 * @throws RangeError for an empty key.
 */
export function createAdminCheck(
  adminKey: string | null,
  throttle: Pick<AttemptThrottle, 'adminKey'>,
): AdminCheck | null {
  if (adminKey === null) return null
  if (adminKey === '') throw new RangeError('The admin key must not be empty.')
  const expected = digest(adminKey)
  return async (secret, addressKey) => {
    const isRight = () => timingSafeEqual(digest(secret), expected)
    return isKeySecret(secret) ? isRight() : await throttle.adminKey(addressKey, isRight)
  }
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest()
}
