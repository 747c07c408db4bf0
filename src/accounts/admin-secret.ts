/**
 * The admin keys (`--admin-key`), which are configuration and belong to no account, and the metrics keys (`--metrics-key`), which
 * open the metrics alone. Several are valid at once, so that one can be replaced without a moment at which neither works.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { AttemptThrottle } from '../limits/attempt-throttle.ts'
import { isKeySecret } from './keys/key-secret.ts'

/** Whether this secret is an admin key. @throws ServiceError `too_many_admin_keys` */
export type AdminCheck = (secret: string, addressKey: string) => Promise<boolean>

/**
 * Compares digests in constant time, and all of them, which reveals neither a key's length nor its beginning nor which one it
 * is. A wrong key counts as a guess, unless it has the form of an API key: nobody guesses 256 random bits, and a user
 * who calls an admin route by mistake is no attacker.
 */
export class AdminKeys {
  readonly #throttle: Pick<AttemptThrottle, 'adminKey'>
  #digests: readonly Buffer[]

  /** Without keys there is no admin. @throws RangeError for an empty key. */
  constructor(keys: readonly string[], throttle: Pick<AttemptThrottle, 'adminKey'>) {
    this.#digests = keys.map(digestKey)
    this.#throttle = throttle
  }

  /** Null where there is no admin. */
  get check(): AdminCheck | null {
    return this.#digests.length === 0 ? null : (secret, addressKey) => this.#check(secret, addressKey)
  }

  /** As `check`, with other keys that are as good; null where there are neither. @throws RangeError for an empty key. */
  checkBeside(others: readonly string[]): AdminCheck | null {
    const digests = others.map(digestKey)
    if (digests.length === 0) return this.check
    return (secret, addressKey) => this.#check(secret, addressKey, digests)
  }

  /** From the next request on. An admin API that is off stays off. @throws RangeError for an empty key. */
  replace(keys: readonly string[]): void {
    this.#digests = keys.map(digestKey)
  }

  async #check(secret: string, addressKey: string, others: readonly Buffer[] = []): Promise<boolean> {
    const isRight = () => includesDigest([...this.#digests, ...others], digest(secret))
    return isKeySecret(secret) ? isRight() : await this.#throttle.adminKey(addressKey, isRight)
  }
}

function includesDigest(digests: readonly Buffer[], given: Buffer): boolean {
  return digests.reduce((isRight, expected) => timingSafeEqual(given, expected) || isRight, false)
}

function digestKey(key: string): Buffer {
  if (key === '') throw new RangeError('The admin key must not be empty.')
  return digest(key)
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest()
}
