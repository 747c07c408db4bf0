/** Values that a database is given once and keeps. */
import type { ApiDatabase } from './api-database.ts'

/** What stands under this name; `value` when nothing did, from now on. */
export async function keepSetting(db: ApiDatabase, name: string, value: string): Promise<string> {
  await db
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const kept = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return kept.value
}
