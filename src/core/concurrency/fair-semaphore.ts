/**
 * One permit for many callers that wait in lines, one line for each address or account. The lines take turns, so a
 * caller waits for one piece of work of every other line at most, however long those are. When all places are taken,
 * the newest waiter of the longest line is refused in favour of a caller whose line stays shorter.
 * Invariant: a caller waits only while the permit is held, and no line is empty.
 */
import { InvariantError } from '../errors.ts'

export interface FairSemaphoreOptions {
  /** Waiters in all lines together. */
  readonly maxWaiting: number
  /** The error of a refusal. */
  readonly refusal: () => Error
}

interface Waiter {
  readonly grant: () => void
  readonly refuse: () => void
}

export class FairSemaphore {
  readonly #options: FairSemaphoreOptions
  /** In the order of their turns. */
  readonly #lines = new Map<string, Waiter[]>()
  #waiting = 0
  #isHeld = false

  constructor(options: FairSemaphoreOptions) {
    this.#options = options
  }

  /** Runs `work` with the permit. @throws what `refusal` gives, or what the work throws. */
  async run<Result>(line: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#isHeld) await this.#wait(line)
    this.#isHeld = true
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  /** @throws InvariantError when the state is inconsistent. */
  checkIntegrity(): void {
    const lengths = [...this.#lines.values()].map((line) => line.length)
    if (lengths.includes(0)) throw new InvariantError('no line is empty')
    if (lengths.reduce((sum, length) => sum + length, 0) !== this.#waiting)
      throw new InvariantError('every waiter is counted')
    if (this.#waiting > 0 && !this.#isHeld) throw new InvariantError('a caller waits only for a held permit')
  }

  async #wait(line: string): Promise<void> {
    if (this.#waiting >= this.#options.maxWaiting) this.#makeRoom(line)
    await new Promise<void>((grant, reject) => {
      const waiters = this.#lines.get(line) ?? []
      waiters.push({ grant, refuse: () => reject(this.#options.refusal()) })
      this.#lines.set(line, waiters)
      this.#waiting++
    })
  }

  /** @throws what `refusal` gives when no line is longer than this one would become. */
  #makeRoom(line: string): void {
    const ownLength = this.#lines.get(line)?.length ?? 0
    let longest = ''
    let longestLength = 0
    for (const [name, { length }] of this.#lines)
      if (length > longestLength) [longest, longestLength] = [name, length]
    if (longestLength <= ownLength + 1) throw this.#options.refusal()
    this.#lines.get(longest)?.pop()?.refuse()
    this.#waiting--
  }

  /** Directly to the next line's first waiter, so that no later caller overtakes it. */
  #release(): void {
    const [next] = this.#lines
    if (next === undefined) {
      this.#isHeld = false
      return
    }
    const [line, waiters] = next
    // To the end of the order of turns.
    this.#lines.delete(line)
    const waiter = waiters.shift()
    if (waiters.length > 0) this.#lines.set(line, waiters)
    this.#waiting--
    waiter?.grant()
  }
}
