/**
 * Who a request acts for. The API asks an `Authenticator` on every request and never caches the answer, so a
 * revoked key stops at once. Implemented by the keys of the command line and by the key database.
 */
import type { Tier } from '../core/tiers.ts'

/** A proven right to act: one key of one account, with the tier that key has now. */
export interface Credential {
  readonly keyId: string
  readonly accountId: string
  readonly tier: Tier
}

export interface Authenticator {
  /**
   * Null for a secret that is missing, unknown, revoked or expired: the caller is told the same in all cases.
   * @throws when the secret cannot be looked up; that is a 500, never a 401.
   */
  authenticate(secret: string | null): Promise<Credential | null>
}
