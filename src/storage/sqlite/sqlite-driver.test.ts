import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { countRows, usageEntry, useUsageDatabases } from '../../../test/support/servers/usage-databases.ts'
import { SqliteConnection } from './sqlite-driver.ts'

const databases = useUsageDatabases()

it.each([
  ['insert into a values (1)', true],
  ['insert into a values (1) returning x', true],
  ['update a set x = 2 returning x', true],
  ['delete from a returning x', true],
  ['select x from a', false],
])('asks before a change, whether it gives rows or not: %s', (sql, isRefused) => {
  const database = new DatabaseSync(':memory:')
  database.exec('create table a (x)')
  const connection = new SqliteConnection(database, () => {
    throw new Error('the file is gone')
  })

  if (isRefused) expect(() => connection.run(sql, [])).toThrow('the file is gone')
  else expect(connection.run(sql, []).rows).toEqual([])
  expect(database.prepare('select count(*) as rows from a').get()).toEqual({ rows: 0 })
  database.close()
})

describe('a transaction past the query builder', () => {
  it('waits for one that is open on the connection, and is no part of it', async () => {
    const { database, store } = await databases.openSqlite()
    const failing = database.transaction().execute(async (transaction) => {
      const inserting = store.insert([usageEntry()])
      await transaction.deleteFrom('usage_totals').execute()
      // Not awaited in here: it can begin only after this has ended.
      inserting.catch(() => {})
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    await store.insert([usageEntry()])
    expect(await countRows(database)).toBe(2)
  })

  it('leaves nothing behind when one of its statements fails, and the next one works', async () => {
    const { database, store } = await databases.openSqlite()
    await store.insert([usageEntry()])

    const failing = database.driver.transact('write', (connection) => {
      connection.run('delete from usage_rows', [])
      connection.run('insert into usage_settings values (1)', [])
    })
    await expect(failing).rejects.toThrow('no such table')

    expect(await countRows(database)).toBe(1)
    await store.insert([usageEntry()])
    expect(await countRows(database)).toBe(2)
  })

  it('says of a full disk what it is, keeps nothing of it, and goes on once there is room', async () => {
    const { database, store } = await databases.openSqlite()
    await store.insert([usageEntry()])
    const limit = (pages: number) =>
      database.driver.run((connection) => connection.run(`pragma max_page_count = ${pages}`, []))
    await limit(1)
    const many = Array.from({ length: 2000 }, () => usageEntry())

    await expect(store.insert(many)).rejects.toMatchObject({
      code: 'storage_full',
      message: expect.stringContaining('the disk is full'),
    })
    expect(await countRows(database)).toBe(1)

    await limit(1_000_000)
    await store.insert(many)
    expect(await countRows(database)).toBe(2001)
  })

  it('reads one state of the database, whatever others write', async () => {
    const { database, store } = await databases.openSqlite()
    await store.insert([usageEntry()])
    const [{ file } = { file: '' }] = await database.driver.run(
      (connection) => connection.run<{ file: string }>('pragma database_list', []).rows,
    )
    const writer = new DatabaseSync(file)
    const count = 'select count(*) as count from usage_rows'

    const counts = await database.driver.transact('read', (connection) => {
      const before = connection.run(count, []).rows
      writer.exec('delete from usage_rows')
      return [before, connection.run(count, []).rows]
    })
    writer.close()

    expect(counts).toEqual([[{ count: 1 }], [{ count: 1 }]])
    expect(await countRows(database)).toBe(0)
  })
})
