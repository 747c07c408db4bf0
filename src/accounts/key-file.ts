/**
 * The keys and sessions of a full server's database file, read beside that server or without it. Each request is looked
 * up anew; a file that was changed or replaced is noticed before the next one.
 *
 *   open ──another inode──▶ reopening ──▶ open        requests wait meanwhile
 *     └──gone, or cannot be read──▶ each request fails, and tries again
 */
import type { Clock } from '../core/clock.ts'
import type { Credential } from '../core/credential.ts'
import { StartError } from '../core/errors.ts'
import {
  type FileState,
  openReadOnlyDatabase,
  readFileState,
  type ReadOnlyDatabase,
} from '../storage/read-only-database.ts'
import type { Authenticator } from './authenticator.ts'
import { createKeyAuthenticator } from './database-authenticator.ts'

export interface KeyFileOptions {
  readonly location: string
  /** What named the file, for messages. */
  readonly option: string
  readonly clock: Clock
}

interface OpenFile extends ReadOnlyDatabase {
  readonly authenticator: Authenticator
  /** Look-ups under way; the file is closed when they have ended. */
  readonly lookups: Set<Promise<unknown>>
}

export class KeyFile implements Authenticator {
  readonly #options: KeyFileOptions
  /** Of what `#opening` has opened, or opens; null where the last try has failed. */
  #state: FileState | null = null
  #opening: Promise<OpenFile | null> = Promise.resolve(null)

  private constructor(options: KeyFileOptions) {
    this.#options = options
  }

  /** @throws StartError when the file cannot be read as it is now. */
  static async open(options: KeyFileOptions): Promise<KeyFile> {
    const keyFile = new KeyFile(options)
    await keyFile.#current()
    return keyFile
  }

  async authenticate(secret: string | null): Promise<Credential | null> {
    const file = await this.#current()
    const lookup = file.authenticator.authenticate(secret)
    file.lookups.add(lookup)
    try {
      return await lookup
    } catch (error) {
      // Opened anew by the next request: what it holds may be broken for good.
      this.#state = null
      throw error
    } finally {
      file.lookups.delete(lookup)
    }
  }

  async close(): Promise<void> {
    await closeFile(await this.#opening.catch(() => null))
  }

  /** @throws StartError while the file cannot be read. */
  async #current(): Promise<OpenFile> {
    const { location, option } = this.#options
    const state = readFileState(location)
    if (state === null) throw new StartError(`There is no key database '${location}' (${option}).`, 1)
    if (!isSameFile(state, this.#state)) this.#opening = this.#reopen(this.#opening)
    const hasChanged = state.version !== this.#state?.version
    this.#state = state
    const file = await this.#opening
    if (file === null) throw new StartError(`The key database '${location}' (${option}) is not open.`, 1)
    if (hasChanged) file.forgetPages()
    return file
  }

  /** The old one is closed first: two of one name would share the index of the write-ahead log, and its locks. */
  async #reopen(previous: Promise<OpenFile | null>): Promise<OpenFile> {
    await closeFile(await previous.catch(() => null))
    const { location, option, clock } = this.#options
    try {
      const opened = openReadOnlyDatabase(location, option)
      const authenticator = createKeyAuthenticator({ database: opened.database, clock })
      return { ...opened, authenticator, lookups: new Set() }
    } catch (error) {
      this.#state = null
      throw error
    }
  }
}

async function closeFile(file: OpenFile | null): Promise<void> {
  if (file === null) return
  await Promise.allSettled(file.lookups)
  await file.database.destroy()
}

function isSameFile(one: FileState, other: FileState | null): boolean {
  return other !== null && one.device === other.device && one.inode === other.inode
}
