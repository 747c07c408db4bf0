/**
 * The bound on waiting, `--max-queue`, and its one owner: sequences of all models and replicas together that have nothing to
 * run in. Each model has a line for its slots and one for its beams; the registry has one for requests that wait for a first
 * load. The engines behind it queue whatever comes. Pure bookkeeping.
 * Invariant: what waits is the sum over the lines.
 */
import { ServiceError } from '../core/errors.ts'

export class QueueLimit {
  readonly #max: number
  #waiting = 0

  constructor(max: number) {
    this.#max = max
  }

  /** @param capacity how many sequences of size 1 run at once; 0 where nothing runs */
  createLine(capacity: number): QueueLine {
    return new QueueLine(this, capacity)
  }

  /**
   * Counts `more` that wait, of `given` that come together. A block is taken, however large, when nothing waits.
   * @throws ServiceError `queue_full`; nothing is counted then.
   */
  admit(given: number, more: number): void {
    const isBlockOnEmptyQueue = given > 1 && this.#waiting === 0
    if (more > 0 && this.#waiting + more > this.#max && !isBlockOnEmptyQueue) {
      const params = { waiting: this.#waiting, max: this.#max, given }
      throw new ServiceError('queue_full', params, { retryAfterSeconds: 1 })
    }
    this.#waiting += more
  }

  /** Counts those that have begun or left. */
  change(waiting: number): void {
    this.#waiting += waiting
  }
}

/** Sequences that share what they run in: slots, of which each takes one, or seats, of which a search takes one a beam. */
export class QueueLine {
  readonly #limit: QueueLimit
  readonly #capacity: number
  /** How many sequences have not begun, by size. */
  readonly #queued = new Map<number, number>()
  /** What those that run take of the capacity. */
  #taken = 0
  #waiting = 0

  constructor(limit: QueueLimit, capacity: number) {
    this.#limit = limit
    this.#capacity = capacity
  }

  /** @throws ServiceError `queue_full`; nothing has entered then. */
  enter(count: number, size = 1): void {
    this.#queue(count, size)
    const waiting = this.#countWaiting()
    try {
      this.#limit.admit(count, waiting - this.#waiting)
    } catch (error) {
      this.#queue(-count, size)
      throw error
    }
    this.#waiting = waiting
  }

  /** A sequence that had entered runs now. */
  begin(size = 1): void {
    this.#queue(-1, size)
    this.#taken += size
    this.#update()
  }

  /** Sequences leave that have not begun. */
  leave(count: number, size = 1): void {
    this.#queue(-count, size)
    this.#update()
  }

  /** Sequences have ended that ran. */
  end(count: number, size = 1): void {
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
