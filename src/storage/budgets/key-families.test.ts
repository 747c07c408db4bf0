/** A database of accounts from before it was stored who made a key. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { whenUnused } from '../../../test/support/shared.ts'
import { API_DATABASE, type ApiSchema, openApiDatabase } from '../api-database.ts'
import { findKey } from '../keys-repository.ts'
import { openDatabase } from '../sqlite/open-database.ts'
import { familyOf, findBudgetKeyIds, gatherFamily } from './key-families.ts'

function newFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-families-'))
  whenUnused(() => rmSync(folder, { recursive: true, force: true }))
  return path.join(folder, 'keys.db')
}

/** A key at the top; two that it made, of which one has a budget; what the other one made counts under the top. */
const OLD_KEYS = [
  { id: 'top', daily_token_budget: 100, budget_key_id: null },
  { id: 'budgeted', daily_token_budget: 10, budget_key_id: 'top' },
  { id: 'plain', daily_token_budget: null, budget_key_id: 'top' },
  { id: 'made', daily_token_budget: null, budget_key_id: 'top' },
]

it('keeps what its keys count under, and lets those with a budget make others that count under it', async () => {
  const location = newFile()
  const old = Object.entries(API_DATABASE.migrations).filter(([name]) => name < '0009')
  const before = await openDatabase<ApiSchema>(location, {
    ...API_DATABASE,
    migrations: Object.fromEntries(old),
  })
  const shared = { key_prefix: '', name: '', tier: 'free', account_id: 'top', created_at: 5 } as const
  for (const key of OLD_KEYS)
    await before
      .insertInto('api_keys')
      .values({ ...shared, secret_hash: key.id, ...key })
      .execute()
  await before.destroy()

  const database = await openApiDatabase(location, { isServer: true })
  whenUnused(() => database.destroy())

  const families: Record<string, string> = {}
  for (const { id, budget_key_id: budgetKeyId } of OLD_KEYS) {
    const key = await findKey(database, id)
    expect(key).toMatchObject({ budgetKeyId, makerKeyId: null })
    if (key !== null) families[id] = familyOf(key)
  }
  expect(families).toEqual({ top: 'top', budgeted: 'budgeted', plain: 'top', made: 'top' })
  await gatherFamily(database, 'plain', 6)
  const pieces: (readonly string[])[] = []
  for await (const ids of findBudgetKeyIds(database, 'top', 0)) pieces.push(ids)
  expect(pieces.flat().toSorted()).toEqual(OLD_KEYS.map(({ id }) => id).toSorted())
})
