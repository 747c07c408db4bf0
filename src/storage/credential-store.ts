/**
 * The look-up that every request makes in the accounts database: the credential behind a secret. Owns what counts as valid,
 * as the two queries below: revoked, expired and deleted credentials and those of disabled users are not found. What is changed
 * through this process holds from the next request on; what an implementation keeps of an answer is its own matter.
 */
import { type CompiledQuery, type Expression, expressionBuilder, type SqlBool } from 'kysely'
import type { Tier } from '../core/tiers.ts'
import type { ApiDatabase, ApiSchema } from './api-database.ts'

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

/** Null for a hash that belongs to nothing valid at this moment; rejects when the database cannot be read. */
export interface CredentialStore {
  findKey(secretHash: string, unixSeconds: number): Promise<ValidKey | null>
  findSession(secretHash: string, unixSeconds: number): Promise<ValidSession | null>
}

/** Values: hash, time. */
export function compileKeyQuery(db: ApiDatabase): CompiledQuery<ValidKey> {
  const isKey = expressionBuilder<ApiSchema, 'api_keys'>()('api_keys.secret_hash', '=', '')
  return selectValidKeys(db, isKey, 0).compile()
}

/** The valid ones among the keys for which a condition holds. */
export function selectValidKeys(db: ApiDatabase, condition: Expression<SqlBool>, unixSeconds: number) {
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
      .where(condition)
      .where('api_keys.revoked_at', 'is', null)
      .where((key) =>
        key.or([key('api_keys.expires_at', 'is', null), key('api_keys.expires_at', '>', unixSeconds)]),
      )
      // Null as well for a key without a user.
      .where('users.disabled_at', 'is', null)
  )
}

/** One for each tier among the user's active keys, or one without. */
export interface SessionTierRow {
  readonly id: string
  readonly userId: string
  readonly userTier: Tier
  readonly keyTier: Tier | null
}

/** Values: time, hash, time. */
export function compileSessionQuery(db: ApiDatabase): CompiledQuery<SessionTierRow> {
  const isSession = expressionBuilder<ApiSchema, 'sessions'>()('sessions.secret_hash', '=', '')
  return selectValidSessions(db, isSession, 0).compile()
}

/** The valid ones among the sessions for which a condition holds. */
export function selectValidSessions(db: ApiDatabase, condition: Expression<SqlBool>, unixSeconds: number) {
  return db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .leftJoin('api_keys', (join) =>
      join
        .onRef('api_keys.account_id', '=', 'users.id')
        .on('api_keys.revoked_at', 'is', null)
        .on((key) =>
          key.or([key('api_keys.expires_at', 'is', null), key('api_keys.expires_at', '>', unixSeconds)]),
        ),
    )
    .select([
      'sessions.id',
      'sessions.user_id as userId',
      'users.tier as userTier',
      'api_keys.tier as keyTier',
    ])
    .distinct()
    .where(condition)
    .where('sessions.expires_at', '>', unixSeconds)
    .where('users.disabled_at', 'is', null)
}

/** @param rows all of one session */
export function toValidSession(rows: readonly SessionTierRow[]): ValidSession | null {
  const [session] = rows
  if (session === undefined) return null
  const keyTiers = rows.flatMap(({ keyTier }) => (keyTier === null ? [] : [keyTier]))
  return { id: session.id, userId: session.userId, tiers: [session.userTier, ...keyTiers] }
}
