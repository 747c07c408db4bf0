import { describe, expect, it } from 'vitest'
import { usageEntry, useUsageDatabases } from '../../../test/support/servers/usage-databases.ts'
import { runReads, runTransaction } from './compiled-query.ts'
import type { UsageDatabase } from '../usage-database.ts'

const databases = useUsageDatabases()

const countRows = async (database: UsageDatabase): Promise<number> => {
  const { count } = await database
    .selectFrom('usage_rows')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

describe('runTransaction', () => {
  it('waits for a transaction that is open on the connection, and is no part of it', async () => {
    const { database, repository } = await databases.openFile()
    const failing = database.transaction().execute(async (transaction) => {
      const inserting = repository.insert([usageEntry()])
      await transaction.deleteFrom('usage_totals').execute()
      // Not awaited in here: it can begin only after this has ended.
      inserting.catch(() => {})
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    await repository.insert([usageEntry()])
    expect(await countRows(database)).toBe(2)
  })

  it('leaves nothing behind when one of its statements fails, and the next one works', async () => {
    const { database, repository } = await databases.openFile()
    const insert = database
      .insertInto('usage_settings' as 'usage_rows')
      .values({ key_id: 'k' } as never)
      .compile()
    const clear = database.deleteFrom('usage_rows').compile()
    await repository.insert([usageEntry()])

    const statements = () => [clear, insert].map((query) => ({ query, values: query.parameters }))
    await expect(runTransaction(database, statements)).rejects.toThrow('no such table')

    expect(await countRows(database)).toBe(1)
    await repository.insert([usageEntry()])
    expect(await countRows(database)).toBe(2)
  })
})

describe('runReads', () => {
  it.each([1, 3])(
    'gives for each of %i statements what it reads, also while a transaction is open',
    async (count) => {
      const { database, repository } = await databases.openFile()
      await repository.insert([usageEntry({ keyId: 'key-0' }), usageEntry({ keyId: 'key-1' })])
      const query = database.selectFrom('usage_rows').select('key_id').where('key_id', '=', '').compile()
      const statements = Array.from({ length: count }, (_, index) => ({ query, values: [`key-${index}`] }))
      const expected = [[{ key_id: 'key-0' }], [{ key_id: 'key-1' }], []].slice(0, count)

      expect(await runReads(database, statements)).toEqual(expected)
      let reading: unknown = null
      await database.transaction().execute(async (transaction) => {
        await transaction.deleteFrom('usage_rows').where('key_id', '=', 'none').execute()
        reading = runReads(database, statements)
      })
      expect(await reading).toEqual(expected)
    },
  )
})
