/**
 * The sliding windows of many ids, in bounded memory: an id that is left alone for two windows is forgotten. They
 * stand in two generations of which the older is dropped once a window; what is asked for moves to the younger. So
 * nothing is ever scanned, and what is dropped has not been asked for since the rotation before: all its places are
 * free. Invariant: an id is in one generation only.
 */
import { InvariantError } from '../core/errors.ts'
import { SlidingWindow, WINDOW_MS } from './sliding-window.ts'

export class SlidingWindows {
  #younger = new Map<string, SlidingWindow>()
  #older = new Map<string, SlidingWindow>()
  #rotatedMs = Number.NEGATIVE_INFINITY

  /** Ids that are remembered. */
  get size(): number {
    return this.#younger.size + this.#older.size
  }

  /** Null for an id that has taken no place. The window is good for this moment: never keep it. */
  find(id: string, nowMs: number): SlidingWindow | null {
    if (this.#rotatedMs + WINDOW_MS <= nowMs) this.#rotate(nowMs)
    const young = this.#younger.get(id)
    if (young !== undefined) return young
    const old = this.#older.get(id)
    if (old === undefined) return null
    this.#older.delete(id)
    this.#younger.set(id, old)
    return old
  }

  /** As `find`, but begins a window for an unknown id. */
  open(id: string, nowMs: number): SlidingWindow {
    const found = this.find(id, nowMs)
    if (found !== null) return found
    const window = new SlidingWindow()
    this.#younger.set(id, window)
    return window
  }

  /** Counts the places of `fromId` under `toId` as well; those that both have from one copy count once. */
  absorb({ fromId, toId }: { fromId: string; toId: string }, nowMs: number): void {
    const window = this.find(fromId, nowMs)
    if (window !== null) this.open(toId, nowMs).absorb(window, nowMs)
  }

  forget(id: string): void {
    this.#younger.delete(id)
    this.#older.delete(id)
  }

  /** @throws InvariantError when the books are wrong. */
  checkIntegrity(nowMs: number): void {
    for (const id of this.#older.keys()) {
      if (this.#younger.has(id)) throw new InvariantError('an id is in one generation only')
    }
    for (const window of this.#younger.values()) window.checkIntegrity(nowMs)
    for (const window of this.#older.values()) window.checkIntegrity(nowMs)
  }

  #rotate(nowMs: number): void {
    this.#older = this.#younger
    this.#younger = new Map()
    this.#rotatedMs = nowMs
  }
}
