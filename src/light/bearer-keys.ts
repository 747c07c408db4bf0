/**
 * The bearer-key check in front of every path that is not public. Without a key database any key of the published
 * form is accepted (interface: Authentication, rule 6).
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Credential } from '../core/credential.ts'
import { ServiceError } from '../core/errors.ts'
import { bearerSecret } from '../net/requests/request-head.ts'

const KEY_FORM = /^sk-svc-\S+$/

/** Looks up keys and login tokens of a key database. */
export interface KeyLookup {
  /** Null for a key that is unknown, revoked or expired. @throws when it cannot be looked up. */
  authenticate(secret: string): Promise<Credential | null>
  close(): Promise<void>
}

/**
 * Null without a key database, which alone says whose key it is.
 * @throws ServiceError `unauthorized` unless the request carries a valid key.
 */
export async function requireKey(
  headers: IncomingHttpHeaders,
  lookup: KeyLookup | null,
): Promise<Credential | null> {
  const key = bearerSecret(headers)
  if (key === null || !KEY_FORM.test(key)) throw new ServiceError('unauthorized')
  const credential = await lookup?.authenticate(key)
  if (credential === null) throw new ServiceError('unauthorized')
  return credential ?? null
}
