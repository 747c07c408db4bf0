/**
 * The requests that one id has made in the last 60 seconds, as the moments their places were taken: a true sliding
 * window, so that in no 60 s there are more than the limit. A place frees exactly 60,000 ms after it was taken.
 * The limit is an argument of each question, because tiers and custom limits change while the window runs.
 * Pure: the caller passes the time, which never goes backwards, and asks `freeAtMs` before it takes a place.
 */
import { InvariantError } from '../core/errors.ts'

export const WINDOW_MS = 60_000

/** Power of two; most ids make few requests. */
const INITIAL_CAPACITY = 4

export class SlidingWindow {
  /** A ring, oldest first from `#first`. It doubles when full, so it stays below twice the highest limit. */
  #takenMs = new Float64Array(INITIAL_CAPACITY)
  #first = 0
  #size = 0

  /** Places taken in the last 60 s; more than the limit after that was lowered. */
  used(nowMs: number): number {
    const mask = this.#takenMs.length - 1
    while (this.#size > 0 && (this.#takenMs[this.#first] ?? 0) + WINDOW_MS <= nowMs) {
      this.#first = (this.#first + 1) & mask
      this.#size--
    }
    return this.#size
  }

  /** The moment at which there is a place under this limit: `nowMs` when there is one already. */
  freeAtMs(limit: number, nowMs: number): number {
    const excess = this.used(nowMs) - limit
    return excess < 0 ? nowMs : this.#at(excess) + WINDOW_MS
  }

  /** Milliseconds until no place is taken any more. */
  resetMs(nowMs: number): number {
    const used = this.used(nowMs)
    return used === 0 ? 0 : this.#at(used - 1) + WINDOW_MS - nowMs
  }

  take(nowMs: number): void {
    if (this.#size === this.#takenMs.length) this.#grow()
    this.#takenMs[this.#index(this.#size)] = nowMs
    this.#size++
  }

  /** Takes the places of another window as well; those of one moment, which both have from one copy, count once. */
  absorb(other: SlidingWindow, nowMs: number): void {
    const [mine, theirs] = [this.#places(nowMs), other.#places(nowMs)]
    this.#size = 0
    let [mineIndex, theirIndex] = [0, 0]
    while (mineIndex < mine.length || theirIndex < theirs.length) {
      const mineMs = mine[mineIndex] ?? Number.POSITIVE_INFINITY
      const theirMs = theirs[theirIndex] ?? Number.POSITIVE_INFINITY
      if (mineMs <= theirMs) mineIndex++
      if (theirMs <= mineMs) theirIndex++
      this.take(Math.min(mineMs, theirMs))
    }
  }

  /** @throws InvariantError when the ring is not in order. */
  checkIntegrity(nowMs: number): void {
    if (this.#size > this.#takenMs.length) throw new InvariantError('a window fits its ring')
    for (let position = 1; position < this.#size; position++) {
      if (this.#at(position - 1) > this.#at(position)) throw new InvariantError('places are in order of time')
    }
    if (this.#size > 0 && this.#at(this.#size - 1) > nowMs)
      throw new InvariantError('no place is taken in the future')
  }

  #places(nowMs: number): readonly number[] {
    return Array.from({ length: this.used(nowMs) }, (_, position) => this.#at(position))
  }

  #at(position: number): number {
    return this.#takenMs[this.#index(position)] ?? 0
  }

  #index(position: number): number {
    return (this.#first + position) & (this.#takenMs.length - 1)
  }

  #grow(): void {
    const grown = new Float64Array(this.#takenMs.length * 2)
    grown.set(this.#takenMs.subarray(this.#first))
    grown.set(this.#takenMs.subarray(0, this.#first), this.#takenMs.length - this.#first)
    this.#takenMs = grown
    this.#first = 0
  }
}

/** Whole seconds for `Retry-After`, for a moment to come: who waits them is not early, and under a second late. */
export function secondsUntil(momentMs: number, nowMs: number): number {
  const seconds = Math.ceil((momentMs - nowMs) / 1000)
  // The difference of two long numbers may have been rounded down.
  return nowMs + seconds * 1000 < momentMs ? seconds + 1 : seconds
}
