/** The shared state that the suites of limits, bans and knocks run on: in memory, or in Redis in the project of that name. */
import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import type { SharedState } from '../../../src/core/shared-state.ts'
import type { KnockSequence } from '../../../src/limits/memory/knocks.ts'
import { MemoryState } from '../../../src/limits/memory/memory-state.ts'
import { RedisState } from '../../../src/limits/redis/redis-state.ts'
import { QUIET_LOG } from '../databases/injected-database.ts'
import { sharedRedis } from '../databases/throw-away-redis.ts'
import { type Lengths, lengthOf } from '../length-of.ts'
import { whenUnused } from '../shared.ts'

declare module 'vitest' {
  interface ProvidedContext {
    readonly sharedState: 'memory' | 'Redis'
  }
}

const isRedis = (): boolean => inject('sharedState') === 'Redis'

export interface TestedState extends SharedState {
  /** Of windows of requests and of attempts. */
  readonly countWindows: () => Promise<number>
  /** Where the state can tell. */
  readonly checkIntegrity: () => void
}

/** A new state, on this clock wherever it is. */
export async function openTestedState(
  clock: Clock,
  knockSequence: KnockSequence | null = null,
): Promise<TestedState> {
  return isRedis() ? await openInRedis(clock, knockSequence) : openInMemory(clock, knockSequence)
}

/** How often a property is tried: each time is a new state, which in Redis has a connection of its own. */
export function runsOf(lengths: Lengths): number {
  return isRedis() ? lengthOf({ test: 8, soak: 200 }) : lengthOf(lengths)
}

function openInMemory(clock: Clock, knockSequence: KnockSequence | null): TestedState {
  const { requests, attempts, bans, knocks } = new MemoryState(clock, knockSequence)
  return {
    requests,
    attempts,
    bans,
    knocks,
    countWindows: async () => requests.idCount + attempts.idCount,
    checkIntegrity: () => {
      requests.checkIntegrity()
      knocks.checkIntegrity()
    },
  }
}

async function openInRedis(clock: Clock, knockSequence: KnockSequence | null): Promise<TestedState> {
  const { url, command } = await sharedRedis()
  const prefix = `${randomUUID()}:`
  const state = await RedisState.open({
    url,
    clock,
    knockSequence,
    prefix,
    log: QUIET_LOG,
    limitsFail: 'closed',
    isOnOwnClock: true,
  })
  whenUnused(() => state.close())
  return {
    requests: state.requests,
    attempts: state.attempts,
    bans: state.bans,
    knocks: state.knocks,
    countWindows: async () => Number(/\d+/.exec(await command(`KEYS ${prefix}window:*`))?.[0]),
    checkIntegrity: () => {},
  }
}
