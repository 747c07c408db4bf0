/**
 * API keys. Every function takes the database or a transaction. A key is active while it is neither revoked nor
 * expired. A row is deleted only with its user, so a revoked key stays listed.
 */
import { sql } from 'kysely'
import type { Tier } from '../core/tiers.ts'
import type { ApiDatabase } from './api-database.ts'
import { listPage, type Page, type PageRequest } from './pages.ts'

export interface StoredKey {
  readonly id: string
  readonly keyPrefix: string
  readonly name: string
  readonly tier: Tier
  readonly customRateLimitRpm: number | null
  readonly accountId: string
  /** Null for a key without a user. */
  readonly userId: string | null
  readonly createdAtUnixSeconds: number
  /** Null never expires. */
  readonly expiresAtUnixSeconds: number | null
  readonly revokedAtUnixSeconds: number | null
  /** Null when it was never used; some seconds late. */
  readonly lastUsedAtUnixSeconds: number | null
  /** In place of the user's. */
  readonly teamId: string | null
  readonly dailyTokenBudget: number | null
  readonly monthlyTokenBudget: number | null
  /** The key that made this one; null where none did, and where it was made before this was stored. */
  readonly makerKeyId: string | null
  /** The nearest key above under whose budgets this one counts too, as `budgets/key-families.ts` has it; null for none. */
  readonly budgetKeyId: string | null
  /** When it got its first budget, of a key that a key made; null for never. */
  readonly budgetedAtUnixSeconds: number | null
}

type ChangedField =
  | 'name'
  | 'tier'
  | 'customRateLimitRpm'
  | 'expiresAtUnixSeconds'
  | 'teamId'
  | 'dailyTokenBudget'
  | 'monthlyTokenBudget'
type KeyChanges = { readonly [Field in ChangedField]?: StoredKey[Field] | undefined }

const COLUMNS = [
  'id',
  'key_prefix as keyPrefix',
  'name',
  'tier',
  'custom_rate_limit_rpm as customRateLimitRpm',
  'account_id as accountId',
  'user_id as userId',
  'created_at as createdAtUnixSeconds',
  'expires_at as expiresAtUnixSeconds',
  'revoked_at as revokedAtUnixSeconds',
  'last_used_at as lastUsedAtUnixSeconds',
  'team_id as teamId',
  'daily_token_budget as dailyTokenBudget',
  'monthly_token_budget as monthlyTokenBudget',
  'maker_key_id as makerKeyId',
  'budget_key_id as budgetKeyId',
  'budgeted_at as budgetedAtUnixSeconds',
] as const

export async function insertKey(db: ApiDatabase, key: StoredKey, secretHash: string): Promise<void> {
  await db
    .insertInto('api_keys')
    .values({
      id: key.id,
      secret_hash: secretHash,
      key_prefix: key.keyPrefix,
      name: key.name,
      tier: key.tier,
      custom_rate_limit_rpm: key.customRateLimitRpm,
      account_id: key.accountId,
      user_id: key.userId,
      created_at: key.createdAtUnixSeconds,
      expires_at: key.expiresAtUnixSeconds,
      revoked_at: key.revokedAtUnixSeconds,
      last_used_at: key.lastUsedAtUnixSeconds,
      team_id: key.teamId,
      daily_token_budget: key.dailyTokenBudget,
      monthly_token_budget: key.monthlyTokenBudget,
      maker_key_id: key.makerKeyId,
      budget_key_id: key.budgetKeyId,
      budgeted_at: key.budgetedAtUnixSeconds,
    })
    .execute()
}

export async function findKey(db: ApiDatabase, id: string): Promise<StoredKey | null> {
  const key = await db.selectFrom('api_keys').select(COLUMNS).where('id', '=', id).executeTakeFirst()
  return key ?? null
}

/** The account's active keys; few, because their number is limited. */
export async function findActiveKeys(
  db: ApiDatabase,
  accountId: string,
  unixSeconds: number,
): Promise<readonly Pick<StoredKey, 'id' | 'tier'>[]> {
  return await db
    .selectFrom('api_keys')
    .select(['id', 'tier'])
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .where((key) => key.or([key('expires_at', 'is', null), key('expires_at', '>', unixSeconds)]))
    .execute()
}

/** Whether there is, or was, a key of the account. */
export async function hasKeysOf(db: ApiDatabase, accountId: string): Promise<boolean> {
  const keys = db.selectFrom('api_keys').select('id').where('account_id', '=', accountId)
  return (await keys.limit(1).executeTakeFirst()) !== undefined
}

/** Whether there is an active key of this tier whose user, if it has one, is not disabled. */
export async function hasActiveKeyOfTier(db: ApiDatabase, tier: Tier, unixSeconds: number): Promise<boolean> {
  const key = await db
    .selectFrom('api_keys')
    .leftJoin('users', 'users.id', 'api_keys.user_id')
    .select('api_keys.id')
    .where('api_keys.tier', '=', tier)
    .where('revoked_at', 'is', null)
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', unixSeconds)]))
    .where('users.disabled_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return key !== undefined
}

/** Lists the keys of one account, or all when `accountId` is null. */
export async function listKeys(
  db: ApiDatabase,
  accountId: string | null,
  page: PageRequest,
): Promise<Page<StoredKey>> {
  const keys = db.selectFrom('api_keys').select(COLUMNS)
  return await listPage(accountId === null ? keys : keys.where('account_id', '=', accountId), page)
}

export async function updateKey(db: ApiDatabase, id: string, changes: KeyChanges): Promise<void> {
  const values = {
    name: changes.name,
    tier: changes.tier,
    custom_rate_limit_rpm: changes.customRateLimitRpm,
    expires_at: changes.expiresAtUnixSeconds,
    team_id: changes.teamId,
    daily_token_budget: changes.dailyTokenBudget,
    monthly_token_budget: changes.monthlyTokenBudget,
  }
  if (Object.values(values).every((value) => value === undefined)) return
  await db.updateTable('api_keys').set(values).where('id', '=', id).execute()
}

/** Of all keys of an account but the revoked ones. */
export async function updateTierOfKeys(db: ApiDatabase, accountId: string, tier: Tier): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ tier })
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .execute()
}

const USES_PER_STATEMENT = 100

/**
 * Ids of keys with Unix seconds; an earlier time than the stored one changes nothing. In the order of ids, in which PostgreSQL
 * locks the rows that it looks up one by one: processes that write at once would wait for each other in a circle otherwise.
 */
export async function updateLastUses(
  db: ApiDatabase,
  uses: readonly (readonly [id: string, unixSeconds: number])[],
): Promise<void> {
  const inOrder = uses.toSorted(([one], [other]) => (one < other ? -1 : 1))
  for (let start = 0; start < inOrder.length; start += USES_PER_STATEMENT) {
    const rows = inOrder
      .slice(start, start + USES_PER_STATEMENT)
      .map(([id, at]) => sql`(cast(${id} as text), cast(${at} as double precision))`)
    // Both databases call the columns of values so. From a union PostgreSQL would lose those of rows that it had to wait for.
    await sql`
      update api_keys set last_used_at = used.column2 from (values ${sql.join(rows)}) as used
      where api_keys.id = used.column1 and (last_used_at is null or last_used_at < used.column2)`.execute(db)
  }
}

/**
 * Returns the id of the key's account; null when there is no such key, or it is revoked already.
 * @param accountId null revokes a key of any account
 */
export async function revokeKey(
  db: ApiDatabase,
  { id, accountId, unixSeconds }: { id: string; accountId: string | null; unixSeconds: number },
): Promise<string | null> {
  let query = db
    .updateTable('api_keys')
    .set({ revoked_at: unixSeconds })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('account_id')
  if (accountId !== null) query = query.where('account_id', '=', accountId)
  return (await query.executeTakeFirst())?.account_id ?? null
}
