/**
 * Records the usage of a request before its answer. All entries of one turn of the event loop go into one transaction,
 * because committing costs more than writing a row; an entry that comes alone waits for no other.
 * Invariant: every `record` settles, and one that resolved is in the database.
 */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { InvariantError } from '../core/errors.ts'
import type { UsageEntry, UsageStore } from '../storage/usage-store.ts'

export type { UsageEntry }

interface WaitingEntry {
  readonly entry: UsageEntry
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class UsageRecorder {
  readonly #store: Pick<UsageStore, 'insert'>
  #waiting: WaitingEntry[] = []
  /** Ends when nothing is waiting; null while nothing is. */
  #writing: Promise<void> | null = null
  #isClosed = false

  constructor(store: Pick<UsageStore, 'insert'>) {
    this.#store = store
  }

  /** Resolves once it is committed; rejects when that failed, and then it is not recorded. */
  record(entry: UsageEntry): Promise<void> {
    if (this.#isClosed) return Promise.reject(new InvariantError('usage is recorded before closing'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject })
      this.#writing ??= this.#writeAll()
    })
  }

  /** Waits for all that is being recorded; nothing can be recorded any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await endOfTurn()
      await this.#write(this.#waiting.splice(0))
    }
    this.#writing = null
  }

  async #write(waiting: readonly WaitingEntry[]): Promise<void> {
    try {
      await this.#store.insert(waiting.map(({ entry }) => entry))
      for (const { resolve } of waiting) resolve()
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
}
