/**
 * The limits of a credential: chooses its numbers, asks the shared state, and names in an error the limit that was exceeded. Called by
 * the gate in front of every route with a key; owns no counts.
 */
import type { Credential } from '../core/credential.ts'
import { InvariantError, ServiceError } from '../core/errors.ts'
import {
  afterAnswer,
  type Answer,
  type LimitedRequest,
  type LimitUse,
  type RateState,
  type RequestDecision,
  type RequestLimits,
} from '../core/shared-state.ts'
import { TIER_LIMITS } from '../core/tiers.ts'
import type { ShownRate } from './rate-headers.ts'
import type { OpenBudget, TokenBudgets } from './token-budgets.ts'

export type Admission =
  | {
      readonly outcome: 'admitted'
      /** Null when no rate limit applies: kind `open`. */
      readonly rate: RateState | null
      /** Null while no budget is nearly used up. */
      readonly budgetWarning: string | null
      /** Releases the request's permit, if it has one; repeated calls do nothing. */
      release(): void
    }
  | {
      readonly outcome: 'refused'
      /** `budget_exceeded`, `rate_limit_exceeded`, or `concurrency_limit_exceeded` when the rate alone would have passed. */
      readonly error: ServiceError
      readonly rate: ShownRate
    }

/** A counter is known once it was restored; only one whose time ran out meanwhile is asked for again. */
const MAX_RESTORES = 3

/** The end of a running request cannot be predicted. */
const CONCURRENCY_RETRY_SECONDS = 1

const UNLIMITED: Admission = Object.freeze({
  outcome: 'admitted',
  rate: null,
  budgetWarning: null,
  release: () => {},
})

interface AskedLimits {
  readonly budgets: readonly OpenBudget[]
  readonly maxConcurrent: number
}

type KnownDecision = Exclude<RequestDecision, { readonly outcome: 'budgets-unknown' }>

export class RequestLimiter {
  readonly #limits: RequestLimits
  readonly #budgets: TokenBudgets | null

  /** @param budgets null where no credential has one */
  constructor(limits: RequestLimits, budgets: TokenBudgets | null = null) {
    this.#limits = limits
    this.#budgets = budgets
  }

  /** @param countsAsConcurrent the request generates, and counts as concurrent until its permit is released */
  admit(
    credential: Credential,
    { countsAsConcurrent }: { readonly countsAsConcurrent: boolean },
  ): Answer<Admission> {
    if (credential.kind === 'open') return UNLIMITED
    const { maxConcurrentRequests } = TIER_LIMITS[credential.tier]
    const budgets = countsAsConcurrent ? (this.#budgets?.open(credential.budgets) ?? []) : []
    const request = {
      limitId: credential.limitId,
      requestsPerMinute: effectiveRpm(credential),
      maxConcurrent: countsAsConcurrent ? maxConcurrentRequests : null,
      // Only what the shared state needs.
      budgets: budgets.map(({ counterId, maxTokens }) => ({ counterId, maxTokens })),
    }
    const asked = { budgets, maxConcurrent: maxConcurrentRequests }
    return afterAnswer(this.#limits.admit(request), (decision) =>
      decision.outcome === 'budgets-unknown'
        ? this.#restoreAndAdmit(request, decision.counterIds, asked)
        : this.#toAdmission(decision, asked),
    )
  }

  /** What counts against the limits of these keys now, in their order. */
  inUse(limitIds: readonly string[]): Answer<readonly LimitUse[]> {
    return limitIds.length === 0 ? [] : this.#limits.inUse(limitIds)
  }

  async #restoreAndAdmit(
    request: LimitedRequest,
    counterIds: readonly string[],
    asked: AskedLimits,
  ): Promise<Admission> {
    let unknown = counterIds
    for (let turn = 0; turn < MAX_RESTORES; turn++) {
      await this.#budgets?.restore(asked.budgets, unknown)
      const decision = await this.#limits.admit(request)
      if (decision.outcome !== 'budgets-unknown') return this.#toAdmission(decision, asked)
      unknown = decision.counterIds
    }
    throw new InvariantError('A counter is known when it was restored.')
  }

  #toAdmission(decision: KnownDecision, { budgets, maxConcurrent }: AskedLimits): Admission {
    const { rate } = decision
    switch (decision.outcome) {
      case 'admitted': {
        const { permitId } = decision
        const release = () => (permitId === null ? undefined : this.#limits.release(permitId))
        this.#budgets?.record(budgets, decision.spentTokens)
        const budgetWarning = this.#budgets?.warning(budgets, decision.spentTokens) ?? null
        return { outcome: 'admitted', rate, budgetWarning, release }
      }
      case 'budget-exceeded': {
        if (this.#budgets === null) throw new InvariantError('The request has no budget.')
        this.#budgets.record(budgets, decision.spentTokens)
        const error = this.#budgets.refusal(budgets, decision.spentTokens)
        return { outcome: 'refused', error, rate: { ...rate, resetMs: null } }
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
