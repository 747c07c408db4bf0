/**
 * The credentials that one instance has found valid, by the hash of their secret. A credential is fresh for `FRESH_MS` and
 * then only known: it is asked for again, and serves as it is while the database is away, `KNOWN_MS` at the longest. Holds no
 * secret and nothing that was not found. Used by the credential store of PostgreSQL.
 * Invariant: what a notice names, or a reading no longer finds, is neither fresh nor known.
 */
import type { ValidKey, ValidSession } from '../credential-store.ts'

export type KnownCredential =
  | { readonly kind: 'key'; readonly found: ValidKey; readonly expiresAtUnixSeconds: number | null }
  | { readonly kind: 'session'; readonly found: ValidSession; readonly expiresAtUnixSeconds: number }

/** Bounds by itself how long a revocation takes where the notice of it is late. */
const FRESH_MS = 500

const KNOWN_MS = 15 * 60 * 1000

const MAX_CREDENTIALS = 50_000

interface Entry {
  readonly credential: KnownCredential
  readonly confirmedAtMs: number
  readonly reading: number
}

/** The row that a change is of, as the database names it. */
export interface CredentialNotice {
  readonly table: 'api_keys' | 'sessions' | 'users' | 'teams'
  readonly id: string
}

export class CredentialMemory {
  /** Those confirmed last at the end. */
  readonly #entries = new Map<string, Entry>()
  #reading = 0

  /** A number to give with what is read from now on. */
  get reading(): number {
    return this.#reading
  }

  get hashes(): readonly string[] {
    return [...this.#entries.keys()]
  }

  /** Nothing is kept of a reading that a change has overtaken. */
  remember(
    secretHash: string,
    credential: KnownCredential,
    { reading, nowMs }: { reading: number; nowMs: number },
  ): void {
    if (reading !== this.#reading) return
    this.#entries.delete(secretHash)
    this.#entries.set(secretHash, { credential, confirmedAtMs: nowMs, reading })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > MAX_CREDENTIALS && oldest !== undefined) this.#entries.delete(oldest)
  }

  findFresh(secretHash: string, nowMs: number): KnownCredential | null {
    const entry = this.#entries.get(secretHash)
    if (entry === undefined || entry.reading !== this.#reading) return null
    return nowMs - entry.confirmedAtMs < FRESH_MS ? entry.credential : null
  }

  findKnown(secretHash: string, nowMs: number): KnownCredential | null {
    const entry = this.#entries.get(secretHash)
    return entry !== undefined && nowMs - entry.confirmedAtMs < KNOWN_MS ? entry.credential : null
  }

  /** Something may have changed: all that is kept is asked for again. */
  markStale(): void {
    this.#reading++
  }

  forget(secretHash: string): void {
    this.#entries.delete(secretHash)
  }

  /** Whatever has one of these for its id or its user's; the rest may have changed as well. */
  forgetAny(ids: readonly unknown[]): void {
    this.markStale()
    if (ids.length === 0) return
    for (const [secretHash, { credential }] of this.#entries) {
      if (ids.includes(credential.found.id) || ids.includes(credential.found.userId ?? ''))
        this.#entries.delete(secretHash)
    }
  }

  forgetNamed(notice: CredentialNotice): void {
    this.markStale()
    for (const [secretHash, { credential }] of this.#entries) {
      if (isNamed(credential, notice)) this.#entries.delete(secretHash)
    }
  }
}

function isNamed({ kind, found }: KnownCredential, { table, id }: CredentialNotice): boolean {
  switch (table) {
    case 'api_keys':
      return kind === 'key' && found.id === id
    case 'sessions':
      return kind === 'session' && found.id === id
    case 'users':
      return found.userId === id
    case 'teams':
      return found.teamId === id
  }
}
