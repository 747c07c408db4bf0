/**
 * Rate windows by id. Each holds the times of an id's requests of the last 60 seconds: a true sliding window, so that no
 * 60 seconds hold more than the limit. A request leaves the window exactly 60,000 ms after it was counted. The limit is an
 * argument of each question, because tiers and custom limits change while the window runs.
 * Pure: the caller passes the time, which never goes backwards, and asks `freeAtMs` before it adds a request.
 */
import { InvariantError } from '../../core/errors.ts'

export const WINDOW_MS = 60_000

/** Power of two; most ids make few requests. */
const INITIAL_CAPACITY = 4

export class SlidingWindow {
  /** A ring, oldest first from `#first`. It doubles when full, so it stays below twice the highest limit. */
  #timesMs = new Float64Array(INITIAL_CAPACITY)
  #first = 0
  #size = 0

  /** Requests of the last 60 s; more than the limit after that was lowered. */
  used(nowMs: number): number {
    const mask = this.#timesMs.length - 1
    while (this.#size > 0 && (this.#timesMs[this.#first] ?? 0) + WINDOW_MS <= nowMs) {
      this.#first = (this.#first + 1) & mask
      this.#size--
    }
    return this.#size
  }

  /** When the next request fits under this limit: `nowMs` when it does already. */
  freeAtMs(limit: number, nowMs: number): number {
    const excess = this.used(nowMs) - limit
    return excess < 0 ? nowMs : this.#at(excess) + WINDOW_MS
  }

  /** Milliseconds until the window is empty. */
  resetMs(nowMs: number): number {
    const used = this.used(nowMs)
    return used === 0 ? 0 : this.#at(used - 1) + WINDOW_MS - nowMs
  }

  add(nowMs: number): void {
    if (this.#size === this.#timesMs.length) this.#grow()
    this.#timesMs[this.#index(this.#size)] = nowMs
    this.#size++
  }

  /** Adds the requests of another window; those of one time, which both have from one copy, count once. */
  merge(other: SlidingWindow, nowMs: number): void {
    const [mine, theirs] = [this.#times(nowMs), other.#times(nowMs)]
    this.#size = 0
    let [mineIndex, theirIndex] = [0, 0]
    while (mineIndex < mine.length || theirIndex < theirs.length) {
      const mineMs = mine[mineIndex] ?? Number.POSITIVE_INFINITY
      const theirMs = theirs[theirIndex] ?? Number.POSITIVE_INFINITY
      if (mineMs <= theirMs) mineIndex++
      if (theirMs <= mineMs) theirIndex++
      this.add(Math.min(mineMs, theirMs))
    }
  }

  /** @throws InvariantError when the ring is not in order. */
  checkIntegrity(nowMs: number): void {
    if (this.#size > this.#timesMs.length) throw new InvariantError('a window fits its ring')
    for (let position = 1; position < this.#size; position++) {
      if (this.#at(position - 1) > this.#at(position))
        throw new InvariantError('requests are in order of time')
    }
    if (this.#size > 0 && this.#at(this.#size - 1) > nowMs)
      throw new InvariantError('no request is in the future')
  }

  #times(nowMs: number): readonly number[] {
    return Array.from({ length: this.used(nowMs) }, (_, position) => this.#at(position))
  }

  #at(position: number): number {
    return this.#timesMs[this.#index(position)] ?? 0
  }

  #index(position: number): number {
    return (this.#first + position) & (this.#timesMs.length - 1)
  }

  #grow(): void {
    const grown = new Float64Array(this.#timesMs.length * 2)
    grown.set(this.#timesMs.subarray(this.#first))
    grown.set(this.#timesMs.subarray(0, this.#first), this.#timesMs.length - this.#first)
    this.#timesMs = grown
    this.#first = 0
  }
}

/** Whole seconds for `Retry-After`: after them the time has come, less than a second ago. */
export function secondsUntil(momentMs: number, nowMs: number): number {
  const seconds = Math.ceil((momentMs - nowMs) / 1000)
  // The difference of two long numbers may have been rounded down.
  return nowMs + seconds * 1000 < momentMs ? seconds + 1 : seconds
}

/**
 * The windows of many ids, in bounded memory. They stand in two generations, of which the older is dropped once in 60
 * seconds; an id that is asked for moves to the younger. So nothing is ever scanned, and a dropped window is empty, because
 * no request has asked for it since the rotation before. Invariant: an id is in one generation only.
 */
export class SlidingWindows {
  #younger = new Map<string, SlidingWindow>()
  #older = new Map<string, SlidingWindow>()
  #rotatedMs = Number.NEGATIVE_INFINITY

  /** Ids that are remembered. */
  get size(): number {
    return this.#younger.size + this.#older.size
  }

  /** Null for an id without requests. The window is valid for this moment: never keep it. */
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

  /** As `find`, but opens a window for an unknown id. */
  open(id: string, nowMs: number): SlidingWindow {
    const found = this.find(id, nowMs)
    if (found !== null) return found
    const window = new SlidingWindow()
    this.#younger.set(id, window)
    return window
  }

  /** Counts the requests of `fromId` under `toId` as well; those that both have from one copy count once. */
  merge({ fromId, toId }: { fromId: string; toId: string }, nowMs: number): void {
    const window = this.find(fromId, nowMs)
    if (window !== null) this.open(toId, nowMs).merge(window, nowMs)
  }

  forget(id: string): void {
    this.#younger.delete(id)
    this.#older.delete(id)
  }

  /** @throws InvariantError when an id is in both, or a window is out of order. */
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
