/**
 * Whether a database's file still lies where it was opened. SQLite goes on with a file that has been removed or replaced,
 * and what it then writes is lost with the process. Asked before every write, and by the watch over a server's storage.
 */
import { type BigIntStats, statSync } from 'node:fs'

export class FilePlace {
  readonly #file: string
  readonly #identity: FileIdentity | null

  /** @param file the real path of a file that is open */
  constructor(file: string) {
    this.#file = file
    this.#identity = identityOf(file)
  }

  /** Takes microseconds. True again once the same file has been put back. */
  isIntact(): boolean {
    const now = identityOf(this.#file)
    return now?.dev === this.#identity?.dev && now?.ino === this.#identity?.ino
  }
}

type FileIdentity = Pick<BigIntStats, 'dev' | 'ino'>

/** Null where there is no file, or it cannot be seen. */
function identityOf(file: string): FileIdentity | null {
  try {
    return statSync(file, { bigint: true })
  } catch {
    return null
  }
}
