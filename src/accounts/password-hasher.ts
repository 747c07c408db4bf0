/**
 * Passwords as argon2id hashes in PHC form, with the parameters of OWASP's minimum: 19 MiB, 2 passes, 1 lane. A check does
 * the same work whether the user exists or not, so its time reveals no user. Called by the account service.
 */
import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { FairSemaphore } from '../core/concurrency/fair-semaphore.ts'
import { passwordQueueFull } from '../limits/attempt-throttle.ts'

const ARGON2_PARAMETERS = { memoryKib: 19 * 1024, passes: 2, lanes: 1 }

type Argon2Parameters = Readonly<typeof ARGON2_PARAMETERS>

/** In code points. No account has a longer one. */
const MAX_PASSWORD_LENGTH = 128

/**
 * One new password and one check run at a time: hashing runs in libuv's pool of four, which files and name look-ups need as
 * well. They wait in two queues, so that many registrations delay no login, and in a line for each client's address, so that
 * many from one delay no other. About seven seconds' work.
 */
const MAX_WAITING = 512

const QUEUE = { maxWaiting: MAX_WAITING, refusal: () => passwordQueueFull(MAX_WAITING) }

const SALT_BYTES = 16
const HASH_BYTES = 32

export class PasswordHasher {
  readonly #parameters: Argon2Parameters
  readonly #verify: typeof verify
  readonly #dummyHash: string
  readonly #hashing = new FairSemaphore(QUEUE)
  readonly #checking = new FairSemaphore(QUEUE)

  constructor(parameters: Argon2Parameters = ARGON2_PARAMETERS, verifyHash: typeof verify = verify) {
    this.#parameters = parameters
    this.#verify = verifyHash
    this.#dummyHash = randomHash(parameters)
  }

  /** @param line the client's address, or the admin's own line. @throws ServiceError `password_queue_full` */
  async hash(password: string, line: string): Promise<string> {
    const { memoryKib, passes, lanes } = this.#parameters
    const options = { memoryCost: memoryKib, timeCost: passes, parallelism: lanes, outputLen: HASH_BYTES }
    return await this.#hashing.run(line, () => hash(password, options))
  }

  /**
   * Whether this is the password behind the hash; null for a user that does not exist. Takes as long in every case.
   * @param line as for `hash`
   * @throws ServiceError `password_queue_full`
   */
  async verify(password: string, passwordHash: string | null, line: string): Promise<boolean> {
    const canMatch = passwordHash !== null && !isTooLong(password)
    // Against an empty password, because reading a very long one takes longer.
    if (!canMatch) await this.#checking.run(line, () => this.#verify(this.#dummyHash, ''))
    return canMatch && (await this.#checking.run(line, () => this.#verify(passwordHash, password)))
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
