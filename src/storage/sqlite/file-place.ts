/**
 * Whether a database's file still lies where it was opened. SQLite goes on with a file that has been removed or replaced,
 * and what it then writes is lost with the process. Asked before every write, and by the watch over a server's storage.
 */
import { statSync } from 'node:fs'

export class FilePlace {
  readonly #file: string
  readonly #identity: string | null

  /** @param file the real path of a file that is open */
  constructor(file: string) {
    this.#file = file
    this.#identity = identityOf(file)
  }

  /** Takes microseconds. True again once the same file has been put back. */
  isIntact(): boolean {
    return identityOf(this.#file) === this.#identity
  }
}

/** Null where there is no file, or it cannot be seen. */
function identityOf(file: string): string | null {
  try {
    const { dev, ino } = statSync(file, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return null
  }
}
