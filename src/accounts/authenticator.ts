/**
 * Who a request acts for. The API asks an `Authenticator` on every request and never caches the answer, so a
 * revoked key stops at once. Implemented by the keys of the command line and by the key database.
 */
import type { Credential } from '../core/credential.ts'

export interface Authenticator {
  /**
   * Null for a secret that is missing, unknown, revoked or expired: the caller is told the same in all cases.
   * @throws when the secret cannot be looked up; that is a 500, never a 401.
   */
  authenticate(secret: string | null): Promise<Credential | null>
}

/** Asks each in turn until one knows the secret. */
export function createCombinedAuthenticator(...authenticators: readonly Authenticator[]): Authenticator {
  return {
    authenticate: async (secret) => {
      for (const authenticator of authenticators) {
        const credential = await authenticator.authenticate(secret)
        if (credential !== null) return credential
      }
      return null
    },
  }
}
