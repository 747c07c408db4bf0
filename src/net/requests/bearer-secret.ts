/** The secret of a request's bearer key, and how long what was looked up by it holds. */
import type { IncomingHttpHeaders } from 'node:http'

/** A body may take longer to arrive; then the key is looked up again, as it may be revoked or of another tier. */
export const CREDENTIAL_FRESH_MS = 100

const BEYOND_ASCII = /[\x80-\xff]/

/** Null without one; the scheme may be in any case. */
export function bearerSecret({ authorization = '' }: IncomingHttpHeaders): string | null {
  const secret = /^bearer +(\S.*)$/i.exec(authorization)?.[1]?.trimEnd() ?? null
  // Node reads header bytes as Latin-1, clients write UTF-8.
  return secret !== null && BEYOND_ASCII.test(secret)
    ? Buffer.from(secret, 'latin1').toString('utf8')
    : secret
}
