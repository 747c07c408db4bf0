/**
 * Keys from the configuration (`--api-keys`): any non-empty strings, all of the built-in account `operator`, tier
 * `enterprise`. Only their hashes are kept, so the time of a look-up reveals nothing of a secret that is nearly right.
 */
import { createHmac } from 'node:crypto'
import { type Credential, OPERATOR_ACCOUNT_ID } from '../../core/credential.ts'
import type { Authenticator } from '../authenticator.ts'
import { hashSecret } from './key-secret.ts'

/**
 * `idSalt` is secret and stays the same: ids are in the log, and a weak secret could otherwise be guessed from its id.
 * @throws RangeError for an empty secret, which would let everyone in who sends an empty one.
 */
export function createStaticKeyAuthenticator(secrets: readonly string[], idSalt: string): Authenticator {
  const credentials = new Map<string, Credential>()
  for (const secret of secrets) {
    if (secret === '') throw new RangeError('An API key must not be empty.')
    // Derived from the secret, so that a reordered list does not mix up the usage of keys.
    const id = createHmac('sha256', idSalt).update(secret, 'utf8').digest('hex').slice(0, 16)
    credentials.set(hashSecret(secret), operatorCredential(`static-${id}`, 'static'))
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
