/**
 * Chooses where the shared state is: in the memory of this process, or in Redis, whose client is loaded only there. Opened before
 * the databases, so that a Redis that cannot be used fails the start; closed after all that asks it.
 */
import type { ServerConfig } from '../config/server-config.ts'
import type { Clock } from '../core/clock.ts'
import type { ServiceError } from '../core/errors.ts'
import type { LogWriter } from '../core/log-writer.ts'
import type { SharedState } from '../core/shared-state.ts'
import type { KnockSequence } from '../limits/memory/knocks.ts'
import { MemoryState } from '../limits/memory/memory-state.ts'

export interface OpenedState {
  readonly shared: SharedState
  /** Whether Redis is there; null without Redis. */
  readonly isRedisUp: (() => boolean) | null
  /** Why every limited request is refused; null while none is. */
  whyUnavailable(): ServiceError | null
  close(): Promise<void>
}

export interface SharedStateDeps {
  readonly knockSequence: KnockSequence | null
  readonly clock: Clock
  readonly log: Pick<LogWriter, 'error' | 'info'>
}

/** @throws StartError */
export async function openSharedState(
  { redis: url, limitsFail }: Pick<ServerConfig, 'redis' | 'limitsFail'>,
  deps: SharedStateDeps,
): Promise<OpenedState> {
  if (url === null) {
    const shared = new MemoryState(deps.clock, deps.knockSequence)
    return { shared, isRedisUp: null, whyUnavailable: () => null, close: async () => {} }
  }
  const { RedisState } = await import('../limits/redis/redis-state.ts')
  const shared = await RedisState.open({ ...deps, url, limitsFail })
  return {
    shared,
    isRedisUp: () => !shared.isAway,
    whyUnavailable: () => shared.whyUnavailable(),
    close: () => shared.close(),
  }
}
