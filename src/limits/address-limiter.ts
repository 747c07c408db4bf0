/**
 * `--rate-limit`: requests per minute per client address, asked before anything is known of the caller. The gate
 * chooses the routes and makes the address's key; a refused request is not counted. Memory is bounded: an address
 * that stays away is forgotten.
 */
import type { Clock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { secondsUntil } from './sliding-window.ts'
import { SlidingWindows } from './sliding-windows.ts'

export type AddressAdmission =
  | { readonly outcome: 'admitted' }
  /** `address_rate_limit_exceeded` */
  | { readonly outcome: 'refused'; readonly error: ServiceError }

const ADMITTED: AddressAdmission = Object.freeze({ outcome: 'admitted' })

export interface AddressLimiterOptions {
  readonly requestsPerMinute: number
  readonly clock: Clock
}

export class AddressLimiter {
  readonly #limit: number
  readonly #clock: Clock
  readonly #windows = new SlidingWindows()

  constructor({ requestsPerMinute, clock }: AddressLimiterOptions) {
    this.#limit = requestsPerMinute
    this.#clock = clock
  }

  /** Addresses that are remembered. */
  get idCount(): number {
    return this.#windows.size
  }

  admit(addressKey: string): AddressAdmission {
    const nowMs = this.#clock.nowMs()
    const window = this.#windows.open(addressKey, nowMs)
    const freeAtMs = window.freeAtMs(this.#limit, nowMs)
    if (freeAtMs <= nowMs) {
      window.take(nowMs)
      return ADMITTED
    }
    const seconds = secondsUntil(freeAtMs, nowMs)
    const params = { limit: this.#limit, seconds }
    const error = new ServiceError('address_rate_limit_exceeded', params, { retryAfterSeconds: seconds })
    return { outcome: 'refused', error }
  }
}
