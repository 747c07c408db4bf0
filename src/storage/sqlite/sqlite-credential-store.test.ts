import { expect, it } from 'vitest'
import { createAccountServices } from '../../../test/support/servers/account-services.ts'
import type { ApiSchema } from '../api-database.ts'
import { SqliteCredentialStore } from './sqlite-credential-store.ts'
import type { SqliteKysely } from './sqlite-driver.ts'

const NOW = 1_700_000_000

it.each([1, 3])(
  'finds each of %i keys that are asked for in one turn, also while a transaction is open',
  async (count) => {
    const { database, keys } = await createAccountServices()
    for (const name of ['one', 'two']) {
      await keys.createFor({ name, tier: 'free', expiresInDays: null, userId: null })
    }
    const rows = await database.selectFrom('api_keys').select(['id', 'secret_hash as hash']).execute()
    const store = new SqliteCredentialStore(database as SqliteKysely<ApiSchema>)
    const asked = [...rows, { id: null, hash: 'unknown' }].slice(0, count)
    const findAll = () => Promise.all(asked.map(({ hash }) => store.findKey(hash, NOW)))
    const expected = asked.map(({ id }) => id)

    expect((await findAll()).map((key) => key?.id ?? null)).toEqual(expected)
    let reading: ReturnType<typeof findAll> = Promise.resolve([])
    await database.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('api_keys').where('id', '=', 'none').execute()
      reading = findAll()
    })
    expect((await reading).map((key) => key?.id ?? null)).toEqual(expected)
  },
)

it('keeps nothing of a key from one turn to the next', async () => {
  const { database, keys } = await createAccountServices()
  await keys.createFor({ name: '', tier: 'free', expiresInDays: null, userId: null })
  const { hash } = await database
    .selectFrom('api_keys')
    .select('secret_hash as hash')
    .executeTakeFirstOrThrow()
  const store = new SqliteCredentialStore(database as SqliteKysely<ApiSchema>)

  expect(await store.findKey(hash, NOW)).toMatchObject({ tier: 'free' })
  await database.updateTable('api_keys').set({ tier: 'pro' }).execute()
  expect(await store.findKey(hash, NOW)).toMatchObject({ tier: 'pro' })
  await database.updateTable('api_keys').set({ revoked_at: NOW }).execute()
  expect(await store.findKey(hash, NOW)).toBeNull()
})
