/**
 * Secrets of keys and sessions: `sk-svc-` and 64 hex characters from the system's CSPRNG. Only their hashes are stored; 256
 * random bits need no salt and no slow hash.
 */
import { hash, randomBytes } from 'node:crypto'

const KEY_PREFIX = 'sk-svc-'

/** Hex characters of the secret that listings show. */
const SHOWN_HEX_CHARACTERS = 8

const KEY_SECRET = /^sk-svc-[0-9a-f]{64}$/

export function newKeySecret(): string {
  return KEY_PREFIX + randomBytes(32).toString('hex')
}

/** Whether it could have come from `newKeySecret`. */
export function isKeySecret(secret: string): boolean {
  return KEY_SECRET.test(secret)
}

/** The part that listings show: 15 characters. */
export function shownPrefix(keySecret: string): string {
  return keySecret.slice(0, KEY_PREFIX.length + SHOWN_HEX_CHARACTERS)
}

/** SHA-256 in hex. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}
