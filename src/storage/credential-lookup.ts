/**
 * What each request asks the database: whose secret this is. Gives only what is valid at that moment: revoked, expired
 * and deleted ones and those of disabled users are not there. Nothing is kept from one question to the next.
 */
import type { Tier } from '../core/tiers.ts'
import type { ApiDatabase } from './api-database.ts'
import { runCompiled, runReads } from './sqlite/compiled-query.ts'

export interface ValidKey {
  readonly id: string
  readonly accountId: string
  readonly userId: string | null
  readonly tier: Tier
  readonly customRateLimitRpm: number | null
}

export interface ValidSession {
  readonly id: string
  readonly userId: string
  /** The user's own and those of its active keys; never empty. */
  readonly tiers: readonly Tier[]
}

export interface CredentialLookup {
  findKey(secretHash: string, unixSeconds: number): Promise<ValidKey | null>
  findSession(secretHash: string, unixSeconds: number): Promise<ValidSession | null>
}

export function createCredentialLookup(db: ApiDatabase): CredentialLookup {
  const keys = new KeyReader(db)
  const sessionQuery = compileSessionQuery(db)
  return {
    findKey: (secretHash, unixSeconds) => keys.find(secretHash, unixSeconds),
    findSession: async (secretHash, unixSeconds) => {
      const rows = await runCompiled(db, sessionQuery, [unixSeconds, secretHash, unixSeconds])
      const [session] = rows
      if (session === undefined) return null
      const keyTiers = rows.flatMap(({ keyTier }) => (keyTier === null ? [] : [keyTier]))
      return { id: session.id, userId: session.userId, tiers: [session.userTier, ...keyTiers] }
    },
  }
}

/**
 * Reads the keys that are asked for in one turn of the event loop together at its end: to lock the file for reading costs
 * most. A key that several requests ask for is read once; all of them have come by then.
 */
class KeyReader {
  readonly #db: ApiDatabase
  readonly #query: ReturnType<typeof compileKeyQuery>
  /** For each hash the latest time at which the key must be valid. */
  #asked = new Map<string, number>()
  #reading: Promise<ReadonlyMap<string, ValidKey>> | null = null

  constructor(db: ApiDatabase) {
    this.#db = db
    this.#query = compileKeyQuery(db)
  }

  async find(secretHash: string, unixSeconds: number): Promise<ValidKey | null> {
    this.#asked.set(secretHash, Math.max(unixSeconds, this.#asked.get(secretHash) ?? 0))
    this.#reading ??= this.#readAll()
    return (await this.#reading).get(secretHash) ?? null
  }

  async #readAll(): Promise<ReadonlyMap<string, ValidKey>> {
    await endOfTurn()
    const asked = [...this.#asked]
    this.#asked = new Map()
    this.#reading = null
    const found = await runReads(
      this.#db,
      asked.map((values) => ({ query: this.#query, values })),
    )
    const keys = new Map<string, ValidKey>()
    for (const [index, [secretHash]] of asked.entries()) {
      const [key] = found[index] ?? []
      if (key !== undefined) keys.set(secretHash, key)
    }
    return keys
  }
}

/** Everything that the sockets had to say in this turn has been heard by then. */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Values: hash, time. */
function compileKeyQuery(db: ApiDatabase) {
  return (
    db
      .selectFrom('api_keys')
      .leftJoin('users', 'users.id', 'api_keys.user_id')
      .select([
        'api_keys.id',
        'api_keys.account_id as accountId',
        'api_keys.user_id as userId',
        'api_keys.tier',
        'api_keys.custom_rate_limit_rpm as customRateLimitRpm',
      ])
      .where('api_keys.secret_hash', '=', '')
      .where('api_keys.revoked_at', 'is', null)
      .where((key) => key.or([key('api_keys.expires_at', 'is', null), key('api_keys.expires_at', '>', 0)]))
      // Null as well for a key without a user.
      .where('users.disabled_at', 'is', null)
      .compile()
  )
}

/** Values: time, hash, time. One row for each tier among the user's active keys, or one with none. */
function compileSessionQuery(db: ApiDatabase) {
  return db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .leftJoin('api_keys', (join) =>
      join
        .onRef('api_keys.account_id', '=', 'users.id')
        .on('api_keys.revoked_at', 'is', null)
        .on((key) => key.or([key('api_keys.expires_at', 'is', null), key('api_keys.expires_at', '>', 0)])),
    )
    .select([
      'sessions.id',
      'sessions.user_id as userId',
      'users.tier as userTier',
      'api_keys.tier as keyTier',
    ])
    .distinct()
    .where('sessions.secret_hash', '=', '')
    .where('sessions.expires_at', '>', 0)
    .where('users.disabled_at', 'is', null)
    .compile()
}
