/**
 * The shared state of several instances, in Redis: each decision is one script, atomic and on the clock of Redis, so it holds
 * for all of them alike. `--limits-fail` says what becomes of requests while Redis is away.
 */
import type { Clock } from '../../core/clock.ts'
import type { ServiceError } from '../../core/errors.ts'
import type { SharedState } from '../../core/shared-state.ts'
import { type KnockSequence, NO_SEQUENCE } from '../memory/knocks.ts'
import { MemoryState } from '../memory/memory-state.ts'
import { RedisAttemptLimits } from './attempt-limits.ts'
import { RedisBans } from './bans.ts'
import { RedisKnocks } from './knocks.ts'
import { LeasedPermits } from './leased-permits.ts'
import { limitsUnavailable, RedisLink, type RedisLinkOptions } from './redis-link.ts'
import { type RedisParts, toAway } from './redis-parts.ts'
import { RedisRequestLimits } from './request-limits.ts'

/** `closed` refuses what would be limited; `open` counts it in the memory of each instance. */
export type LimitsFail = 'open' | 'closed'

export interface RedisStateOptions extends Omit<RedisLinkOptions, 'nowUs'> {
  readonly limitsFail: LimitsFail
  readonly knockSequence: KnockSequence | null
  /** Of this process: while Redis is away. */
  readonly clock: Clock
  /** Whether the scripts run on that clock, too: for tests. @default false */
  readonly isOnOwnClock?: boolean
}

export class RedisState implements SharedState {
  readonly requests: RedisRequestLimits
  readonly attempts: RedisAttemptLimits
  readonly bans: RedisBans
  readonly knocks: RedisKnocks
  readonly #parts: RedisParts
  readonly #limitsFail: LimitsFail

  private constructor(options: RedisStateOptions) {
    const { clock, isOnOwnClock = false, limitsFail, knockSequence } = options
    const nowUs = () => Math.round(clock.nowMs() * 1000)
    const link = new RedisLink({ ...options, ...(isOnOwnClock && { nowUs }) })
    const zeroUnixSeconds = isOnOwnClock ? clock.unixSeconds() - clock.nowMs() / 1000 : 0
    const parts: RedisParts = {
      link,
      permits: new LeasedPermits(link),
      memory: new MemoryState(clock, knockSequence),
      limitsAway: (error) => {
        if (limitsFail === 'closed') throw error
        return toAway(error)
      },
      toUnixSeconds: (microseconds) => zeroUnixSeconds + microseconds / 1_000_000,
    }
    this.#parts = parts
    this.#limitsFail = limitsFail
    this.requests = new RedisRequestLimits(parts)
    this.attempts = new RedisAttemptLimits(parts)
    this.bans = new RedisBans(parts)
    this.knocks = new RedisKnocks(parts, knockSequence ?? NO_SEQUENCE)
  }

  /** @throws StartError where Redis refuses, or cannot be reached and limits fail closed */
  static async open(options: RedisStateOptions): Promise<RedisState> {
    const state = new RedisState(options)
    await state.#parts.link
      .connect({ isRequired: options.limitsFail === 'closed' })
      .catch(async (error: unknown) => {
        await state.close()
        throw error
      })
    return state
  }

  get isAway(): boolean {
    return this.#parts.link.isAway
  }

  /** Why limited requests are refused; null while they are not. */
  whyUnavailable(): ServiceError | null {
    return this.#limitsFail === 'closed' && this.isAway ? limitsUnavailable() : null
  }

  async close(): Promise<void> {
    await this.#parts.permits.close()
    await this.#parts.link.close()
  }
}
