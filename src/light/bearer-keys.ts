/**
 * The bearer-key check in front of every path that is not public. Without a key database any key of the published
 * form is accepted (interface: Authentication, rule 6).
 */
import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '../core/errors.ts'

/** In any case the scheme, in this one the prefix of the key. */
const BEARER_KEY = /^[Bb][Ee][Aa][Rr][Ee][Rr] +sk-svc-\S+ *$/

/** @throws ServiceError `unauthorized` unless the request carries a key. */
export function requireKey({ authorization = '' }: IncomingHttpHeaders): void {
  if (!BEARER_KEY.test(authorization)) throw new ServiceError('unauthorized')
}
