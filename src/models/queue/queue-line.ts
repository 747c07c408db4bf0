/**
 * Sequences that share what they run in: slots, of which each takes one, or seats, of which a search takes one a beam. Counts
 * those that find nothing free, for the queue limit of all lines.
 */
import type { QueuePlace } from '../../protocol/engine.ts'
import type { QueueLimit } from './queue-limit.ts'

/** What the sequences of one request have in common. */
export interface QueuedRequest {
  readonly place: QueuePlace
  /** Slots or seats that each sequence takes. @default 1 */
  readonly size?: number
}

export class QueueLine {
  readonly #limit: QueueLimit
  readonly #capacity: number
  /** How many sequences have not begun, by size. */
  readonly #queued = new Map<number, number>()
  /** What those that run take of the capacity. */
  #taken = 0
  #waiting = 0

  /** @param capacity how many sequences of size 1 run at once; 0 where nothing runs */
  constructor(limit: QueueLimit, capacity: number) {
    this.#limit = limit
    this.#capacity = capacity
  }

  /** @throws ServiceError `queue_full`, `queue_share_full`; nothing has entered then. */
  enter(count: number, { place, size = 1 }: QueuedRequest): void {
    this.#queue(count, size)
    const waiting = this.#countWaiting()
    try {
      this.#limit.admit({ place, given: count, more: waiting - this.#waiting })
    } catch (error) {
      this.#queue(-count, size)
      throw error
    }
    this.#waiting = waiting
  }

  /** A sequence that had entered runs now. */
  begin({ place, size = 1 }: QueuedRequest): void {
    this.#queue(-1, size)
    this.#taken += size
    this.#limit.release(place, 1)
    this.#update()
  }

  /** Sequences leave that have not begun. */
  leave(count: number, { place, size = 1 }: QueuedRequest): void {
    this.#queue(-count, size)
    this.#limit.release(place, count)
    this.#update()
  }

  /** Sequences have ended that ran. */
  end(count: number, { size = 1 }: QueuedRequest): void {
    this.#taken -= count * size
    this.#update()
  }

  #queue(count: number, size: number): void {
    this.#queued.set(size, (this.#queued.get(size) ?? 0) + count)
  }

  #update(): void {
    const waiting = this.#countWaiting()
    this.#limit.change(waiting - this.#waiting)
    this.#waiting = waiting
  }

  /** Those that do not fit when the smallest begin first; a sequence that fits now does not wait. */
  #countWaiting(): number {
    let free = Math.max(0, this.#capacity - this.#taken)
    let waiting = 0
    const isMixed = this.#queued.size > 1
    const queued = isMixed ? [...this.#queued].sort(([one], [other]) => one - other) : this.#queued
    for (const [size, count] of queued) {
      const fitting = Math.min(count, Math.floor(free / size))
      free -= fitting * size
      waiting += count - fitting
    }
    return waiting
  }
}
