/**
 * The tiers that have callers now: those of static keys, active keys and accounts. Slots and queue are kept for the higher
 * ones among them. Read again while requests come, because the operator's commands change the database from other processes.
 */
import type { Clock } from '../core/clock.ts'
import { TIER_LIMITS, type Tier } from '../core/tiers.ts'

const READ_EVERY_MS = 2000

export class ServedTiers {
  readonly #clock: Clock
  #read: (() => Promise<readonly Tier[]>) | null = null
  #priorityClasses: readonly number[] = []
  #readAtMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when the tiers are known; before that there are none. */
  async open(read: () => Promise<readonly Tier[]>): Promise<void> {
    this.#read = read
    await this.#refresh(read)
  }

  /** What the last reading found; an old one is repeated behind it. */
  priorityClasses(): readonly number[] {
    if (this.#read !== null && this.#clock.nowMs() - this.#readAtMs >= READ_EVERY_MS) {
      // A database that cannot be read fails the requests that need it; the tiers stay as they were.
      this.#refresh(this.#read).catch(() => {})
    }
    return this.#priorityClasses
  }

  async #refresh(read: () => Promise<readonly Tier[]>): Promise<void> {
    this.#readAtMs = this.#clock.nowMs()
    const tiers = await read()
    this.#priorityClasses = tiers.map((tier) => TIER_LIMITS[tier].priorityClass)
  }
}
