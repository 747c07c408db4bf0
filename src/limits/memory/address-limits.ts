/** Rate windows by client address. Memory is bounded: an address that stays away is forgotten. */
import type { Clock } from '../../core/clock.ts'
import type { AddressLimits } from '../../core/shared-state.ts'
import { secondsUntil, SlidingWindows } from './sliding-windows.ts'

export class MemoryAddressLimits implements AddressLimits {
  readonly #clock: Clock
  readonly #windows = new SlidingWindows()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Addresses that are remembered. */
  get idCount(): number {
    return this.#windows.size
  }

  admit(addressKey: string, requestsPerMinute: number): number | null {
    const nowMs = this.#clock.nowMs()
    const window = this.#windows.open(addressKey, nowMs)
    const freeAtMs = window.freeAtMs(requestsPerMinute, nowMs)
    if (freeAtMs > nowMs) return secondsUntil(freeAtMs, nowMs)
    window.add(nowMs)
    return null
  }
}
