/** Identifiers that leave the process. Not secrets: keys come from `accounts/`. */
import { randomBytes } from 'node:crypto'

/** 24 hex characters, unique enough for a log line or a `chatcmpl-` id. */
export function newId(): string {
  return randomBytes(12).toString('hex')
}
