/**
 * The credential store over PostgreSQL. What is asked for in one turn of the event loop is read in one statement; what was
 * found is used again for half a second while this instance hears of changes, and is what the instance knows while the database
 * is away (`credential-memory.ts`). Changes are heard of in three ways: through this instance's own connections before the
 * caller goes on, from other instances by notices, and by reading all that is known again whenever notices may be missing.
 * Invariant: a revocation holds within a second on every instance that reaches the database.
 */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { type Compilable, sql, type SqlBool } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { ApiSchema } from '../api-database.ts'
import {
  type InstanceCredentials,
  type KeyRow,
  type MakerRow,
  selectMakers,
  selectValidKeys,
  selectValidSessions,
  type SessionTierRow,
  toValidKey,
  toValidSession,
  type ValidKey,
  type ValidSession,
} from '../credential-store.ts'
import { type KnownCredential, CredentialMemory, type CredentialNotice } from './credential-memory.ts'
import type { PostgresDatabase } from './open-postgres.ts'
import { isUnavailable } from './postgres-pool.ts'

type Kind = KnownCredential['kind']

/** Keys or sessions that are asked for in one turn, by hash. */
class PendingReading {
  readonly hashes = new Set<string>()
  readonly found: Promise<ReadonlyMap<string, KnownCredential>>

  constructor(read: (hashes: readonly string[]) => Promise<ReadonlyMap<string, KnownCredential>>) {
    this.found = endOfTurn().then(() => read([...this.hashes]))
  }
}

export class PostgresCredentialStore implements InstanceCredentials {
  readonly #database: PostgresDatabase<ApiSchema>
  readonly #clock: Clock
  readonly #memory = new CredentialMemory()
  readonly #pending: Record<Kind, PendingReading | null> = { key: null, session: null }
  #hearsNotices = false

  constructor(database: PostgresDatabase<ApiSchema>, clock: Clock) {
    this.#database = database
    this.#clock = clock
    database.pool.onWrite((changed) => this.forgetAny(changed))
  }

  async findKey(secretHash: string, unixSeconds: number): Promise<ValidKey | null> {
    const credential = await this.#find('key', secretHash, unixSeconds)
    return credential?.kind === 'key' ? credential.found : null
  }

  async findSession(secretHash: string, unixSeconds: number): Promise<ValidSession | null> {
    const credential = await this.#find('session', secretHash, unixSeconds)
    return credential?.kind === 'session' ? credential.found : null
  }

  forgetAny(changed: readonly unknown[]): void {
    this.#memory.forgetAny(changed)
  }

  onNotice(notice: CredentialNotice): void {
    this.#memory.forgetNamed(notice)
  }

  /** Notices come from now on; some of those before may be missing. */
  async onNoticesBegin(): Promise<void> {
    this.#memory.markStale()
    await this.#confirmKnown()
    this.#hearsNotices = true
  }

  onNoticesEnd(): void {
    this.#hearsNotices = false
  }

  /** What is remembered of a secret answers for both kinds: a secret is a key's or a session's. */
  async #find(kind: Kind, secretHash: string, unixSeconds: number): Promise<KnownCredential | null> {
    const nowMs = this.#clock.nowMs()
    const fresh = this.#hearsNotices ? this.#memory.findFresh(secretHash, nowMs) : null
    if (fresh !== null) return unlessExpired(fresh, unixSeconds)
    const known = this.#memory.findKnown(secretHash, nowMs)
    if (known !== null && this.#database.pool.isAway) return unlessExpired(known, unixSeconds)
    try {
      return await this.#readWithTurn(kind, secretHash)
    } catch (error) {
      const stillKnown = this.#memory.findKnown(secretHash, nowMs)
      if (stillKnown === null || !isUnavailable(error)) throw error
      return unlessExpired(stillKnown, unixSeconds)
    }
  }

  async #readWithTurn(kind: Kind, secretHash: string): Promise<KnownCredential | null> {
    const pending = (this.#pending[kind] ??= new PendingReading((hashes) => {
      this.#pending[kind] = null
      return this.#read(kind, hashes)
    }))
    pending.hashes.add(secretHash)
    return (await pending.found).get(secretHash) ?? null
  }

  async #read(kind: Kind, hashes: readonly string[]): Promise<ReadonlyMap<string, KnownCredential>> {
    using reading = this.#memory.beginReading()
    const found = await (kind === 'key' ? this.#readKeys(hashes) : this.#readSessions(hashes))
    const nowMs = this.#clock.nowMs()
    for (const hash of hashes) {
      const credential = found.get(hash)
      if (credential !== undefined) this.#memory.remember(hash, credential, { reading, nowMs })
      else if (this.#memory.findKnown(hash, nowMs)?.kind === kind) this.#memory.forget(hash)
    }
    return found
  }

  async #readKeys(hashes: readonly string[]): Promise<ReadonlyMap<string, KnownCredential>> {
    const isOneOf = sql<SqlBool>`api_keys.secret_hash = any(${hashes})`
    const query = selectValidKeys(this.#database, isOneOf, this.#clock.unixSeconds()).select([
      'api_keys.secret_hash as secretHash',
      'api_keys.expires_at as expiresAtUnixSeconds',
    ])
    const rows = await this.#run(query)
    const makers = await this.#readMakers(rows)
    return new Map(
      rows.map(({ secretHash, expiresAtUnixSeconds, ...row }) => [
        secretHash,
        { kind: 'key', found: toValidKey(row, makers), expiresAtUnixSeconds },
      ]),
    )
  }

  async #readMakers(rows: readonly KeyRow[]): Promise<ReadonlyMap<string, MakerRow> | undefined> {
    const ids = rows.flatMap(({ aboveKeyId }) => (aboveKeyId === null ? [] : [aboveKeyId]))
    if (ids.length === 0) return undefined
    const makers = await this.#run(selectMakers(this.#database, sql<SqlBool>`api_keys.id = any(${ids})`))
    return new Map(makers.map((maker) => [maker.id, maker]))
  }

  async #readSessions(hashes: readonly string[]): Promise<ReadonlyMap<string, KnownCredential>> {
    const isOneOf = sql<SqlBool>`sessions.secret_hash = any(${hashes})`
    const query = selectValidSessions(this.#database, isOneOf, this.#clock.unixSeconds()).select(
      'sessions.secret_hash as secretHash',
    )
    const rowsByHash = new Map<string, SessionTierRow[]>()
    for (const { secretHash, ...row } of await this.#run(query)) {
      rowsByHash.set(secretHash, [...(rowsByHash.get(secretHash) ?? []), row])
    }
    const sessions = new Map<string, KnownCredential>()
    for (const [hash, rows] of rowsByHash) {
      const found = toValidSession(rows)
      if (found === null) continue
      sessions.set(hash, { kind: 'session', found, expiresAtUnixSeconds: found.expiresAtUnixSeconds })
    }
    return sessions
  }

  async #run<Row>(query: Compilable<Row>): Promise<readonly Row[]> {
    const { sql: text, parameters } = query.compile()
    return await this.#database.pool.queryTwice<Row>(text, parameters)
  }

  /** Forgets what is no longer valid. */
  async #confirmKnown(): Promise<void> {
    const nowMs = this.#clock.nowMs()
    const { hashes } = this.#memory
    const ofKind = (kind: Kind) => hashes.filter((hash) => this.#memory.findKnown(hash, nowMs)?.kind === kind)
    const [keys, sessions] = [ofKind('key'), ofKind('session')]
    if (keys.length > 0) await this.#read('key', keys)
    if (sessions.length > 0) await this.#read('session', sessions)
  }
}

function unlessExpired(credential: KnownCredential, unixSeconds: number): KnownCredential | null {
  const { expiresAtUnixSeconds } = credential
  return expiresAtUnixSeconds === null || expiresAtUnixSeconds > unixSeconds ? credential : null
}
