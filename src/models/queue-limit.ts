/**
 * The bound on waiting, `--max-queue`: sequences of all models and replicas together that have no place to run in. Each
 * model has lines in it, one for each kind of place; the registry has one for requests that wait for a first load.
 * Pure bookkeeping. Invariant: what waits is the sum of what the lines say.
 */
import { ServiceError } from '../core/errors.ts'

export class WaitingRoom {
  readonly #max: number
  #waiting = 0

  constructor(max: number) {
    this.#max = max
  }

  /** @param places how many there are to run in; none where nothing runs */
  createLine(places: number): WaitingLine {
    return new WaitingLine(places, {
      admit: (given, more) => this.#admit(given, more),
      onChange: (change) => {
        this.#waiting += change
      },
    })
  }

  /** A block is taken, however large, when nothing waits. */
  #admit(given: number, more: number): void {
    const isBlockOnEmptyQueue = given > 1 && this.#waiting === 0
    if (more === 0 || this.#waiting + more <= this.#max || isBlockOnEmptyQueue) return
    const params = { waiting: this.#waiting, max: this.#max, given }
    throw new ServiceError('queue_full', params, { retryAfterSeconds: 1 })
  }
}

interface LineHooks {
  /** @throws ServiceError `queue_full` when of the sequences that come too many would have to wait. */
  readonly admit: (given: number, more: number) => void
  /** Told how the number of those that wait changes. */
  readonly onChange: (change: number) => void
}

/** Sequences that run in the same kind of place and wait for it. Each says how many places it takes. */
export class WaitingLine {
  readonly #places: number
  readonly #hooks: LineHooks
  /** How many sequences have not begun, by the places that each will take. */
  readonly #sequences = new Map<number, number>()
  /** Places of those that run. */
  #taken = 0

  constructor(places: number, hooks: LineHooks) {
    this.#places = places
    this.#hooks = hooks
  }

  /** @throws ServiceError `queue_full`; nothing has entered then. */
  enter(count: number, placesEach = 1): void {
    const before = this.#waiting
    this.#add(count, placesEach)
    try {
      this.#hooks.admit(count, this.#waiting - before)
    } catch (error) {
      this.#add(-count, placesEach)
      throw error
    }
    this.#hooks.onChange(this.#waiting - before)
  }

  /** A sequence that had entered runs now. */
  begin(placesEach = 1): void {
    this.#change(() => {
      this.#add(-1, placesEach)
      this.#taken += placesEach
    })
  }

  /** Sequences leave that have not begun. */
  leave(count: number, placesEach = 1): void {
    this.#change(() => this.#add(-count, placesEach))
  }

  /** Sequences have ended that ran. */
  end(count: number, placesEach = 1): void {
    this.#change(() => {
      this.#taken -= count * placesEach
    })
  }

  #add(count: number, placesEach: number): void {
    this.#sequences.set(placesEach, (this.#sequences.get(placesEach) ?? 0) + count)
  }

  #change(apply: () => void): void {
    const before = this.#waiting
    apply()
    this.#hooks.onChange(this.#waiting - before)
  }

  /** Those that find no place, if the smallest take theirs first; what is about to begin in a free one does not wait. */
  get #waiting(): number {
    let free = Math.max(0, this.#places - this.#taken)
    let waiting = 0
    const isMixed = this.#sequences.size > 1
    const sequences = isMixed ? [...this.#sequences].sort(([one], [other]) => one - other) : this.#sequences
    for (const [placesEach, count] of sequences) {
      const fitting = Math.min(count, Math.floor(free / placesEach))
      free -= fitting * placesEach
      waiting += count - fitting
    }
    return waiting
  }
}
