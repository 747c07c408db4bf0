/**
 * What the gates ask before a request with a credential goes on. Asynchronous, so that another process or Redis can
 * answer it as well as this one's memory. One call decides the rate and the concurrency together: a request that
 * either refuses is counted under neither.
 */
import type { Credential } from '../core/credential.ts'
import type { ServiceError } from '../core/errors.ts'
import { TIER_LIMITS } from '../core/tiers.ts'

/** How a credential stands against its rate limit, for the headers of its answer. */
export interface RateState {
  readonly limit: number
  readonly remaining: number
  /** Until the window is empty again. */
  readonly resetMs: number
}

export interface Permit {
  /** Null when no rate limit applies: kind `open`. */
  readonly rate: RateState | null
  /** Gives back the place among the concurrent requests, if one was taken; a second call does nothing. */
  release(): void
}

export type Admission =
  | { readonly outcome: 'admitted'; readonly permit: Permit }
  | {
      readonly outcome: 'refused'
      /** `rate_limit_exceeded`, or `concurrency_limit_exceeded` when the rate alone would have passed. */
      readonly error: ServiceError
      readonly rate: RateState
    }

export interface Limiter {
  /** `takesPlace`: the request generates, so it counts among the concurrent ones until its permit is released. */
  admit(credential: Credential, options: { readonly takesPlace: boolean }): Promise<Admission>
  /**
   * A new key starts with its maker's window, and with what the account's revoked keys have left behind: their minute,
   * and the requests of theirs that still run. Or else making, using and revoking keys in a loop would be a way around
   * both limits. Nothing has been counted under `limitId` yet.
   */
  begin(limitId: string, origin: { readonly makerLimitId: string; readonly accountId: string }): Promise<void>
  /** The key is revoked: what is counted under it stays with its account, for the keys that are made after it. */
  retire(limitId: string, accountId: string): Promise<void>
}

/** The number that applies: the admin's, else the tier's. */
export function effectiveRpm({
  tier,
  customRateLimitRpm,
}: Pick<Credential, 'tier' | 'customRateLimitRpm'>): number {
  return customRateLimitRpm ?? TIER_LIMITS[tier].requestsPerMinute
}
