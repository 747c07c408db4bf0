/** Secrets of the one form there is: `sk-svc-` and 64 hex characters from the system's CSPRNG. */
import { randomBytes } from 'node:crypto'

export const KEY_PREFIX = 'sk-svc-'

export function newKeySecret(): string {
  return KEY_PREFIX + randomBytes(32).toString('hex')
}
