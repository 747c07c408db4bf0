/**
 * The keys and sessions of a full server's database file, read beside that server or without it. Each request is looked
 * up anew; a file that was changed or replaced is noticed before the next one.
 *
 *   open ──another inode──▶ reopening ──▶ open        requests wait meanwhile
 *     └──gone, or cannot be read──▶ each request fails, and tries again
 */
import type { Clock } from '../../core/clock.ts'
import type { Credential } from '../../core/credential.ts'
import { StartError } from '../../core/errors.ts'
import {
  type FileState,
  isSameFile,
  logOf,
  openReadOnlyDatabase,
  readFileState,
  type ReadOnlyDatabase,
} from '../../storage/sqlite/read-only-database.ts'
import type { Authenticator } from '../authenticator.ts'
import { createKeyAuthenticator } from '../database-authenticator.ts'

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

/** The file and the write-ahead log beside it, as they are at one moment. */
interface Files {
  readonly database: FileState
  readonly log: FileState | null
  /** The log is that of the file that was replaced. */
  readonly isLogStale: boolean
}

export class KeyFile implements Authenticator {
  readonly #options: KeyFileOptions
  /** As `#opening` has found them, or finds them; null before the first time. */
  #files: Files | null = null
  #mustReopen = true
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
      this.#mustReopen = true
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
    const database = readFileState(location)
    if (database === null) {
      throw new StartError(
        `The database of accounts and keys '${location}' (${option}) cannot be read: there is no such file.`,
        1,
      )
    }
    const before = this.#files
    const files = compareFiles(before, { database, log: readFileState(logOf(location)) })
    if (this.#mustReopen || !isSameFile(database, before?.database ?? null) || endsStaleness(before, files)) {
      this.#mustReopen = false
      this.#opening = this.#reopen(this.#opening, files.isLogStale)
    }
    this.#files = files
    const file = await this.#opening
    if (file === null)
      throw new StartError(`The database of accounts and keys '${location}' (${option}) is closed.`, 1)
    if (database.version !== before?.database.version) file.forgetPages()
    return file
  }

  /** The old one is closed first: two of one name would share the index of the write-ahead log, and its locks. */
  async #reopen(previous: Promise<OpenFile | null>, ignoresLog: boolean): Promise<OpenFile> {
    await closeFile(await previous.catch(() => null))
    const { location, option, clock } = this.#options
    try {
      const opened = openReadOnlyDatabase(location, { option, ignoresLog })
      const authenticator = createKeyAuthenticator({ database: opened.database, clock })
      return { ...opened, authenticator, lookups: new Set() }
    } catch (error) {
      this.#mustReopen = true
      throw error
    }
  }
}

/**
 * A file that is put in the place of another finds that one's write-ahead log beside it, if a server had it open. Nothing
 * in a log says to which file it belongs: to read it with the new one would bring back the keys of the old.
 */
function compareFiles(before: Files | null, { database, log }: Omit<Files, 'isLogStale'>): Files {
  const isReplaced = before !== null && !isSameFile(database, before.database)
  const wasStale = before?.isLogStale === true
  const isLogStale =
    (isReplaced || wasStale) && isSameFile(log, before?.log ?? null) && hasSameText(log, before)
  return { database, log, isLogStale: isLogStale && log !== null }
}

/** A server has begun to write the new file, and with it the log. */
function hasSameText(log: FileState | null, before: Files | null): boolean {
  return before?.isLogStale !== true || log?.version === before.log?.version
}

function endsStaleness(before: Files | null, after: Files): boolean {
  return before?.isLogStale === true && !after.isLogStale
}

async function closeFile(file: OpenFile | null): Promise<void> {
  if (file === null) return
  await Promise.allSettled(file.lookups)
  await file.database.destroy()
}
