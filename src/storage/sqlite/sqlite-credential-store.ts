/**
 * The credential store over SQLite. Keys that are asked for in one turn of the event loop are read together at its end,
 * in one read transaction: locking the file costs more than reading a key. Nothing of a key is kept from one turn to the next,
 * so a change by any process is seen by the next look-up. Called for every request with a secret.
 */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { ApiSchema } from '../api-database.ts'
import {
  compileKeyQuery,
  compileMakersQuery,
  compileSessionQuery,
  type CredentialStore,
  type KeyRow,
  type MakerRow,
  type SessionTierRow,
  toValidKey,
  toValidSession,
  type ValidKey,
  type ValidSession,
} from '../credential-store.ts'
import type { SqliteConnection, SqliteDriver, SqliteKysely } from './sqlite-driver.ts'

export class SqliteCredentialStore implements CredentialStore {
  readonly #driver: SqliteDriver
  readonly #keySql: string
  readonly #makersSql: string
  readonly #sessionSql: string
  /** The keys asked for in this turn, by hash, with the latest moment at which each must be valid. */
  #pending = new Map<string, number>()
  /** The read at the end of this turn; null while no key is asked for. */
  #reading: Promise<ReadonlyMap<string, ValidKey>> | null = null

  constructor(database: SqliteKysely<ApiSchema>) {
    this.#driver = database.driver
    this.#keySql = compileKeyQuery(database).sql
    this.#makersSql = compileMakersQuery(database).sql
    this.#sessionSql = compileSessionQuery(database).sql
  }

  async findKey(secretHash: string, unixSeconds: number): Promise<ValidKey | null> {
    this.#pending.set(secretHash, Math.max(unixSeconds, this.#pending.get(secretHash) ?? 0))
    this.#reading ??= this.#readPending()
    return (await this.#reading).get(secretHash) ?? null
  }

  async findSession(secretHash: string, unixSeconds: number): Promise<ValidSession | null> {
    const values = [unixSeconds, secretHash, unixSeconds]
    const { rows } = await this.#driver.run((connection) =>
      connection.run<SessionTierRow>(this.#sessionSql, values),
    )
    return toValidSession(rows)
  }

  async #readPending(): Promise<ReadonlyMap<string, ValidKey>> {
    await endOfTurn()
    const pending = this.#pending
    this.#pending = new Map()
    this.#reading = null
    const read = (connection: SqliteConnection) => this.#readKeys(connection, pending)
    // A single statement is a transaction of its own.
    return await (pending.size === 1 ? this.#driver.run(read) : this.#driver.transact('read', read))
  }

  #readKeys(
    connection: SqliteConnection,
    pending: ReadonlyMap<string, number>,
  ): ReadonlyMap<string, ValidKey> {
    const keys = new Map<string, ValidKey>()
    for (const values of pending) {
      const [key] = connection.run<KeyRow>(this.#keySql, values).rows
      if (key !== undefined) keys.set(values[0], toValidKey(key, this.#readMakers(connection, key)))
    }
    return keys
  }

  #readMakers(
    connection: SqliteConnection,
    { aboveKeyId }: KeyRow,
  ): ReadonlyMap<string, MakerRow> | undefined {
    if (aboveKeyId === null) return undefined
    const { rows } = connection.run<MakerRow>(this.#makersSql, [aboveKeyId])
    return new Map(rows.map((maker) => [maker.id, maker]))
  }
}
