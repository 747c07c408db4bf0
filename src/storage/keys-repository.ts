/**
 * API keys. Every function takes the database or a transaction. A key is active while it is neither revoked nor
 * expired. A row is deleted only with its user, so a revoked key stays listed.
 */
import { sql } from 'kysely'
import { ownTurn } from '../core/concurrency/turns.ts'
import type { Tier } from '../core/tiers.ts'
import { type ApiDatabase, KEY_END } from './api-database.ts'
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
  /** The key under whose budgets this one counts too; null for none. */
  readonly budgetKeyId: string | null
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
  'budget_key_id as budgetKeyId',
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
      budget_key_id: key.budgetKeyId,
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

/** Read in one turn of the event loop, which takes a few milliseconds with what is then asked of each. */
const IDS_PER_TURN = 500

/** So long a request may still run, and then be billed, when its key has ended. */
const LAST_REQUEST_SECONDS = 24 * 60 * 60

/**
 * The key, and then those that count under its budgets and may have spent something since a moment: any number, though without those
 * that had ended before.
 */
export async function* findBudgetKeyIds(
  db: ApiDatabase,
  keyId: string,
  sinceUnixSeconds: number,
): AsyncGenerator<readonly string[]> {
  yield [keyId]
  const family = db
    .selectFrom('api_keys')
    .select(['id', KEY_END.as('end')])
    .where('budget_key_id', '=', keyId)
    .orderBy(KEY_END)
    .orderBy('id')
    .limit(IDS_PER_TURN)
  const lasting = family.where(KEY_END, 'is', null)
  const earliest = sinceUnixSeconds - LAST_REQUEST_SECONDS
  yield* inPieces(({ id }) => lasting.where('id', '>', id), { end: null, id: '' })
  yield* inPieces(
    ({ end, id }) =>
      // The first bound alone is one that an index takes.
      family.where(KEY_END, '>=', end).where((row) => row.or([row(KEY_END, '>', end), row('id', '>', id)])),
    { end: earliest, id: '' },
  )
}

interface EndedKey {
  readonly id: string
  readonly end: number | null
}

/** @param after the query of the keys that come behind one */
async function* inPieces(
  after: (last: EndedKey) => { execute(): Promise<readonly EndedKey[]> },
  first: EndedKey,
): AsyncGenerator<readonly string[]> {
  let last: EndedKey | undefined = first
  while (last !== undefined) {
    const keys: readonly EndedKey[] = await after(last).execute()
    if (keys.length > 0) yield keys.map(({ id }) => id)
    last = keys[IDS_PER_TURN - 1]
    if (last !== undefined) await ownTurn()
  }
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
