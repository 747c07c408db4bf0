/**
 * Time, passed in wherever it is needed, so that tests move it by hand.
 * Durations come from `nowMs` (monotonic), dates from `unixSeconds` (wall clock).
 */
export interface Clock {
  /** Milliseconds from an arbitrary start; never goes backwards. */
  nowMs(): number
  /** Wall-clock time as Unix seconds with fractions. */
  unixSeconds(): number
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  unixSeconds: () => Date.now() / 1000,
}

/** A clock that stands still until it is advanced. */
export class VirtualClock implements Clock {
  #nowMs = 0
  readonly #startUnixSeconds: number

  constructor(startUnixSeconds = 1_700_000_000) {
    this.#startUnixSeconds = startUnixSeconds
  }

  nowMs(): number {
    return this.#nowMs
  }

  unixSeconds(): number {
    return this.#startUnixSeconds + this.#nowMs / 1000
  }

  advance(ms: number): void {
    this.#nowMs += ms
  }
}
