/**
 * The credential behind a request's secret. The API asks on every request and never caches the answer, so a revoked key
 * stops at once. Implemented by the static keys of the command line and by the accounts database.
 */
import type { Credential } from '../core/credential.ts'

export interface Authenticator {
  /**
   * Null for a secret that is missing, unknown, revoked or expired: the answer is the same in all cases.
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
