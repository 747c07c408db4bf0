/**
 * `--rate-limit`: requests per minute per client address, before anything is known of the caller. The gate chooses the
 * routes and makes the address's key; the counts are in the shared state.
 */
import { ServiceError } from '../core/errors.ts'
import { type AddressLimits, afterAnswer, type Answer } from '../core/shared-state.ts'

export interface AddressLimiterOptions {
  readonly requestsPerMinute: number
  readonly limits: AddressLimits
}

export class AddressLimiter {
  readonly #requestsPerMinute: number
  readonly #limits: AddressLimits

  constructor({ requestsPerMinute, limits }: AddressLimiterOptions) {
    this.#requestsPerMinute = requestsPerMinute
    this.#limits = limits
  }

  /** Counts a request of this address, or gives `address_rate_limit_exceeded`; a refused request is not counted. */
  refuse(addressKey: string): Answer<ServiceError | null> {
    const limit = this.#requestsPerMinute
    return afterAnswer(this.#limits.admit(addressKey, limit), (seconds) =>
      seconds === null
        ? null
        : new ServiceError('address_rate_limit_exceeded', { limit, seconds }, { retryAfterSeconds: seconds }),
    )
  }
}
