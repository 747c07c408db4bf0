/**
 * `--rate-limit`: requests per minute per client address, before anything is known of the caller. The gate chooses the
 * routes and makes the address's key; the counts are in the shared state.
 */
import { ServiceError } from '../core/errors.ts'
import { afterAnswer, type Answer, type RequestLimits } from '../core/shared-state.ts'

interface AddressLimiterOptions {
  readonly requestsPerMinute: number
  readonly limits: Pick<RequestLimits, 'admit'>
}

export class AddressLimiter {
  readonly #options: AddressLimiterOptions

  constructor(options: AddressLimiterOptions) {
    this.#options = options
  }

  /** Counts a request of this address, or returns `address_rate_limit_exceeded`; a refused request is not counted. */
  refuse(addressKey: string): Answer<ServiceError | null> {
    const { requestsPerMinute: limit, limits } = this.#options
    // No credential's id has this form.
    const limitId = `address:${addressKey}`
    const request = { limitId, requestsPerMinute: limit, maxConcurrent: null, budgets: [] }
    return afterAnswer(limits.admit(request), (decision) => {
      if (decision.outcome !== 'rate-exceeded') return null
      const { retryAfterSeconds } = decision
      const params = { limit, seconds: retryAfterSeconds }
      return new ServiceError('address_rate_limit_exceeded', params, { retryAfterSeconds })
    })
  }
}
