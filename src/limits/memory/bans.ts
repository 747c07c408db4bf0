/**
 * Bans of addresses with too many offences in a minute: longer each time, until a day without offence. The caller decides
 * what an offence is and which addresses are one client. Memory is bounded: the address that offended least recently is
 * forgotten first.
 *
 *   free ──MAX_OFFENCES in OFFENCE_WINDOW_MS──▶ banned ──BAN_MS──▶ on record ──FORGIVEN_AFTER_MS──▶ free
 */
import type { Clock } from '../../core/clock.ts'
import type { Ban, Bans } from '../../core/shared-state.ts'

export const OFFENCE_WINDOW_MS = 60_000
/** Offices share an address: one program that sends one wrong request a second causes no ban. */
export const MAX_OFFENCES = 60

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1000, 60_000, 3_600_000] as const

/** The first, the second, the third ban and every later one. */
export const BAN_MS: readonly number[] = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 24 * HOUR_MS]
/** From the end of the last ban. */
export const FORGIVEN_AFTER_MS = 24 * HOUR_MS

/** Of each kind: addresses with offences, and bans on record. */
export const MAX_ADDRESSES = 10_000

/** A ban in the time of this process. */
interface TimedBan {
  readonly addressKey: string
  readonly count: number
  readonly sinceMs: number
  readonly untilMs: number
}

export class MemoryBans implements Bans {
  readonly #clock: Clock
  readonly #maxAddresses: number
  /** The moments of the latest offences, oldest first; the map is in order of the latest. */
  readonly #offences = new Map<string, number[]>()
  /** In order of their beginning; those that have ended stay for a time, for their count. */
  readonly #bans = new Map<string, TimedBan>()

  constructor(clock: Clock, { maxAddresses = MAX_ADDRESSES }: { maxAddresses?: number } = {}) {
    this.#clock = clock
    this.#maxAddresses = maxAddresses
  }

  /** Addresses that are remembered. */
  get size(): number {
    return this.#offences.size + this.#bans.size
  }

  find(addressKey: string): Ban | null {
    const ban = this.#bans.get(addressKey)
    return ban !== undefined && this.#clock.nowMs() < ban.untilMs ? this.#toBan(ban) : null
  }

  recordOffence(addressKey: string): Ban | null {
    if (this.find(addressKey) !== null) return null
    const nowMs = this.#clock.nowMs()
    const moments = this.#offences.get(addressKey) ?? []
    while (moments.length > 0 && (moments[0] ?? 0) + OFFENCE_WINDOW_MS <= nowMs) moments.shift()
    moments.push(nowMs)
    this.#offences.delete(addressKey)
    if (moments.length >= MAX_OFFENCES) return this.#ban(addressKey, nowMs)
    this.#offences.set(addressKey, moments)
    dropOldest(this.#offences, this.#maxAddresses)
    return null
  }

  list(): readonly Ban[] {
    const nowMs = this.#clock.nowMs()
    const inForce = [...this.#bans.values()].filter(({ untilMs }) => nowMs < untilMs)
    return inForce.map((ban) => this.#toBan(ban)).toReversed()
  }

  lift(addressKey: string): boolean {
    if (this.find(addressKey) === null) return false
    return this.#bans.delete(addressKey)
  }

  #ban(addressKey: string, nowMs: number): Ban {
    const last = this.#bans.get(addressKey)
    const isOnRecord = last !== undefined && nowMs < last.untilMs + FORGIVEN_AFTER_MS
    const count = isOnRecord ? last.count + 1 : 1
    const lengthMs = BAN_MS[Math.min(count, BAN_MS.length) - 1] ?? 0
    const ban = { addressKey, count, sinceMs: nowMs, untilMs: nowMs + lengthMs }
    this.#bans.delete(addressKey)
    this.#bans.set(addressKey, ban)
    dropOldest(this.#bans, this.#maxAddresses)
    return this.#toBan(ban)
  }

  #toBan({ addressKey, count, sinceMs, untilMs }: TimedBan): Ban {
    const nowMs = this.#clock.nowMs()
    const zeroUnixSeconds = this.#clock.unixSeconds() - nowMs / 1000
    return {
      addressKey,
      count,
      sinceUnixSeconds: zeroUnixSeconds + sinceMs / 1000,
      untilUnixSeconds: zeroUnixSeconds + untilMs / 1000,
      secondsLeft: Math.ceil((untilMs - nowMs) / SECOND_MS),
    }
  }
}

/** Deletes the first entry of a map that holds more than `maxSize`. */
export function dropOldest(map: Map<string, unknown>, maxSize: number): void {
  if (map.size <= maxSize) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
