/**
 * Ends the guessing of passwords: at most 10 failed logins a minute for one e-mail from one address, and 100 from one
 * address. An attempt takes its places before the password is checked and gives them back when it succeeds, so
 * attempts that run at once cannot pass together. A refused attempt is not counted. Memory is bounded.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { secondsUntil } from './sliding-window.ts'
import { SlidingWindows } from './sliding-windows.ts'

const MAX_FAILURES_PER_EMAIL = 10
const MAX_FAILURES_PER_ADDRESS = 100

export interface LoginAttempt {
  /** The login is right: it counts as no failure. An attempt that ends in any other way stays counted. */
  succeed(): void
}

export type LoginAdmission =
  | { readonly outcome: 'admitted'; readonly attempt: LoginAttempt }
  /** `too_many_logins` */
  | { readonly outcome: 'refused'; readonly error: ServiceError }

export class FailedLoginThrottle {
  readonly #clock: Clock
  readonly #byEmail = new SlidingWindows()
  readonly #byAddress = new SlidingWindows()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Addresses, and e-mails from them, that are remembered. */
  get idCount(): number {
    return this.#byEmail.size + this.#byAddress.size
  }

  /** Call before the password is checked. `emailKey` is the e-mail in the form in which it is compared. */
  begin(emailKey: string, addressKey: string): LoginAdmission {
    const nowMs = this.#clock.nowMs()
    const pairId = hashPair(emailKey, addressKey)
    // A refused attempt begins no window, or an address over its limit could fill the memory with e-mails.
    const emailFreeAtMs = this.#byEmail.find(pairId, nowMs)?.freeAtMs(MAX_FAILURES_PER_EMAIL, nowMs) ?? nowMs
    const addressFreeAtMs =
      this.#byAddress.find(addressKey, nowMs)?.freeAtMs(MAX_FAILURES_PER_ADDRESS, nowMs) ?? nowMs
    const freeAtMs = Math.max(emailFreeAtMs, addressFreeAtMs)
    if (freeAtMs > nowMs) return { outcome: 'refused', error: loginError(secondsUntil(freeAtMs, nowMs)) }
    this.#byEmail.open(pairId, nowMs).take(nowMs)
    this.#byAddress.open(addressKey, nowMs).take(nowMs)
    let hasSucceeded = false
    const succeed = (): void => {
      if (hasSucceeded) return
      hasSucceeded = true
      const endMs = this.#clock.nowMs()
      this.#byEmail.find(pairId, endMs)?.giveBack(nowMs)
      this.#byAddress.find(addressKey, endMs)?.giveBack(nowMs)
    }
    return { outcome: 'admitted', attempt: { succeed } }
  }
}

/** One short id, however long the e-mail is that somebody sends; and no e-mail stays in memory. */
function hashPair(emailKey: string, addressKey: string): string {
  return createHash('sha256').update(`${addressKey}\0${emailKey}`, 'utf8').digest('base64')
}

function loginError(seconds: number): ServiceError {
  const params = {
    maxPerEmail: MAX_FAILURES_PER_EMAIL,
    maxPerAddress: MAX_FAILURES_PER_ADDRESS,
    seconds,
  }
  return new ServiceError('too_many_logins', params, { retryAfterSeconds: seconds })
}
