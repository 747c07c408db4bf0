/** What users, keys and teams are called, for reports that know their ids. */
import type { ApiDatabase } from './api-database.ts'

/** Each id is a value of a statement, and there may be only so many. */
const MAX_IDS = 500

interface NamedRow {
  readonly id: string
  readonly name: string
}

/** E-mail addresses by id; an id of no user is left out. */
export async function findEmails(db: ApiDatabase, ids: readonly string[]): Promise<Map<string, string>> {
  return await findInChunks(ids, (chunk) =>
    db.selectFrom('users').select(['id', 'email as name']).where('id', 'in', chunk).execute(),
  )
}

/** Names by id, or the prefix of a key without a name; an id of no key is left out. */
export async function findKeyNames(db: ApiDatabase, ids: readonly string[]): Promise<Map<string, string>> {
  return await findInChunks(ids, async (chunk) => {
    const keys = db.selectFrom('api_keys').select(['id', 'name', 'key_prefix as prefix'])
    const rows = await keys.where('id', 'in', chunk).execute()
    return rows.map(({ id, name, prefix }) => ({ id, name: name === '' ? prefix : name }))
  })
}

export async function findTeamNames(db: ApiDatabase, ids: readonly string[]): Promise<Map<string, string>> {
  return await findInChunks(ids, (chunk) =>
    db.selectFrom('teams').select(['id', 'name']).where('id', 'in', chunk).execute(),
  )
}

async function findInChunks(
  ids: readonly string[],
  find: (chunk: readonly string[]) => Promise<readonly NamedRow[]>,
): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (let start = 0; start < ids.length; start += MAX_IDS) {
    for (const { id, name } of await find(ids.slice(start, start + MAX_IDS))) names.set(id, name)
  }
  return names
}
