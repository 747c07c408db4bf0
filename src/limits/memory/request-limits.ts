/**
 * Rate windows and permits of credentials, and in `budget-counters.ts` what they have spent. Permits stand under the credential's `limitId`, those of revoked keys under
 * their account; an id without permits and a window without requests are forgotten.
 * Invariant: `checkIntegrity()` after every call.
 */
import type { Clock } from '../../core/clock.ts'
import { InvariantError } from '../../core/errors.ts'
import type {
  LimitedRequest,
  LimitUse,
  RateState,
  RequestDecision,
  RequestLimits,
  SpentTokens,
  WindowOrigin,
} from '../../core/shared-state.ts'
import { BudgetCounters } from './budget-counters.ts'
import { secondsUntil, type SlidingWindow, SlidingWindows } from './sliding-windows.ts'

export class MemoryRequestLimits implements RequestLimits {
  readonly #clock: Clock
  readonly #windows = new SlidingWindows()
  readonly #counters = new BudgetCounters()
  /** Permits in use, with the id that each counts under: it changes when the key is revoked. */
  readonly #permits = new Map<string, string>()
  /** The same by that id; never empty. */
  readonly #permitsById = new Map<string, Set<string>>()
  /** Keys created while requests of the account's revoked keys were running, with the id that those count under. */
  readonly #inherited = new Map<string, string>()
  #permitCount = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ids whose window is remembered. */
  get idCount(): number {
    return this.#windows.size
  }

  /** Budget counters that are remembered. */
  get counterCount(): number {
    return this.#counters.size
  }

  admit({ limitId, requestsPerMinute: limit, maxConcurrent, budgets }: LimitedRequest): RequestDecision {
    const nowMs = this.#clock.nowMs()
    const unknown = this.#counters.findUnknown(budgets, nowMs)
    if (unknown.length > 0) return { outcome: 'budgets-unknown', counterIds: unknown }
    const spentTokens = this.#counters.spentUnder(budgets)
    const window = this.#windows.open(limitId, nowMs)
    if (budgets.some(({ maxTokens }, index) => (spentTokens[index] ?? 0) >= maxTokens)) {
      return { outcome: 'budget-exceeded', spentTokens, rate: rateState(window, limit, nowMs) }
    }
    const freeAtMs = window.freeAtMs(limit, nowMs)
    if (freeAtMs > nowMs) {
      const retryAfterSeconds = secondsUntil(freeAtMs, nowMs)
      return { outcome: 'rate-exceeded', retryAfterSeconds, rate: rateState(window, limit, nowMs) }
    }
    const running = this.#runningUnder(limitId)
    if (maxConcurrent !== null && running >= maxConcurrent) {
      return { outcome: 'concurrency-exceeded', running, rate: rateState(window, limit, nowMs) }
    }
    window.add(nowMs)
    const permitId = maxConcurrent === null ? null : this.#acquire(limitId)
    return { outcome: 'admitted', permitId, spentTokens, rate: rateState(window, limit, nowMs) }
  }

  release(permitId: string): void {
    const limitId = this.#permits.get(permitId)
    if (limitId === undefined) return
    this.#permits.delete(permitId)
    this.#remove(permitId, limitId)
  }

  inUse(limitIds: readonly string[]): readonly LimitUse[] {
    const nowMs = this.#clock.nowMs()
    return limitIds.map((id) => ({
      requests: this.#windows.find(id, nowMs)?.used(nowMs) ?? 0,
      running: this.#runningUnder(id),
    }))
  }

  restoreSpent(counters: readonly SpentTokens[]): void {
    this.#counters.restore(counters, this.#clock.nowMs())
  }

  spend(counterIds: readonly string[], tokens: number): void {
    this.#counters.add(counterIds, tokens)
  }

  openWindow(limitId: string, { makerLimitId, accountId }: WindowOrigin): void {
    const nowMs = this.#clock.nowMs()
    const revokedId = revokedIdOf(accountId)
    this.#windows.merge({ fromId: makerLimitId, toId: limitId }, nowMs)
    this.#windows.merge({ fromId: revokedId, toId: limitId }, nowMs)
    if (this.#permitsById.has(revokedId)) this.#inherited.set(limitId, revokedId)
  }

  revokeWindow(limitId: string, accountId: string): void {
    const revokedId = revokedIdOf(accountId)
    this.#windows.merge({ fromId: limitId, toId: revokedId }, this.#clock.nowMs())
    this.#windows.forget(limitId)
    this.#inherited.delete(limitId)
    for (const permitId of this.#permitsById.get(limitId) ?? []) {
      this.#remove(permitId, limitId)
      this.#add(permitId, revokedId)
    }
  }

  /** @throws InvariantError when the counts contradict each other. */
  checkIntegrity(): void {
    this.#windows.checkIntegrity(this.#clock.nowMs())
    let permitCount = 0
    for (const [limitId, permitIds] of this.#permitsById) {
      if (permitIds.size === 0) throw new InvariantError('an id without a running request is forgotten')
      for (const permitId of permitIds) {
        if (this.#permits.get(permitId) !== limitId) throw new InvariantError('a permit counts under one id')
      }
      permitCount += permitIds.size
    }
    if (permitCount !== this.#permits.size) throw new InvariantError('every permit counts')
    for (const revokedId of this.#inherited.values()) {
      if (!this.#permitsById.has(revokedId)) throw new InvariantError('only running requests are inherited')
    }
  }

  #runningUnder(limitId: string): number {
    const revokedId = this.#inherited.get(limitId)
    const inherited = revokedId === undefined ? 0 : (this.#permitsById.get(revokedId)?.size ?? 0)
    return (this.#permitsById.get(limitId)?.size ?? 0) + inherited
  }

  #acquire(limitId: string): string {
    const permitId = String(++this.#permitCount)
    this.#add(permitId, limitId)
    return permitId
  }

  #add(permitId: string, limitId: string): void {
    this.#permits.set(permitId, limitId)
    const permitIds = this.#permitsById.get(limitId)
    if (permitIds === undefined) this.#permitsById.set(limitId, new Set([permitId]))
    else permitIds.add(permitId)
  }

  #remove(permitId: string, limitId: string): void {
    const permitIds = this.#permitsById.get(limitId)
    permitIds?.delete(permitId)
    if (permitIds === undefined || permitIds.size > 0) return
    this.#permitsById.delete(limitId)
    for (const [id, revokedId] of this.#inherited) if (revokedId === limitId) this.#inherited.delete(id)
  }
}

/** The id that the revoked keys of an account count under; no key has it, as those are UUIDs. */
function revokedIdOf(accountId: string): string {
  return `revoked:${accountId}`
}

function rateState(window: SlidingWindow, limit: number, nowMs: number): RateState {
  return { limit, remaining: Math.max(0, limit - window.used(nowMs)), resetMs: window.resetMs(nowMs) }
}
