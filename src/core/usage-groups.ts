/** What usage is reported by. Data only; storage, the admin API and the command line read it. */

export const USAGE_GROUPS = ['key', 'user', 'team', 'model', 'endpoint'] as const

/** A user is an account, which may be a key of its own or the operator; an endpoint is the route's path. */
export type UsageGroup = (typeof USAGE_GROUPS)[number]

/** Of UTC. */
export const USAGE_BUCKETS = ['hour', 'day'] as const

export type UsageBucket = (typeof USAGE_BUCKETS)[number]
