/**
 * A line for heavy work: a few run at a time, more wait in order of arrival, and when too many wait the next is turned
 * away. Turning away is an answer too, and a cheap one.
 */

export interface WorkLineOptions {
  readonly maxRunning: number
  readonly maxWaiting: number
  /** What the one who is turned away is told. */
  readonly refusal: () => Error
}

export class WorkLine {
  readonly #options: WorkLineOptions
  readonly #waiting: (() => void)[] = []
  #runningCount = 0

  constructor(options: WorkLineOptions) {
    this.#options = options
  }

  /** @throws what `refusal` makes, or what the work throws. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const { maxRunning, maxWaiting, refusal } = this.#options
    if (this.#runningCount < maxRunning) this.#runningCount++
    else if (this.#waiting.length < maxWaiting) {
      await new Promise<void>((takePlace) => this.#waiting.push(takePlace))
    } else throw refusal()
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /** The place goes straight to the first in line, so that nobody slips in between. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#runningCount--
    else next()
  }
}
