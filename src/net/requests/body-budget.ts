/**
 * The bytes of all request bodies that this server holds: of those that arrive, and of those whose requests are not answered
 * yet. One for a server; `read-body.ts` takes from it as bytes come in, so that whoever only declares a large body takes
 * nothing. One address may take half of what the others leave, so that no few of them take all. Where many clients share an
 * address, as behind a proxy that is not trusted, they share that half.
 *
 * Invariant: what is taken is the sum of the open holds, by address and in all.
 */
import { InvariantError, ServiceError } from '../../core/errors.ts'

const MEBIBYTE = 1024 * 1024

export const MAX_HELD_BODY_BYTES = 64 * MEBIBYTE

/** Bodies this small are not counted: those of all connections together are 40 MB. */
export const UNCOUNTED_BODY_BYTES = 4096

/** Bodies are read and parsed within a fraction of a second; generations take longer. */
const RETRY_SECONDS = 1

/** What one request has taken. Its holder disposes it when nothing of the body is needed any more. */
export interface BodyHold extends Disposable {
  /** @throws ServiceError `too_many_bodies` */
  take(bytes: number): void
}

export class BodyBudget {
  readonly #maxBytes: number
  readonly #byAddress = new Map<string, number>()
  #taken = 0

  constructor(maxBytes = MAX_HELD_BODY_BYTES) {
    this.#maxBytes = maxBytes
  }

  get takenBytes(): number {
    return this.#taken
  }

  /** @param address one name for all addresses that one client owns */
  open(address: string): BodyHold {
    let held = 0
    return {
      take: (bytes) => {
        this.#take(address, bytes)
        held += bytes
      },
      [Symbol.dispose]: () => {
        this.#giveBack(address, held)
        held = 0
      },
    }
  }

  /** @throws InvariantError when the books do not add up. */
  checkIntegrity(): void {
    const held = [...this.#byAddress.values()]
    if (held.some((bytes) => bytes <= 0))
      throw new InvariantError('an address that holds nothing is forgotten')
    if (held.reduce((sum, bytes) => sum + bytes, 0) !== this.#taken)
      throw new InvariantError('the addresses hold what is taken')
  }

  #take(address: string, bytes: number): void {
    const before = this.#byAddress.get(address) ?? 0
    const most = Math.floor((this.#maxBytes - (this.#taken - before)) / 2)
    if (before + bytes > most) throw full(`of your address at most ${most}`)
    this.#byAddress.set(address, before + bytes)
    this.#taken += bytes
  }

  #giveBack(address: string, bytes: number): void {
    const left = (this.#byAddress.get(address) ?? 0) - bytes
    if (left > 0) this.#byAddress.set(address, left)
    else this.#byAddress.delete(address)
    this.#taken -= bytes
  }
}

function full(bound: string): ServiceError {
  const params = { bound, seconds: RETRY_SECONDS }
  return new ServiceError('too_many_bodies', params, { retryAfterSeconds: RETRY_SECONDS })
}
