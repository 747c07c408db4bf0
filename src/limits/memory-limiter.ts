/**
 * The limiter of one process: windows and counts in memory, each decision taken in one turn of the event loop and so
 * atomic. Counts stand under the credential's `limitId` and are gone at zero; windows of idle ids vanish.
 * Invariant: `checkIntegrity()` after every call.
 */
import type { Clock } from '../core/clock.ts'
import type { Credential } from '../core/credential.ts'
import { InvariantError, ServiceError } from '../core/errors.ts'
import { TIER_LIMITS } from '../core/tiers.ts'
import { effectiveRpm, type Admission, type Limiter, type Permit, type RateState } from './limiter.ts'
import { secondsUntil, type SlidingWindow } from './sliding-window.ts'
import { SlidingWindows } from './sliding-windows.ts'

/** Nobody knows when a running request ends. */
const CONCURRENCY_RETRY_SECONDS = 1

const UNLIMITED: Admission = Object.freeze({
  outcome: 'admitted',
  permit: Object.freeze({ rate: null, release: () => {} }),
})

export class MemoryLimiter implements Limiter {
  readonly #clock: Clock
  readonly #windows = new SlidingWindows()
  /** The places that running requests hold, by limit id; never empty. */
  readonly #running = new Map<string, Set<Place>>()
  /** Keys made while requests of the account's revoked keys were running, and under what those run. */
  readonly #heirs = new Map<string, string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ids whose window is remembered. */
  get idCount(): number {
    return this.#windows.size
  }

  async admit(credential: Credential, { takesPlace }: { readonly takesPlace: boolean }): Promise<Admission> {
    if (credential.kind === 'open') return UNLIMITED
    const { limitId } = credential
    const nowMs = this.#clock.nowMs()
    const limit = effectiveRpm(credential)
    const window = this.#windows.open(limitId, nowMs)
    const freeAtMs = window.freeAtMs(limit, nowMs)
    if (freeAtMs > nowMs) {
      const error = rateError(limit, secondsUntil(freeAtMs, nowMs))
      return { outcome: 'refused', error, rate: rateState(window, limit, nowMs) }
    }
    const running = this.#runningUnder(limitId)
    const maxRunning = TIER_LIMITS[credential.tier].maxConcurrentRequests
    if (takesPlace && running >= maxRunning) {
      const error = concurrencyError(maxRunning, running)
      return { outcome: 'refused', error, rate: rateState(window, limit, nowMs) }
    }
    window.take(nowMs)
    const rate = rateState(window, limit, nowMs)
    return { outcome: 'admitted', permit: takesPlace ? this.#acquire(limitId, rate) : placeless(rate) }
  }

  async begin(limitId: string, origin: { makerLimitId: string; accountId: string }): Promise<void> {
    const nowMs = this.#clock.nowMs()
    const retiredId = retiredIdOf(origin.accountId)
    this.#windows.absorb({ fromId: origin.makerLimitId, toId: limitId }, nowMs)
    this.#windows.absorb({ fromId: retiredId, toId: limitId }, nowMs)
    if (this.#running.has(retiredId)) this.#heirs.set(limitId, retiredId)
  }

  async retire(limitId: string, accountId: string): Promise<void> {
    const retiredId = retiredIdOf(accountId)
    this.#windows.absorb({ fromId: limitId, toId: retiredId }, this.#clock.nowMs())
    this.#windows.forget(limitId)
    this.#heirs.delete(limitId)
    for (const place of this.#running.get(limitId) ?? []) this.#move(place, retiredId)
  }

  /** @throws InvariantError when the books are wrong. */
  checkIntegrity(): void {
    this.#windows.checkIntegrity(this.#clock.nowMs())
    for (const [limitId, places] of this.#running) {
      if (places.size === 0) throw new InvariantError('an id without a running request is forgotten')
      for (const place of places) {
        if (place.limitId !== limitId) throw new InvariantError('a place stands where it says')
      }
    }
    for (const retiredId of this.#heirs.values()) {
      if (!this.#running.has(retiredId)) throw new InvariantError('who has ended leaves no heir')
    }
  }

  #runningUnder(limitId: string): number {
    const retiredId = this.#heirs.get(limitId)
    const inherited = retiredId === undefined ? 0 : (this.#running.get(retiredId)?.size ?? 0)
    return (this.#running.get(limitId)?.size ?? 0) + inherited
  }

  #acquire(limitId: string, rate: RateState): Permit {
    const place: Place = { limitId }
    this.#add(place)
    return { rate, release: () => this.#remove(place) }
  }

  #add(place: Place): void {
    const places = this.#running.get(place.limitId)
    if (places === undefined) this.#running.set(place.limitId, new Set([place]))
    else places.add(place)
  }

  /** Once; again does nothing. */
  #remove(place: Place): void {
    const places = this.#running.get(place.limitId)
    if (places === undefined || !places.delete(place) || places.size > 0) return
    this.#running.delete(place.limitId)
    for (const [heirId, retiredId] of this.#heirs) if (retiredId === place.limitId) this.#heirs.delete(heirId)
  }

  #move(place: Place, limitId: string): void {
    this.#remove(place)
    place.limitId = limitId
    this.#add(place)
  }
}

/** A running request's; `limitId` changes when its key is revoked. */
interface Place {
  limitId: string
}

/** Under what the revoked keys of an account are counted; no key's id, which is a UUID. */
function retiredIdOf(accountId: string): string {
  return `retired:${accountId}`
}

function placeless(rate: RateState): Permit {
  return { rate, release: () => {} }
}

function rateState(window: SlidingWindow, limit: number, nowMs: number): RateState {
  return { limit, remaining: Math.max(0, limit - window.used(nowMs)), resetMs: window.resetMs(nowMs) }
}

function rateError(limit: number, seconds: number): ServiceError {
  return new ServiceError('rate_limit_exceeded', { limit, seconds }, { retryAfterSeconds: seconds })
}

function concurrencyError(limit: number, running: number): ServiceError {
  const options = { retryAfterSeconds: CONCURRENCY_RETRY_SECONDS }
  return new ServiceError('concurrency_limit_exceeded', { limit, running }, options)
}
