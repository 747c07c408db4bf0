/**
 * Addresses that have done too much wrong in a minute, and for how long they stay out: longer each time, until a day of
 * good behaviour. Whom an address stands for is the caller's to say. Memory is bounded: who offends least recently is
 * forgotten first.
 *
 *   free ──MAX_OFFENCES in OFFENCE_WINDOW_MS──▶ banned ──BAN_MS──▶ on record ──FORGIVEN_AFTER_MS──▶ free
 */
import type { Clock } from '../../core/clock.ts'

export const OFFENCE_WINDOW_MS = 60_000
/** Offices share an address: one program that asks for the wrong thing once a second keeps nobody out. */
export const MAX_OFFENCES = 60

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1000, 60_000, 3_600_000] as const

/** The first, the second, the third ban and every later one. */
export const BAN_MS: readonly number[] = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 24 * HOUR_MS]
/** From the end of the last ban. */
export const FORGIVEN_AFTER_MS = 24 * HOUR_MS

/** Of each kind: offenders that are watched, and bans on record. */
const MAX_ADDRESSES = 10_000

export interface Ban {
  readonly addressKey: string
  /** 1 for the first. */
  readonly count: number
  readonly sinceMs: number
  readonly untilMs: number
}

export class BanList {
  readonly #clock: Clock
  readonly #maxAddresses: number
  /** The moments of the latest offences, oldest first; the map is in order of the latest. */
  readonly #offences = new Map<string, number[]>()
  /** In order of their beginning; those that have ended stay for a time, for their count. */
  readonly #bans = new Map<string, Ban>()

  constructor(clock: Clock, { maxAddresses = MAX_ADDRESSES }: { maxAddresses?: number } = {}) {
    this.#clock = clock
    this.#maxAddresses = maxAddresses
  }

  /** Addresses that are remembered. */
  get size(): number {
    return this.#offences.size + this.#bans.size
  }

  /** The ban that this address is under now, or null. */
  find(addressKey: string): Ban | null {
    const ban = this.#bans.get(addressKey)
    return ban !== undefined && this.#clock.nowMs() < ban.untilMs ? ban : null
  }

  /** Gives the ban that begins with this offence, or null. What comes from a banned address counts no more. */
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

  /** Those that are in force, the latest first. */
  list(): readonly Ban[] {
    const nowMs = this.#clock.nowMs()
    return [...this.#bans.values()].filter(({ untilMs }) => nowMs < untilMs).toReversed()
  }

  /** Ends a ban and forgets the earlier ones; false when there is none. */
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
    return ban
  }
}

function dropOldest(map: Map<string, unknown>, maxSize: number): void {
  if (map.size <= maxSize) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}

/** Whole seconds until it ends; who waits them is not early. */
export function secondsLeft({ untilMs }: Ban, nowMs: number): number {
  return Math.ceil((untilMs - nowMs) / SECOND_MS)
}
