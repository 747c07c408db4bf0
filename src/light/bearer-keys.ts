/**
 * The bearer-key check in front of every path that is not public. Without a key database any key of the published
 * form is accepted (interface: Authentication, rule 6).
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Credential } from '../core/credential.ts'
import { ServiceError } from '../core/errors.ts'
import { bearerSecret } from '../net/requests/bearer-secret.ts'

const KEY_FORM = /^sk-svc-\S+$/

/** Who a key stands for; the keys of a database have one, and so have their sessions. */
export interface KeyLookup {
  /** Null for a key that is unknown, revoked or expired. @throws when it cannot be looked up. */
  authenticate(secret: string): Promise<Credential | null>
  close(): Promise<void>
}

/**
 * Null without a key database, where nobody knows whose key it is, and nothing is waited for.
 * @throws ServiceError `unauthorized` unless the request carries a valid key.
 */
export function requireKey(
  headers: IncomingHttpHeaders,
  lookup: KeyLookup | null,
): Promise<Credential> | null {
  const key = bearerSecret(headers)
  if (key === null || !KEY_FORM.test(key)) throw new ServiceError('unauthorized')
  return lookup === null ? null : findCredential(key, lookup)
}

async function findCredential(key: string, lookup: KeyLookup): Promise<Credential> {
  const credential = await lookup.authenticate(key)
  if (credential === null) throw new ServiceError('unauthorized')
  return credential
}
