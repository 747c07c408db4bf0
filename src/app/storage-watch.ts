/**
 * Watches that the databases of a running server stay where they were opened, and says in the log when one does not. Without
 * this a folder that is removed under a server goes unnoticed: SQLite goes on writing into files that nobody will find.
 * Each write checks for itself (`storage/sqlite/`), so nothing is answered that was not recorded.
 */
import type { ServiceError } from '../core/errors.ts'
import type { LogWriter } from '../core/log-writer.ts'

const LOOK_EVERY_MS = 1000

export interface StorageWatchOptions {
  /** For each database: the error when it was lost, or null. */
  readonly storages: readonly (() => ServiceError | null)[]
  readonly log: Pick<LogWriter, 'error' | 'info'>
}

export class StorageWatch {
  readonly #options: StorageWatchOptions
  readonly #timer: NodeJS.Timeout
  #lost: ServiceError | null = null

  constructor(options: StorageWatchOptions) {
    this.#options = options
    // Keeps no process alive.
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref()
  }

  /** As of the last look, at most a second ago. */
  get lost(): ServiceError | null {
    return this.#lost
  }

  look(): ServiceError | null {
    const { storages, log } = this.#options
    const lost = storages.map((whyLost) => whyLost()).find((error) => error !== null) ?? null
    if (lost !== null && this.#lost === null) {
      log.error(
        { code: lost.code },
        `${lost.message} Put the files back, or stop the server and start it again.`,
      )
    }
    if (lost === null && this.#lost !== null) log.info('the databases are back in their place')
    this.#lost = lost
    return lost
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
