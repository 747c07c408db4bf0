/**
 * When each key was last used: by any request that it authenticates. Written to the database some seconds later, many keys in one
 * statement, because writing with every request would cost more than the look-up of its key. Called for each request with a
 * key, and by the key service, which shows what is not written yet. Lost when the process is killed: the last seconds.
 */
import type { Clock } from '../../core/clock.ts'
import type { ApiDatabase } from '../../storage/api-database.ts'
import { updateLastUses } from '../../storage/keys-repository.ts'
import type { LogWriter } from '../../core/log-writer.ts'
import type { Authenticator } from '../authenticator.ts'

export interface KeyUsesDeps {
  readonly database: ApiDatabase
  readonly clock: Clock
  readonly log: Pick<LogWriter, 'error'>
}

const WRITE_AFTER_MS = 2000

/** A database that fails is tried again no sooner, and says so in the log no more often. */
const RETRY_AFTER_MS = 60_000

export class KeyUses {
  readonly #deps: KeyUsesDeps
  /** Unix seconds by key, not written yet. */
  #waiting = new Map<string, number>()
  /** What is being written. */
  #writing = new Map<string, number>()
  #timer: NodeJS.Timeout | null = null

  constructor(deps: KeyUsesDeps) {
    this.#deps = deps
  }

  record(keyId: string): void {
    this.#waiting.set(keyId, this.#deps.clock.unixSeconds())
    this.#writeAfter(WRITE_AFTER_MS)
  }

  /** The later of what was stored and what is not written yet. */
  latest(keyId: string, storedUnixSeconds: number | null): number | null {
    return this.#waiting.get(keyId) ?? this.#writing.get(keyId) ?? storedUnixSeconds
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    await this.#write()
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #writeAfter(ms: number): void {
    this.#timer ??= setTimeout(() => void this.#write(), ms).unref()
  }

  async #write(): Promise<void> {
    const { database, log } = this.#deps
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const uses = this.#waiting
    this.#waiting = new Map()
    this.#writing = uses
    try {
      await updateLastUses(database, [...uses])
    } catch (error) {
      log.error({ err: error }, 'when keys were last used could not be written')
      this.#waiting = new Map([...uses, ...this.#waiting])
      this.#writeAfter(RETRY_AFTER_MS)
    }
    if (this.#writing === uses) this.#writing = new Map()
  }
}

/** Records each use of a key. */
export function recordUses(authenticator: Authenticator, uses: KeyUses): Authenticator {
  return {
    authenticate: async (secret) => {
      const credential = await authenticator.authenticate(secret)
      if (credential?.kind === 'key') uses.record(credential.keyId)
      return credential
    },
  }
}
