/**
 * Rate windows and permits in Redis, decided by one script on its clock. While Redis is away, a request is refused, or
 * counted in this process's memory (`--limits-fail`).
 */
import { InvariantError } from '../../core/errors.ts'
import {
  SPENT_KEPT_MS,
  SPENT_KNOWN_MS,
  type LimitedRequest,
  type LimitUse,
  type RequestDecision,
  type RequestLimits,
  type SpentTokens,
  type WindowOrigin,
} from '../../core/shared-state.ts'
import { AWAY, type RedisParts } from './redis-parts.ts'
import { script } from './scripts.ts'

const BUDGETS = `
local KNOWN = ${SPENT_KNOWN_MS * 1000}

local function set_spent(key, ...)
  redis.call('HSET', key, 'until', string.format('%.0f', now + KNOWN), ...)
  redis.call('PEXPIRE', key, ${SPENT_KNOWN_MS + SPENT_KEPT_MS})
end

-- Null where it must be restored first.
local function spent(key)
  local restored, added, ends = unpack(redis.call('HMGET', key, 'restored', 'added', 'until'))
  if ends and not restored then
    -- Goes on counting, as what is spent during a long reading is not in it.
    set_spent(key)
    return nil
  end
  if ends and now < tonumber(ends) then return tonumber(restored) + tonumber(added) end
  redis.call('DEL', key)
  set_spent(key, 'added', 0, 'last', string.format('%.0f', tonumber(restored or 0) + tonumber(added or 0)))
  return nil
end
`

/**
 * Budgets, rate and permit in one. ARGV: id, requests a minute, most concurrent (-1: no permit, inf: unlimited), lease, then
 * each budget's counter and its most tokens.
 */
const ADMIT = script(`${BUDGETS}
local id, limit, most, lease = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local unknown, spent_tokens, is_exceeded = {3}, {}, false
for i = 7, #ARGV, 2 do
  local tokens = spent(prefix .. 'spent:' .. ARGV[i])
  if tokens then
    table.insert(spent_tokens, tokens)
    is_exceeded = is_exceeded or tokens >= tonumber(ARGV[i + 1])
  else
    table.insert(unknown, (i - 7) / 2)
  end
end
if #unknown > 1 then return unknown end
local window = prefix .. 'window:' .. id
local used = trim(window)
local function reset() return used == 0 and 0 or at(window, -1) + WINDOW - now end
if is_exceeded then return {4, 0, used, reset(), unpack(spent_tokens)} end
if used >= limit then return {1, at(window, used - limit) + WINDOW - now, used, reset()} end
if most >= 0 then
  if most < math.huge then
    local running = held(prefix .. 'permits:' .. current(id))
    local revoked = redis.call('GET', prefix .. 'inherits:' .. id)
    if revoked then running = running + held(prefix .. 'permits:' .. revoked) end
    if running >= most then return {2, running, used, reset()} end
  end
  hold(id, lease, 1)
end
add(window)
used = used + 1
return {0, 0, used, reset(), unpack(spent_tokens)}`)

/** ARGV: counters, each with its tokens, or nothing for those it had last. One that is known stays as it is. */
const RESTORE_SPENT = script(`${BUDGETS}
for i = 3, #ARGV, 2 do
  local key = prefix .. 'spent:' .. ARGV[i]
  if redis.call('EXISTS', key) == 0 then
    set_spent(key, 'added', 0, 'restored', ARGV[i + 1] ~= '' and ARGV[i + 1] or 0)
  elseif redis.call('HEXISTS', key, 'restored') == 0 then
    set_spent(key, 'restored', ARGV[i + 1] ~= '' and ARGV[i + 1] or redis.call('HGET', key, 'last') or 0)
  end
end`)

/** ARGV: tokens, counters. */
const SPEND = script(`
for i = 4, #ARGV do
  local key = prefix .. 'spent:' .. ARGV[i]
  if redis.call('EXISTS', key) == 1 then redis.call('HINCRBY', key, 'added', ARGV[3]) end
end`)

/** ARGV: a new key's id, its maker's id, the id of its account's revoked keys. */
const OPEN_WINDOW = script(`
local id, maker, revoked = ARGV[3], ARGV[4], ARGV[5]
merge(prefix .. 'window:' .. maker, prefix .. 'window:' .. id)
merge(prefix .. 'window:' .. revoked, prefix .. 'window:' .. id)
if held(prefix .. 'permits:' .. revoked) == 0 then return end
redis.call('SET', prefix .. 'inherits:' .. id, revoked, 'PX', DAY_MS)
redis.call('SADD', prefix .. 'heirs:' .. revoked, id)
redis.call('PEXPIRE', prefix .. 'heirs:' .. revoked, DAY_MS)`)

/** ARGV: a revoked key's id, the id of its account's revoked keys. */
const REVOKE_WINDOW = script(`
local id, revoked = ARGV[3], ARGV[4]
merge(prefix .. 'window:' .. id, prefix .. 'window:' .. revoked)
redis.call('DEL', prefix .. 'window:' .. id, prefix .. 'inherits:' .. id)
local counts = redis.call('HGETALL', prefix .. 'permits:' .. id)
if #counts == 0 then return end
redis.call('DEL', prefix .. 'permits:' .. id)
for i = 1, #counts, 2 do hold(revoked, counts[i], counts[i + 1]) end
redis.call('SET', prefix .. 'moved:' .. id, revoked, 'PX', DAY_MS)`)

/** ARGV: ids. Gives the requests and the held permits of each. */
const IN_USE = script(`
local use = {}
for i = 3, #ARGV do
  local running = held(prefix .. 'permits:' .. current(ARGV[i]))
  local revoked = redis.call('GET', prefix .. 'inherits:' .. ARGV[i])
  if revoked then running = running + held(prefix .. 'permits:' .. revoked) end
  table.insert(use, trim(prefix .. 'window:' .. ARGV[i]))
  table.insert(use, running)
end
return use`)

const OUTCOMES = [
  'admitted',
  'rate-exceeded',
  'concurrency-exceeded',
  'budgets-unknown',
  'budget-exceeded',
] as const

export class RedisRequestLimits implements RequestLimits {
  readonly #parts: RedisParts
  /** Permits of this process's memory that are held under a name of Redis. */
  readonly #inMemory = new Map<string, string>()

  constructor(parts: RedisParts) {
    this.#parts = parts
  }

  async admit(request: LimitedRequest): Promise<RequestDecision> {
    const { link, permits, limitsAway } = this.#parts
    const { limitId, requestsPerMinute, maxConcurrent, budgets } = request
    const { leaseId } = permits
    const most = maxConcurrent === null ? -1 : Number.isFinite(maxConcurrent) ? maxConcurrent : 'inf'
    const bounds = budgets.flatMap(({ counterId, maxTokens }) => [counterId, maxTokens])
    const words = [limitId, requestsPerMinute, most, leaseId, ...bounds]
    const answer = await link.run(ADMIT, words).catch(limitsAway)
    if (answer === AWAY) return this.#admitInMemory(request)
    const decision = toDecision(answer as readonly number[], request)
    if (decision.outcome !== 'admitted' || maxConcurrent === null) return decision
    return { ...decision, permitId: permits.hold([limitId], leaseId) }
  }

  release(permitId: string): void {
    const { memory, permits } = this.#parts
    permits.drop(permitId)
    const inMemory = this.#inMemory.get(permitId)
    if (inMemory === undefined) return
    this.#inMemory.delete(permitId)
    memory.requests.release(inMemory)
  }

  async restoreSpent(counters: readonly SpentTokens[]): Promise<void> {
    const { link, memory, limitsAway } = this.#parts
    const words = counters.flatMap(({ counterId, tokens }) => [counterId, tokens ?? ''])
    const answer = await link.run(RESTORE_SPENT, words).catch(limitsAway)
    if (answer === AWAY) memory.requests.restoreSpent(counters)
  }

  /** What Redis does not hear of is read from the usage database when its counter is restored. */
  spend(counterIds: readonly string[], tokens: number): void {
    const { link, memory } = this.#parts
    memory.requests.spend(counterIds, tokens)
    void link.run(SPEND, [tokens, ...counterIds]).catch(() => {})
  }

  async openWindow(limitId: string, { makerLimitId, accountId }: WindowOrigin): Promise<void> {
    const { link, memory, limitsAway } = this.#parts
    const words = [limitId, makerLimitId, revokedIdOf(accountId)]
    const answer = await link.run(OPEN_WINDOW, words).catch(limitsAway)
    if (answer === AWAY) memory.requests.openWindow(limitId, { makerLimitId, accountId })
  }

  async inUse(limitIds: readonly string[]): Promise<readonly LimitUse[]> {
    const { link, memory, limitsAway } = this.#parts
    const answer = await link.run(IN_USE, limitIds).catch(limitsAway)
    if (answer === AWAY) return memory.requests.inUse(limitIds)
    const counts = answer as readonly number[]
    return limitIds.map((_, index) => ({
      requests: counts[2 * index] ?? 0,
      running: counts[2 * index + 1] ?? 0,
    }))
  }

  /** The key is revoked already, so it does not fail: no key can be made meanwhile that would get around its limits. */
  async revokeWindow(limitId: string, accountId: string): Promise<void> {
    const { link, memory } = this.#parts
    memory.requests.revokeWindow(limitId, accountId)
    await link.run(REVOKE_WINDOW, [limitId, revokedIdOf(accountId)]).catch(() => {})
  }

  /** Held in Redis too when that is back. */
  #admitInMemory(request: LimitedRequest): RequestDecision {
    const { memory, permits } = this.#parts
    const decision = memory.requests.admit(request)
    if (decision.outcome !== 'admitted' || decision.permitId === null) return decision
    const permitId = permits.hold([request.limitId], null)
    this.#inMemory.set(permitId, decision.permitId)
    return { ...decision, permitId }
  }
}

/** As `admit` in `scripts.ts` answers; without the permit. */
function toDecision(answer: readonly number[], request: LimitedRequest): RequestDecision {
  const { requestsPerMinute: limit, budgets } = request
  const [code = 0, number = 0, used = 0, resetUs = 0, ...spentTokens] = answer
  const rate = { limit, remaining: Math.max(0, limit - used), resetMs: resetUs / 1000 }
  const outcome = OUTCOMES[code]
  if (outcome === undefined) throw new InvariantError(`A script of Redis answered ${code}.`)
  switch (outcome) {
    case 'admitted':
      return { outcome, permitId: null, spentTokens, rate }
    case 'rate-exceeded':
      return { outcome, retryAfterSeconds: toWholeSeconds(number), rate }
    case 'concurrency-exceeded':
      return { outcome, running: number, rate }
    case 'budget-exceeded':
      return { outcome, spentTokens, rate }
    case 'budgets-unknown':
      return { outcome, counterIds: answer.slice(1).map((index) => budgets[index]?.counterId ?? '') }
  }
}

/** The id that the revoked keys of an account count under; no key has it, as those are UUIDs. */
function revokedIdOf(accountId: string): string {
  return `revoked:${accountId}`
}

/** For `Retry-After`: after them the time has come. */
export function toWholeSeconds(microseconds: number): number {
  return Math.ceil(microseconds / 1_000_000)
}
