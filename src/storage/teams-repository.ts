/** Teams. Every function takes the database or a transaction. Their users and keys name them; deleting one lets those go. */
import type { ApiDatabase } from './api-database.ts'
import { listPage, type Page, type PageRequest } from './pages.ts'

export interface StoredTeam {
  readonly id: string
  readonly name: string
  /** Null is no bound, here and below. */
  readonly dailyTokenBudget: number | null
  readonly monthlyTokenBudget: number | null
  readonly createdAtUnixSeconds: number
}

type ChangedField = 'name' | 'dailyTokenBudget' | 'monthlyTokenBudget'
type TeamChanges = { readonly [Field in ChangedField]?: StoredTeam[Field] | undefined }

const COLUMNS = [
  'id',
  'name',
  'daily_token_budget as dailyTokenBudget',
  'monthly_token_budget as monthlyTokenBudget',
  'created_at as createdAtUnixSeconds',
] as const

/** @throws the database's unique violation when the name is taken. */
export async function insertTeam(db: ApiDatabase, team: StoredTeam): Promise<void> {
  await db
    .insertInto('teams')
    .values({
      id: team.id,
      name: team.name,
      daily_token_budget: team.dailyTokenBudget,
      monthly_token_budget: team.monthlyTokenBudget,
      created_at: team.createdAtUnixSeconds,
    })
    .execute()
}

export async function findTeam(db: ApiDatabase, id: string): Promise<StoredTeam | null> {
  const team = await db.selectFrom('teams').select(COLUMNS).where('id', '=', id).executeTakeFirst()
  return team ?? null
}

export async function listTeams(db: ApiDatabase, page: PageRequest): Promise<Page<StoredTeam>> {
  return await listPage(db.selectFrom('teams').select(COLUMNS), page)
}

/** @throws the database's unique violation when the name is taken. */
export async function updateTeam(db: ApiDatabase, id: string, changes: TeamChanges): Promise<void> {
  const values = {
    name: changes.name,
    daily_token_budget: changes.dailyTokenBudget,
    monthly_token_budget: changes.monthlyTokenBudget,
  }
  if (Object.values(values).every((value) => value === undefined)) return
  await db.updateTable('teams').set(values).where('id', '=', id).execute()
}

/** False when there is no such team. */
export async function deleteTeam(db: ApiDatabase, id: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('teams').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}
