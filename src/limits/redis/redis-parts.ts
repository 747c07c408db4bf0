/** What the parts of the shared state in Redis have in common. */
import type { MemoryState } from '../memory/memory-state.ts'
import type { LeasedPermits } from './leased-permits.ts'
import { isLimitsUnavailable, type RedisLink } from './redis-link.ts'

/** In the place of an answer: the memory of this process is to answer. */
export const AWAY = Symbol('Redis is away')

export interface RedisParts {
  readonly link: RedisLink
  readonly permits: LeasedPermits
  /** Of this process: decides while Redis is away. */
  readonly memory: MemoryState
  /**
   * For a question about limits that failed.
   * @throws the error where a request is to be refused (`--limits-fail closed`), or where Redis is not to blame
   */
  readonly limitsAway: (error: unknown) => typeof AWAY
  /** Of the clock that the scripts run on. */
  readonly toUnixSeconds: (microseconds: number) => number
}

/**
 * For a question about attempts, bans and knocks: they stay bounded in memory, and the admin API stays open to the operator.
 * @throws other errors
 */
export function toAway(error: unknown): typeof AWAY {
  if (!isLimitsUnavailable(error)) throw error
  return AWAY
}
