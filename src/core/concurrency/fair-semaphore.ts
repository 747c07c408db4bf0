/**
 * One permit for many callers that wait in lines, one line for each address or account. The lines take turns, so a
 * caller waits for one piece of work of every other line at most, however long those are. When all places are taken,
 * the newest waiter of the longest line is refused in favour of a caller whose line stays shorter.
 * Invariant: a caller waits only while the permit is held.
 */
import { InvariantError } from '../errors.ts'
import { abortReason } from './abort.ts'
import { FairLines } from './fair-lines.ts'
import { type Resolvers, withResolvers } from './with-resolvers.ts'

export interface WaitingBound {
  /** Waiters in all lines together. */
  readonly maxWaiting: number
  /** The error of a refusal. */
  readonly refusal: () => Error
}

export class FairSemaphore {
  readonly #bound: WaitingBound | null
  readonly #lines = new FairLines<Resolvers<void>>()
  #isHeld = false

  constructor(bound: WaitingBound | null = null) {
    this.#bound = bound
  }

  /**
   * Runs `work` with the permit.
   * @throws what `refusal` gives; the signal's reason when it aborts before the work begins; what the work throws.
   */
  async run<Result>(line: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted()
    if (this.#isHeld) await this.#wait(line, signal)
    this.#isHeld = true
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  /** @throws InvariantError when the state is inconsistent. */
  checkIntegrity(): void {
    this.#lines.checkIntegrity()
    if (!this.#lines.isEmpty && !this.#isHeld)
      throw new InvariantError('a caller waits only for a held permit')
  }

  async #wait(line: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#bound !== null && this.#lines.length >= this.#bound.maxWaiting)
      this.#makeRoom(line, this.#bound)
    const waiter = withResolvers<void>()
    const leave = (): void => {
      this.#lines.remove(waiter)
      if (signal !== undefined) waiter.reject(abortReason(signal))
    }
    this.#lines.add(line, waiter)
    signal?.addEventListener('abort', leave, { once: true })
    try {
      await waiter.promise
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }

  /** @throws what `refusal` gives when no line is longer than this one would become. */
  #makeRoom(line: string, { refusal }: WaitingBound): void {
    const { longest } = this.#lines
    if (this.#lines.lengthOf(longest) <= this.#lines.lengthOf(line) + 1) throw refusal()
    this.#lines.takeNewest(longest).reject(refusal())
  }

  /** Directly to the next line's first waiter, so that no later caller overtakes it. */
  #release(): void {
    if (this.#lines.isEmpty) {
      this.#isHeld = false
      return
    }
    const [waiter] = this.#lines.take()
    waiter.resolve()
  }
}
