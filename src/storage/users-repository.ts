/** Registered users. Every function takes the database or a transaction. Callers normalize e-mails (`accounts/email.ts`). */
import { OPERATOR_ACCOUNT_ID, type Role } from '../core/credential.ts'
import type { Tier } from '../core/tiers.ts'
import type { ApiDatabase } from './api-database.ts'
import { listPage, type Page, type PageRequest } from './pages.ts'

export interface StoredUser {
  readonly id: string
  readonly email: string
  readonly emailKey: string
  readonly passwordHash: string
  readonly tier: Tier
  readonly createdAtUnixSeconds: number
  readonly disabledAtUnixSeconds: number | null
  readonly teamId: string | null
  readonly dailyTokenBudget: number | null
  readonly monthlyTokenBudget: number | null
  readonly role: Role
}

type ChangedField =
  | 'tier'
  | 'passwordHash'
  | 'disabledAtUnixSeconds'
  | 'teamId'
  | 'dailyTokenBudget'
  | 'monthlyTokenBudget'
  | 'role'
type UserChanges = { readonly [Field in ChangedField]?: StoredUser[Field] | undefined }

const COLUMNS = [
  'id',
  'email',
  'email_key as emailKey',
  'password_hash as passwordHash',
  'tier',
  'created_at as createdAtUnixSeconds',
  'disabled_at as disabledAtUnixSeconds',
  'team_id as teamId',
  'daily_token_budget as dailyTokenBudget',
  'monthly_token_budget as monthlyTokenBudget',
  'role',
] as const

/** @throws the database's unique violation when the e-mail is taken. */
export async function insertUser(db: ApiDatabase, user: StoredUser): Promise<void> {
  await db
    .insertInto('users')
    .values({
      id: user.id,
      email: user.email,
      email_key: user.emailKey,
      password_hash: user.passwordHash,
      tier: user.tier,
      created_at: user.createdAtUnixSeconds,
      disabled_at: user.disabledAtUnixSeconds,
      team_id: user.teamId,
      daily_token_budget: user.dailyTokenBudget,
      monthly_token_budget: user.monthlyTokenBudget,
      role: user.role,
    })
    .execute()
}

export async function hasActiveUserOfTier(db: ApiDatabase, tier: Tier): Promise<boolean> {
  const users = db.selectFrom('users').select('id').where('tier', '=', tier).where('disabled_at', 'is', null)
  return (await users.limit(1).executeTakeFirst()) !== undefined
}

export async function findUser(db: ApiDatabase, id: string): Promise<StoredUser | null> {
  const user = await db.selectFrom('users').select(COLUMNS).where('id', '=', id).executeTakeFirst()
  return user ?? null
}

export async function findUserByEmailKey(db: ApiDatabase, emailKey: string): Promise<StoredUser | null> {
  const query = db.selectFrom('users').select(COLUMNS).where('email_key', '=', emailKey)
  return (await query.executeTakeFirst()) ?? null
}

export async function listUsers(db: ApiDatabase, page: PageRequest): Promise<Page<StoredUser>> {
  return await listPage(db.selectFrom('users').select(COLUMNS), page)
}

export async function updateUser(db: ApiDatabase, id: string, changes: UserChanges): Promise<void> {
  const values = {
    tier: changes.tier,
    password_hash: changes.passwordHash,
    disabled_at: changes.disabledAtUnixSeconds,
    team_id: changes.teamId,
    daily_token_budget: changes.dailyTokenBudget,
    monthly_token_budget: changes.monthlyTokenBudget,
    role: changes.role,
  }
  if (Object.values(values).every((value) => value === undefined)) return
  await db.updateTable('users').set(values).where('id', '=', id).execute()
}

/** Deletes the user's keys and sessions as well. False when there is no such user. */
export async function deleteUser(db: ApiDatabase, id: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('users').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** Admins who are not disabled. */
export function selectActiveAdmins(db: ApiDatabase) {
  return db.selectFrom('users').select('id').where('role', '=', 'admin').where('disabled_at', 'is', null)
}

/** Whether there is an admin who is not disabled, `exceptId` left out. */
export async function hasActiveAdmin(db: ApiDatabase, exceptId: string | null = null): Promise<boolean> {
  const all = selectActiveAdmins(db)
  const admins = exceptId === null ? all : all.where('id', '<>', exceptId)
  return (await admins.limit(1).executeTakeFirst()) !== undefined
}

/** Whether there is a user, or an active key that is an account of its own; the operator's keys do not count. */
export async function hasAnyAccount(db: ApiDatabase, unixSeconds: number): Promise<boolean> {
  const user = await db.selectFrom('users').select('id').limit(1).executeTakeFirst()
  if (user !== undefined) return true
  const key = await db
    .selectFrom('api_keys')
    .select('id')
    .where('user_id', 'is', null)
    .where('account_id', '<>', OPERATOR_ACCOUNT_ID)
    .where('revoked_at', 'is', null)
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', unixSeconds)]))
    .limit(1)
    .executeTakeFirst()
  return key !== undefined
}
