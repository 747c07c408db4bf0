/**
 * The limits of a credential: chooses its numbers, asks the shared state, and names in an error the limit that was exceeded. Called by
 * the gate in front of every route with a key; owns no counts.
 */
import type { Credential } from '../core/credential.ts'
import { InvariantError, ServiceError } from '../core/errors.ts'
import {
  afterAnswer,
  type Answer,
  type RateState,
  type RequestDecision,
  type RequestLimits,
} from '../core/shared-state.ts'
import { TIER_LIMITS } from '../core/tiers.ts'
import type { ShownRate } from './rate-headers.ts'

export type Admission =
  | {
      readonly outcome: 'admitted'
      /** Null when no rate limit applies: kind `open`. */
      readonly rate: RateState | null
      /** Releases the request's permit, if it has one; repeated calls do nothing. */
      release(): void
    }
  | {
      readonly outcome: 'refused'
      /** `rate_limit_exceeded`, or `concurrency_limit_exceeded` when the rate alone would have passed. */
      readonly error: ServiceError
      readonly rate: ShownRate
    }

/** The end of a running request cannot be predicted. */
const CONCURRENCY_RETRY_SECONDS = 1

const UNLIMITED: Admission = Object.freeze({ outcome: 'admitted', rate: null, release: () => {} })

export class RequestLimiter {
  readonly #limits: RequestLimits

  constructor(limits: RequestLimits) {
    this.#limits = limits
  }

  /** @param countsAsConcurrent the request generates, and counts as concurrent until its permit is released */
  admit(
    credential: Credential,
    { countsAsConcurrent }: { readonly countsAsConcurrent: boolean },
  ): Answer<Admission> {
    if (credential.kind === 'open') return UNLIMITED
    const { maxConcurrentRequests } = TIER_LIMITS[credential.tier]
    const request = {
      limitId: credential.limitId,
      requestsPerMinute: effectiveRpm(credential),
      maxConcurrent: countsAsConcurrent ? maxConcurrentRequests : null,
      budgets: [],
    }
    return afterAnswer(this.#limits.admit(request), (decision) =>
      this.#toAdmission(decision, maxConcurrentRequests),
    )
  }

  #toAdmission(decision: RequestDecision, maxConcurrent: number): Admission {
    if (decision.outcome === 'budgets-unknown' || decision.outcome === 'budget-exceeded')
      throw new InvariantError('The request has no budget.')
    const { rate } = decision
    switch (decision.outcome) {
      case 'admitted': {
        const { permitId } = decision
        const release = () => (permitId === null ? undefined : this.#limits.release(permitId))
        return { outcome: 'admitted', rate, release }
      }
      case 'rate-exceeded': {
        const { retryAfterSeconds } = decision
        const params = { limit: rate.limit, seconds: retryAfterSeconds }
        const error = new ServiceError('rate_limit_exceeded', params, { retryAfterSeconds })
        return { outcome: 'refused', error, rate }
      }
      case 'concurrency-exceeded': {
        const params = { limit: maxConcurrent, running: decision.running }
        const options = { retryAfterSeconds: CONCURRENCY_RETRY_SECONDS }
        const error = new ServiceError('concurrency_limit_exceeded', params, options)
        // Clients that find a reset wait for it, up to a minute, where a running request may end at once.
        return { outcome: 'refused', error, rate: { ...rate, resetMs: null } }
      }
    }
  }
}

/** Requests per minute: the admin's number for this key, else the tier's. */
export function effectiveRpm({
  tier,
  customRateLimitRpm,
}: Pick<Credential, 'tier' | 'customRateLimitRpm'>): number {
  return customRateLimitRpm ?? TIER_LIMITS[tier].requestsPerMinute
}
