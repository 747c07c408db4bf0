/**
 * The credentials that one instance has found valid, by the hash of their secret. A credential is fresh for `FRESH_MS` and
 * then only known: it is asked for again, and serves as it is while the database is away, `KNOWN_MS` at the longest. Holds no
 * secret and nothing that was not found. Used by the credential store of PostgreSQL.
 * Invariant: what a notice names, or a reading no longer finds, is neither fresh nor known; also where a reading that began before
 * finds it.
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
  /** How many changes there had been when its reading began. */
  readonly changes: number
}

type IsChanged = (credential: KnownCredential) => boolean

/** What is read from the database, from its question to its answer. */
export interface CredentialReading extends Disposable {
  readonly changes: number
  /** What has changed since it began. */
  readonly isChanged: IsChanged[]
}

/** The row that a change is of, as the database names it. */
export interface CredentialNotice {
  readonly table: 'api_keys' | 'sessions' | 'users' | 'teams'
  readonly id: string
}

export class CredentialMemory {
  /** Those confirmed last at the end. */
  readonly #entries = new Map<string, Entry>()
  readonly #readings = new Set<CredentialReading>()
  #changes = 0

  get hashes(): readonly string[] {
    return [...this.#entries.keys()]
  }

  /** Before the database is asked; the caller ends it. */
  beginReading(): CredentialReading {
    const reading: CredentialReading = {
      changes: this.#changes,
      isChanged: [],
      [Symbol.dispose]: () => void this.#readings.delete(reading),
    }
    this.#readings.add(reading)
    return reading
  }

  /** What a change has overtaken is not kept; what others have is known, and not fresh. */
  remember(
    secretHash: string,
    credential: KnownCredential,
    { reading, nowMs }: { reading: CredentialReading; nowMs: number },
  ): void {
    const { changes, isChanged } = reading
    if (isChanged.some((isOne) => isOne(credential))) return
    if ((this.#entries.get(secretHash)?.changes ?? 0) > changes) return
    this.#entries.delete(secretHash)
    this.#entries.set(secretHash, { credential, confirmedAtMs: nowMs, changes })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > MAX_CREDENTIALS && oldest !== undefined) this.#entries.delete(oldest)
  }

  findFresh(secretHash: string, nowMs: number): KnownCredential | null {
    const entry = this.#entries.get(secretHash)
    if (entry === undefined || entry.changes !== this.#changes) return null
    return nowMs - entry.confirmedAtMs < FRESH_MS ? entry.credential : null
  }

  findKnown(secretHash: string, nowMs: number): KnownCredential | null {
    const entry = this.#entries.get(secretHash)
    return entry !== undefined && nowMs - entry.confirmedAtMs < KNOWN_MS ? entry.credential : null
  }

  /** Something may have changed: all that is kept is asked for again. */
  markStale(): void {
    this.#changes++
  }

  forget(secretHash: string): void {
    this.#entries.delete(secretHash)
  }

  /** Whatever has one of these for its id or its user's; the rest may have changed as well. */
  forgetAny(ids: readonly unknown[]): void {
    this.markStale()
    if (ids.length === 0) return
    this.#forgetWhere(({ found }) => ids.includes(found.id) || ids.includes(found.userId ?? ''))
  }

  forgetNamed(notice: CredentialNotice): void {
    this.markStale()
    this.#forgetWhere((credential) => isNamed(credential, notice))
  }

  #forgetWhere(isChanged: IsChanged): void {
    for (const [secretHash, { credential }] of this.#entries) {
      if (isChanged(credential)) this.#entries.delete(secretHash)
    }
    for (const reading of this.#readings) reading.isChanged.push(isChanged)
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
