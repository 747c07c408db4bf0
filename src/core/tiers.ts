/** The three tiers and what each allows (interface, "Tiers"). Data only; `limits/` and the scheduler read it. */
export const TIERS = ['free', 'pro', 'enterprise'] as const

export type Tier = (typeof TIERS)[number]

export interface TierLimits {
  readonly maxKeys: number
  readonly requestsPerMinute: number
  /** Tokens one request may generate per prompt. */
  readonly maxTokensPerRequest: number
  /** Generation requests at once; Infinity is unlimited. */
  readonly maxConcurrentRequests: number
  /** Order in the waiting queue: higher runs first. */
  readonly priorityClass: number
}

export const TIER_LIMITS: Readonly<Record<Tier, TierLimits>> = {
  free: {
    maxKeys: 2,
    requestsPerMinute: 60,
    maxTokensPerRequest: 2048,
    maxConcurrentRequests: 1,
    priorityClass: 0,
  },
  pro: {
    maxKeys: 10,
    requestsPerMinute: 1000,
    maxTokensPerRequest: 4096,
    maxConcurrentRequests: 5,
    priorityClass: 1,
  },
  enterprise: {
    maxKeys: 100,
    requestsPerMinute: 10_000,
    maxTokensPerRequest: 8192,
    maxConcurrentRequests: Number.POSITIVE_INFINITY,
    priorityClass: 2,
  },
}
