/**
 * Keys that are configuration (`--api-keys`): any non-empty strings, all of the built-in account `operator`, tier
 * `enterprise`. Only their hashes are kept. Looking a hash up takes no longer for a secret that is nearly right.
 */
import { type Credential, OPERATOR_ACCOUNT_ID } from '../core/credential.ts'
import type { Authenticator } from './authenticator.ts'
import { hashSecret } from './key-secret.ts'

/** @throws RangeError for an empty secret, which would let everyone in who sends an empty one. */
export function createStaticKeyAuthenticator(secrets: readonly string[]): Authenticator {
  const credentials = new Map<string, Credential>()
  for (const secret of secrets) {
    if (secret === '') throw new RangeError('An API key must not be empty.')
    const hash = hashSecret(secret)
    // The id comes from the hash, so that reordering the list does not hand one key's usage to another.
    credentials.set(hash, operatorCredential(`static-${hash.slice(0, 16)}`, 'static'))
  }
  return {
    authenticate: async (secret) => (secret === null ? null : (credentials.get(hashSecret(secret)) ?? null)),
  }
}

/** `--auth-mode none`: every caller is the operator, with or without a key. */
export function createOpenAuthenticator(): Authenticator {
  const credential = operatorCredential('static-open', 'open')
  return { authenticate: async () => credential }
}

function operatorCredential(keyId: string, kind: 'static' | 'open'): Credential {
  return Object.freeze({
    keyId,
    accountId: OPERATOR_ACCOUNT_ID,
    userId: null,
    kind,
    tier: 'enterprise',
    customRateLimitRpm: null,
    limitId: keyId,
  })
}
