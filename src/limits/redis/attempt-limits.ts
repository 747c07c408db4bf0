/**
 * Counted attempts in Redis. One that could be an attempt too many waits here for the result of those before it, on this
 * instance and on others: those of this instance wake it, and now and then it asks whether one of another has ended. While Redis
 * is away, each instance counts for itself.
 */
import type {
  AttemptDecision,
  AttemptLimit,
  AttemptLimits,
  AttemptResult,
  LimitedAttempt,
} from '../../core/shared-state.ts'
import { AWAY, type RedisParts, toAway } from './redis-parts.ts'
import { toWholeSeconds } from './request-limits.ts'
import { script } from './scripts.ts'

/** ARGV: lease, then each limit's id and its most in a minute. The second number is a wait, or the limit that is full. */
const BEGIN_ATTEMPT = script(`
local wait = 0
for i = 4, #ARGV, 2 do
  local window, most = prefix .. 'window:' .. ARGV[i], tonumber(ARGV[i + 1])
  local used = trim(window)
  if used >= most then wait = math.max(wait, at(window, used - most) + WINDOW - now) end
end
if wait > 0 then return {1, wait} end
for i = 4, #ARGV, 2 do
  local open = held(prefix .. 'permits:' .. ARGV[i])
  if redis.call('LLEN', prefix .. 'window:' .. ARGV[i]) + open >= tonumber(ARGV[i + 1]) then
    return {2, (i - 4) / 2}
  end
end
for i = 4, #ARGV, 2 do hold(ARGV[i], ARGV[3], 1) end
return {0, 0}`)

/** ARGV: lease, then each limit's id and 1 where the attempt counts under it. */
const END_ATTEMPT = script(`
for i = 4, #ARGV, 2 do
  if ARGV[i + 1] == '1' then
    trim(prefix .. 'window:' .. ARGV[i])
    add(prefix .. 'window:' .. ARGV[i])
  end
  drop(ARGV[i], ARGV[3])
end`)

/** Hashing a password takes about as long. */
const ASK_AGAIN_MS = 20

/** Of an attempt that waits under a limit. */
interface Place {
  readonly limitId: string
  wake: () => void
}

export class RedisAttemptLimits implements AttemptLimits {
  readonly #parts: RedisParts
  /** By limit; none is empty. */
  readonly #lines = new Map<string, readonly Place[]>()
  readonly #limitsByAttempt = new Map<string, readonly AttemptLimit[]>()
  /** Attempts that this process's memory decided about. */
  readonly #inMemory = new Set<string>()

  constructor(parts: RedisParts) {
    this.#parts = parts
  }

  async begin(attempt: LimitedAttempt): Promise<AttemptDecision> {
    let place = null as Place | null
    try {
      for (;;) {
        const decision = await this.#ask(attempt)
        if (!('fullId' in decision)) return decision
        const { fullId } = decision
        const line = this.#lines.get(fullId) ?? []
        if (place?.limitId !== fullId) {
          if (line.length >= attempt.maxWaiting) return { outcome: 'queue-full' }
          if (place !== null) this.#leave(place)
          place = { limitId: fullId, wake: () => {} }
          this.#lines.set(fullId, [...line, place])
        }
        await this.#wait(place)
      }
    } finally {
      if (place !== null) this.#leave(place)
    }
  }

  end(attemptId: string, result: AttemptResult): void {
    const { link, memory, permits } = this.#parts
    if (this.#inMemory.delete(attemptId)) return memory.attempts.end(attemptId, result)
    const limits = this.#limitsByAttempt.get(attemptId) ?? []
    this.#limitsByAttempt.delete(attemptId)
    permits.forget(attemptId)
    const words = limits.flatMap(({ id, counts }) => [id, isCounted(result, counts) ? 1 : 0])
    const wake = () => {
      for (const { id } of limits) this.#lines.get(id)?.[0]?.wake()
    }
    void link.runAnyway(END_ATTEMPT, [permits.leaseId, ...words]).then(wake, wake)
  }

  async #ask(attempt: LimitedAttempt): Promise<AttemptDecision | { readonly fullId: string }> {
    const { link, permits } = this.#parts
    const { limits } = attempt
    const { leaseId } = permits
    const words = limits.flatMap(({ id, maxPerMinute }) => [id, maxPerMinute])
    const answer = await link.run(BEGIN_ATTEMPT, [leaseId, ...words]).catch(toAway)
    if (answer === AWAY) return await this.#beginInMemory(attempt)
    const [outcome = 0, number = 0] = answer as readonly number[]
    if (outcome === 2) return { fullId: limits[number]?.id ?? '' }
    if (outcome === 1) return { outcome: 'refused', retryAfterSeconds: toWholeSeconds(number) }
    const ids = limits.map(({ id }) => id)
    const attemptId = permits.hold(ids, leaseId)
    this.#limitsByAttempt.set(attemptId, limits)
    return { outcome: 'begun', attemptId }
  }

  async #beginInMemory(attempt: LimitedAttempt): Promise<AttemptDecision> {
    const decision = await this.#parts.memory.attempts.begin(attempt)
    if (decision.outcome !== 'begun') return decision
    this.#inMemory.add(decision.attemptId)
    return decision
  }

  /** Only the first of a line asks again: when it is woken, and now and then. */
  async #wait(place: Place): Promise<void> {
    const isFirst = this.#lines.get(place.limitId)?.[0] === place
    let timer: NodeJS.Timeout | null = null
    await new Promise<void>((wake) => {
      place.wake = wake
      if (isFirst) timer = setTimeout(wake, ASK_AGAIN_MS)
    })
    if (timer !== null) clearTimeout(timer)
  }

  #leave(place: Place): void {
    const { limitId } = place
    const line = this.#lines.get(limitId) ?? []
    const others = line.filter((other) => other !== place)
    if (others.length === 0) this.#lines.delete(limitId)
    else this.#lines.set(limitId, others)
    // What let this one go on may let the next go on as well.
    if (line[0] === place) others[0]?.wake()
  }
}

function isCounted(result: AttemptResult, counts: AttemptLimit['counts']): boolean {
  return result === 'failed' || (result === 'passed' && counts === 'all')
}
