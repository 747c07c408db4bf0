/**
 * Tokens spent under budgets, by counter. A counter is unknown until it was restored from the usage database, and again when it
 * has been known for `SPENT_KNOWN_MS`; from the first question on it counts what is spent, so that nothing of the time between
 * the reading and the restoring is lost. Where the database cannot be read, the last count goes on. Used by `request-limits.ts`.
 * Forgets what is not asked for.
 */
import { type BudgetBound, SPENT_KEPT_MS, SPENT_KNOWN_MS, type SpentTokens } from '../../core/shared-state.ts'

interface Counter {
  /** From the database; null while it is being read. */
  restoredTokens: number | null
  /** Since it was asked for. */
  addedTokens: number
  /** When it was known before. */
  readonly lastTokens: number
  untilMs: number
}

export class BudgetCounters {
  readonly #counters = new Map<string, Counter>()
  #sweepAtMs = 0

  get size(): number {
    return this.#counters.size
  }

  /** Those that must be restored before `spentUnder` can answer. */
  findUnknown(budgets: readonly BudgetBound[], nowMs: number): readonly string[] {
    return budgets.map(({ counterId }) => counterId).filter((id) => this.#isUnknown(id, nowMs))
  }

  /** In the order of the budgets, all of them known. */
  spentUnder(budgets: readonly BudgetBound[]): readonly number[] {
    return budgets.map(({ counterId }) => {
      const counter = this.#counters.get(counterId)
      return counter === undefined ? 0 : countOf(counter)
    })
  }

  restore(counters: readonly SpentTokens[], nowMs: number): void {
    this.#sweep(nowMs)
    const untilMs = nowMs + SPENT_KNOWN_MS
    for (const { counterId, tokens } of counters) {
      const counter = this.#counters.get(counterId)
      if (counter === undefined)
        this.#counters.set(counterId, { restoredTokens: tokens ?? 0, addedTokens: 0, lastTokens: 0, untilMs })
      else if (counter.restoredTokens === null) {
        counter.restoredTokens = tokens ?? counter.lastTokens
        counter.untilMs = untilMs
      }
    }
  }

  add(counterIds: readonly string[], tokens: number): void {
    for (const counterId of counterIds) {
      const counter = this.#counters.get(counterId)
      if (counter !== undefined) counter.addedTokens += tokens
    }
  }

  #isUnknown(counterId: string, nowMs: number): boolean {
    const counter = this.#counters.get(counterId)
    const untilMs = nowMs + SPENT_KNOWN_MS
    if (counter?.restoredTokens === null) {
      // Goes on counting, as what is spent during a long reading is not in it.
      counter.untilMs = untilMs
      return true
    }
    if (counter !== undefined && nowMs < counter.untilMs) return false
    const lastTokens = counter === undefined ? 0 : countOf(counter)
    this.#counters.set(counterId, { restoredTokens: null, addedTokens: 0, lastTokens, untilMs })
    return true
  }

  #sweep(nowMs: number): void {
    if (nowMs < this.#sweepAtMs) return
    this.#sweepAtMs = nowMs + SPENT_KNOWN_MS
    const keptFromMs = nowMs - SPENT_KEPT_MS
    for (const [id, { untilMs }] of this.#counters) if (untilMs <= keptFromMs) this.#counters.delete(id)
  }
}

function countOf({ restoredTokens, addedTokens, lastTokens }: Counter): number {
  return (restoredTokens ?? lastTokens) + addedTokens
}
