/**
 * How many slots each tier leaves to those above it. Nothing that runs is preempted for it, so a request of a higher tier
 * starts at once only where the lower ones have kept off a slot. Applies while a higher tier has callers, which the
 * requests themselves say; a server of one tier uses every slot. Owned by the running batch, under the policy `priority`.
 */
import type { Clock } from '../../core/clock.ts'
import { tierWeight } from './waiting-queue.ts'

/** Of so many slots one is kept for each higher tier, and of four slots at most one in all. */
const SLOTS_PER_SPARE = 8
const SLOTS_PER_SPARE_AT_MOST = 4
/** A slot that a higher tier has left is kept for its next request: clients send one after the other. */
const HELD_MS = 10_000

interface TierUse {
  running: number
  /** The most that ran in the last `HELD_MS`, and when so many last did. */
  peak: number
  peakAtMs: number
}

export class SlotReserve {
  readonly #slots: number
  readonly #clock: Clock
  readonly #uses = new Map<number, TierUse>()
  /** Priority classes that have callers. */
  #classes: readonly number[] = []

  constructor({ slots, clock }: { readonly slots: number; readonly clock: Clock }) {
    this.#slots = slots
    this.#clock = clock
  }

  /** The newest request knows best which classes have callers. */
  setClasses(classes: readonly number[]): void {
    this.#classes = classes
  }

  begin(priorityClass: number): void {
    const use = this.#useOf(priorityClass)
    use.running++
    if (use.running < use.peak) return
    use.peak = use.running
    use.peakAtMs = this.#clock.nowMs()
  }

  end(priorityClass: number): void {
    const use = this.#useOf(priorityClass)
    if (use.running >= use.peak) use.peakAtMs = this.#clock.nowMs()
    use.running--
  }

  /** Whether one more of this class may start. @param kept classes of sequences for which a slot is kept already */
  mayStart(priorityClass: number, kept: readonly number[]): boolean {
    const above = this.#classes.filter((other) => other > priorityClass)
    const spare = Math.min(
      above.length * Math.ceil(this.#slots / SLOTS_PER_SPARE),
      Math.floor(this.#slots / SLOTS_PER_SPARE_AT_MOST),
    )
    if (spare === 0) return true
    let taken = kept.filter((other) => other <= priorityClass).length
    let usedAbove = 0
    for (const [other, use] of this.#uses) {
      if (other <= priorityClass) taken += use.running
      else usedAbove += this.#recentPeak(use)
    }
    return taken < Math.max(this.#slots - usedAbove - spare, this.#leastOf(priorityClass))
  }

  /** What a class and those below it get in any case: their part by weight. */
  #leastOf(priorityClass: number): number {
    const sum = (classes: readonly number[]): number => classes.reduce((all, one) => all + tierWeight(one), 0)
    const classes = [...new Set([...this.#classes, priorityClass])]
    const own = sum(classes.filter((other) => other <= priorityClass))
    return Math.ceil((this.#slots * own) / sum(classes))
  }

  #recentPeak(use: TierUse): number {
    const nowMs = this.#clock.nowMs()
    if (nowMs - use.peakAtMs >= HELD_MS) {
      use.peak = use.running
      use.peakAtMs = nowMs
    }
    return use.peak
  }

  #useOf(priorityClass: number): TierUse {
    let use = this.#uses.get(priorityClass)
    if (use === undefined) {
      use = { running: 0, peak: 0, peakAtMs: this.#clock.nowMs() }
      this.#uses.set(priorityClass, use)
    }
    return use
  }
}
