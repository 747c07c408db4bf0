/**
 * Which sequences are computed with an adapter, so that one that is to go is freed after the last of them. Owned by the step loop.
 * Invariant: an adapter is freed at most once, and never while a sequence has it.
 */
import type { AdapterStore } from '../../../protocol/model-runner.ts'

export class AdapterUses {
  readonly #store: AdapterStore | null
  /** By adapter. */
  readonly #sequences = new Map<number, number>()
  readonly #leaving = new Set<number>()

  /** @param store null where the model takes no adapters */
  constructor(store: AdapterStore | null) {
    this.#store = store
  }

  /** Whether a sequence may begin with it. */
  isUsable(adapterId: number): boolean {
    return this.#store?.has(adapterId) === true && !this.#leaving.has(adapterId)
  }

  begin(adapterId: number): void {
    this.#sequences.set(adapterId, (this.#sequences.get(adapterId) ?? 0) + 1)
  }

  end(adapterId: number): void {
    const left = (this.#sequences.get(adapterId) ?? 0) - 1
    if (left > 0) return void this.#sequences.set(adapterId, left)
    this.#sequences.delete(adapterId)
    if (this.#leaving.delete(adapterId)) this.#store?.free(adapterId)
  }

  /** Frees it, now or after the last sequence that has it. */
  release(adapterId: number): void {
    if (this.#sequences.has(adapterId)) this.#leaving.add(adapterId)
    else this.#store?.free(adapterId)
  }
}
