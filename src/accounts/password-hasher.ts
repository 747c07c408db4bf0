/**
 * Passwords as argon2id hashes in PHC form, with the parameters of OWASP's minimum: 19 MiB, 2 passes, 1 lane. A check does
 * the same work whether the user exists or not, so its time reveals no user. Called by the account service.
 */
import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { Semaphore } from '../core/concurrency/semaphore.ts'
import { ServiceError } from '../core/errors.ts'

const ARGON2_PARAMETERS = { memoryKib: 19 * 1024, passes: 2, lanes: 1 }

type Argon2Parameters = Readonly<typeof ARGON2_PARAMETERS>

/** In code points. No account has a longer one. */
const MAX_PASSWORD_LENGTH = 128

/**
 * One new password and one check at a time: hashing runs in libuv's pool of four, which files and name look-ups need as
 * well. They wait in two queues, so that many registrations delay no login.
 */
const MAX_RUNNING = 1
/** About two seconds' work. */
const MAX_WAITING = 128
const RETRY_SECONDS = 1

const SALT_BYTES = 16
const HASH_BYTES = 32

export class PasswordHasher {
  readonly #parameters: Argon2Parameters
  readonly #verify: typeof verify
  readonly #dummyHash: string
  readonly #hashing = createSemaphore()
  readonly #checking = createSemaphore()

  constructor(parameters: Argon2Parameters = ARGON2_PARAMETERS, verifyHash: typeof verify = verify) {
    this.#parameters = parameters
    this.#verify = verifyHash
    this.#dummyHash = randomHash(parameters)
  }

  /** @throws ServiceError `password_queue_full` */
  async hash(password: string): Promise<string> {
    const { memoryKib, passes, lanes } = this.#parameters
    const options = { memoryCost: memoryKib, timeCost: passes, parallelism: lanes, outputLen: HASH_BYTES }
    return await this.#hashing.run(() => hash(password, options))
  }

  /**
   * Whether this is the password behind the hash; null for a user that does not exist. Takes as long in every case.
   * @throws ServiceError `password_queue_full`
   */
  async verify(password: string, passwordHash: string | null): Promise<boolean> {
    const canMatch = passwordHash !== null && !isTooLong(password)
    // Against an empty password, because reading a very long one takes longer.
    if (!canMatch) await this.#checking.run(() => this.#verify(this.#dummyHash, ''))
    return canMatch && (await this.#checking.run(() => this.#verify(passwordHash, password)))
  }
}

function isTooLong(password: string): boolean {
  // Code points are counted only where the length in UTF-16 units leaves it open.
  return password.length > 2 * MAX_PASSWORD_LENGTH || Array.from(password).length > MAX_PASSWORD_LENGTH
}

/** A dummy of equal timing: checking against it takes as long as against a real one, and no known password matches. */
function randomHash({ memoryKib, passes, lanes }: Argon2Parameters): string {
  const salt = toUnpaddedBase64(randomBytes(SALT_BYTES))
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$${salt}$${toUnpaddedBase64(randomBytes(HASH_BYTES))}`
}

function toUnpaddedBase64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

function createSemaphore(): Semaphore {
  const params = { max: MAX_WAITING, seconds: RETRY_SECONDS }
  const refusal = () => new ServiceError('password_queue_full', params, { retryAfterSeconds: RETRY_SECONDS })
  return new Semaphore({ permits: MAX_RUNNING, maxWaiting: MAX_WAITING, refusal })
}
