/** When the sums of SQLite are made: with many rows, after all are gone, by another process, and again. */
import { describe, expect, it } from 'vitest'
import {
  SettableClock,
  usageEntry,
  useUsageDatabases,
} from '../../../test/support/servers/usage-databases.ts'
import { SECONDS_PER_DAY } from '../usage-database.ts'
import type { UsageStore } from '../usage-store.ts'

const databases = useUsageDatabases()

const ALL = { scope: 'all', id: '' } as const
const requestsOf = async (store: UsageStore, since: number | null = null) =>
  [...(await store.sumByPath(ALL, since)).values()].reduce((sum, { requests }) => sum + requests, 0)

const entries = (count: number) => Array.from({ length: count }, () => usageEntry())

describe('the sums', () => {
  it('count each row once, however many were written and however often they are read', async () => {
    const { store } = await databases.openSqlite()
    await store.insert(entries(4500))
    expect([await requestsOf(store), await requestsOf(store)]).toEqual([4500, 4500])
    await store.insert(entries(3))
    expect(await requestsOf(store)).toBe(4503)
  })

  it('count the rows of another process, which has read none', async () => {
    const server = await databases.openSqlite()
    const command = await databases.openSqlite()
    await server.store.insert(entries(5))
    expect(await requestsOf(command.store)).toBe(5)
    await server.store.insert(entries(2))
    expect([await requestsOf(command.store), await requestsOf(server.store)]).toEqual([7, 7])
  })

  it('count what was written after all rows had been deleted, whose numbers are used again', async () => {
    const clock = new SettableClock()
    clock.unixSecondsShown = 10 * SECONDS_PER_DAY
    const { store } = await databases.openInMemory(clock)
    await store.insert(entries(8))
    clock.unixSecondsShown += 2 * SECONDS_PER_DAY
    expect(await store.deleteBefore(11 * SECONDS_PER_DAY, 100)).toBe(8)
    expect(await requestsOf(store)).toBe(0)
    await store.insert(entries(3))
    expect(await requestsOf(store)).toBe(3)
  })

  it('are made of rows that a process wrote and did not sum up before it ended', async () => {
    const { store, database } = await databases.openSqlite()
    await store.insert(entries(6))
    await database.destroy()
    const next = await databases.openSqlite()
    expect(await requestsOf(next.store)).toBe(6)
  })
})
