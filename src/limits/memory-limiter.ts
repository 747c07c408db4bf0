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
  /** Requests that hold a place, by limit id; never zero. */
  readonly #running = new Map<string, number>()
  /** Permits that hold a place. */
  #heldPlaces = 0

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
    const running = this.#running.get(limitId) ?? 0
    const maxRunning = TIER_LIMITS[credential.tier].maxConcurrentRequests
    if (takesPlace && running >= maxRunning) {
      const error = concurrencyError(maxRunning, running)
      return { outcome: 'refused', error, rate: rateState(window, limit, nowMs) }
    }
    window.take(nowMs)
    const rate = rateState(window, limit, nowMs)
    return { outcome: 'admitted', permit: takesPlace ? this.#acquire(limitId, rate) : placeless(rate) }
  }

  async copyWindow(fromLimitId: string, toLimitId: string): Promise<void> {
    this.#windows.copy({ fromId: fromLimitId, toId: toLimitId }, this.#clock.nowMs())
  }

  async retireWindow(limitId: string, heirLimitId: string | null): Promise<void> {
    this.#windows.retire({ fromId: limitId, intoId: heirLimitId }, this.#clock.nowMs())
  }

  /** @throws InvariantError when the books are wrong. */
  checkIntegrity(): void {
    this.#windows.checkIntegrity(this.#clock.nowMs())
    let total = 0
    for (const running of this.#running.values()) {
      if (running < 1) throw new InvariantError('an id without a running request is forgotten')
      total += running
    }
    if (total !== this.#heldPlaces) throw new InvariantError('each place belongs to one permit')
  }

  #acquire(limitId: string, rate: RateState): Permit {
    this.#running.set(limitId, (this.#running.get(limitId) ?? 0) + 1)
    this.#heldPlaces++
    let isReleased = false
    const release = (): void => {
      if (isReleased) return
      isReleased = true
      this.#release(limitId)
    }
    return { rate, release }
  }

  #release(limitId: string): void {
    const left = (this.#running.get(limitId) ?? 0) - 1
    if (left === 0) this.#running.delete(limitId)
    else this.#running.set(limitId, left)
    this.#heldPlaces--
  }
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
