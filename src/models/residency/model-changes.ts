/** Tells those who wait for it that something has changed, without saying what. */
import { type Resolvers, withResolvers } from '../../core/concurrency/with-resolvers.ts'

export class Changes {
  #next: Resolvers<void> | null = null

  /** Resolves at the next change. */
  next(): Promise<void> {
    this.#next ??= withResolvers()
    return this.#next.promise
  }

  notify(): void {
    this.#next?.resolve()
    this.#next = null
  }
}
