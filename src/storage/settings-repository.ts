/** Settings: values stored once in each database and never changed. */
import type { ApiDatabase } from './api-database.ts'

/** Returns the value stored under this name; stores `value` when there is none. */
export async function ensureSetting(db: ApiDatabase, name: string, value: string): Promise<string> {
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
