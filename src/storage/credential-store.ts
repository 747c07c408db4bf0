/**
 * The look-up that every request makes in the accounts database: the credential behind a secret. Owns what counts as valid,
 * as the queries of keys and sessions below: revoked, expired and deleted credentials and those of disabled users are not found. What is changed
 * through this process holds from the next request on; what an implementation keeps of an answer is its own matter.
 */
import { type CompiledQuery, type Expression, expressionBuilder, type SqlBool } from 'kysely'
import type { Role, TokenBudget } from '../core/credential.ts'
import type { Tier } from '../core/tiers.ts'
import type { ApiDatabase, ApiSchema } from './api-database.ts'

export interface ValidKey {
  readonly id: string
  readonly accountId: string
  readonly userId: string | null
  readonly tier: Tier
  readonly customRateLimitRpm: number | null
  readonly teamId: string | null
  readonly budgets: readonly TokenBudget[]
}

export interface ValidSession {
  readonly id: string
  readonly userId: string
  readonly email: string
  readonly role: Role
  readonly expiresAtUnixSeconds: number
  readonly teamId: string | null
  readonly budgets: readonly TokenBudget[]
  /** The user's own and those of its active keys; never empty. */
  readonly tiers: readonly Tier[]
}

/** Null for a hash that belongs to nothing valid at this moment; rejects when the database cannot be read. */
export interface CredentialStore {
  findKey(secretHash: string, unixSeconds: number): Promise<ValidKey | null>
  findSession(secretHash: string, unixSeconds: number): Promise<ValidSession | null>
}

/** Of an instance whose worker processes change credentials through connections of their own. */
export interface InstanceCredentials extends CredentialStore {
  /** Called before whoever made the change goes on, with its values. */
  forgetAny(changed: readonly unknown[]): Promise<void> | void
}

/** What a credential's tokens count under; null where there is no bound, or no such subject. */
interface BudgetColumns {
  readonly teamId: string | null
  readonly userDaily: number | null
  readonly userMonthly: number | null
  readonly teamDaily: number | null
  readonly teamMonthly: number | null
}

export interface KeyRow extends Omit<ValidKey, 'budgets'>, BudgetColumns {
  readonly keyDaily: number | null
  readonly keyMonthly: number | null
  /** The key under whose budgets this one counts too. */
  readonly budgetKeyId: string | null
  readonly makerDaily: number | null
  readonly makerMonthly: number | null
  /** The key under whose budgets that one counts; null for most. */
  readonly aboveKeyId: string | null
}

/** A key whose budgets bind others. */
export interface MakerRow {
  readonly id: string
  readonly daily: number | null
  readonly monthly: number | null
  readonly aboveKeyId: string | null
}

/** Values: hash, time. */
export function compileKeyQuery(db: ApiDatabase): CompiledQuery<KeyRow> {
  const isKey = expressionBuilder<ApiSchema, 'api_keys'>()('api_keys.secret_hash', '=', '')
  return selectValidKeys(db, isKey, 0).compile()
}

const SHARED_BUDGETS = [
  'teams.id as teamId',
  'users.daily_token_budget as userDaily',
  'users.monthly_token_budget as userMonthly',
  'teams.daily_token_budget as teamDaily',
  'teams.monthly_token_budget as teamMonthly',
] as const

/** Value: the id of the first. */
export function compileMakersQuery(db: ApiDatabase): CompiledQuery<MakerRow> {
  return selectMakers(db, expressionBuilder<ApiSchema, 'api_keys'>()('api_keys.id', '=', '')).compile()
}

/** The keys for which a condition holds, and those under whose budgets they count: one row for each that has, or had, budgets. */
export function selectMakers(db: ApiDatabase, condition: Expression<SqlBool>) {
  const columns = [
    'api_keys.id',
    'api_keys.daily_token_budget as daily',
    'api_keys.monthly_token_budget as monthly',
    'api_keys.budget_key_id as aboveKeyId',
  ] as const
  return db
    .withRecursive('makers', (makers) =>
      makers
        .selectFrom('api_keys')
        .select(columns)
        .where(condition)
        // Each row once, so that it ends whatever the rows name.
        .union(
          makers
            .selectFrom('api_keys')
            .innerJoin('makers', 'makers.aboveKeyId', 'api_keys.id')
            .select(columns),
        ),
    )
    .selectFrom('makers')
    .selectAll()
}

/** @param makers the row's `aboveKeyId` and those above it, by id; others may be among them */
export function toValidKey(row: KeyRow, makers: ReadonlyMap<string, MakerRow> = NO_MAKERS): ValidKey {
  const { id, accountId, userId, tier, customRateLimitRpm, teamId, budgetKeyId } = row
  const budgets = [
    ...budgetsOf({ scope: 'key', id }, row.keyDaily, row.keyMonthly),
    ...budgetsOf({ scope: 'key', id: budgetKeyId }, row.makerDaily, row.makerMonthly),
    ...aboveBudgets(row, makers),
    ...sharedBudgets(row, userId),
  ]
  return { id, accountId, userId, tier, customRateLimitRpm, teamId, budgets }
}

const NO_MAKERS: ReadonlyMap<string, MakerRow> = new Map()

/** The nearest first. */
function aboveBudgets(
  { id, budgetKeyId, aboveKeyId }: KeyRow,
  makers: ReadonlyMap<string, MakerRow>,
): readonly TokenBudget[] {
  const budgets: TokenBudget[] = []
  const seen = new Set([id, budgetKeyId])
  let maker = makers.get(aboveKeyId ?? '')
  while (maker !== undefined && !seen.has(maker.id)) {
    seen.add(maker.id)
    budgets.push(...budgetsOf({ scope: 'key', id: maker.id }, maker.daily, maker.monthly))
    maker = makers.get(maker.aboveKeyId ?? '')
  }
  return budgets
}

function sharedBudgets(row: BudgetColumns, userId: string | null): readonly TokenBudget[] {
  return [
    ...budgetsOf({ scope: 'account', id: userId }, row.userDaily, row.userMonthly),
    ...budgetsOf({ scope: 'team', id: row.teamId }, row.teamDaily, row.teamMonthly),
  ]
}

interface BudgetSubject {
  readonly scope: TokenBudget['scope']
  readonly id: string | null
}

function budgetsOf(
  { scope, id }: BudgetSubject,
  daily: number | null,
  monthly: number | null,
): readonly TokenBudget[] {
  if (id === null) return []
  return [
    ...(daily === null ? [] : [{ scope, id, period: 'day', maxTokens: daily } as const]),
    ...(monthly === null ? [] : [{ scope, id, period: 'month', maxTokens: monthly } as const]),
  ]
}

/** The valid ones among the keys for which a condition holds. */
export function selectValidKeys(db: ApiDatabase, condition: Expression<SqlBool>, unixSeconds: number) {
  return (
    db
      .selectFrom('api_keys')
      .leftJoin('users', 'users.id', 'api_keys.user_id')
      .leftJoin('teams', (join) =>
        join.on((eb) => eb('teams.id', '=', eb.fn.coalesce('api_keys.team_id', 'users.team_id'))),
      )
      .leftJoin('api_keys as makers', 'makers.id', 'api_keys.budget_key_id')
      .select([
        'api_keys.id',
        'api_keys.account_id as accountId',
        'api_keys.user_id as userId',
        'api_keys.tier',
        'api_keys.custom_rate_limit_rpm as customRateLimitRpm',
        'api_keys.daily_token_budget as keyDaily',
        'api_keys.monthly_token_budget as keyMonthly',
        'api_keys.budget_key_id as budgetKeyId',
        'makers.daily_token_budget as makerDaily',
        'makers.monthly_token_budget as makerMonthly',
        'makers.budget_key_id as aboveKeyId',
        ...SHARED_BUDGETS,
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
export interface SessionTierRow extends BudgetColumns {
  readonly id: string
  readonly userId: string
  readonly email: string
  readonly role: Role
  readonly expiresAtUnixSeconds: number
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
    .leftJoin('teams', 'teams.id', 'users.team_id')
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
      'sessions.expires_at as expiresAtUnixSeconds',
      'users.email',
      'users.role',
      'users.tier as userTier',
      'api_keys.tier as keyTier',
      ...SHARED_BUDGETS,
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
  const { id, userId, email, role, expiresAtUnixSeconds, teamId, userTier } = session
  const tiers = [userTier, ...keyTiers]
  return {
    id,
    userId,
    email,
    role,
    expiresAtUnixSeconds,
    teamId,
    budgets: sharedBudgets(session, userId),
    tiers,
  }
}
