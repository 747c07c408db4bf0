/** A PostgreSQL that is there and refuses what it is asked. One that is away is in `postgres-credential-store.test.ts`. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { QUIET_LOG } from '../../../test/support/databases/injected-database.ts'
import { createPostgresDatabase, runSql } from '../../../test/support/databases/throw-away-postgres.ts'
import { usageEntry } from '../../../test/support/servers/usage-databases.ts'
import { whenUnused } from '../../../test/support/shared.ts'
import { VirtualClock } from '../../core/clock.ts'
import { API_DATABASE } from '../api-database.ts'
import { askPostgresVersion } from './ask-version.ts'
import { openPostgresAccounts, openPostgresUsage } from './open-stores.ts'
import { openPostgresUsageDatabase } from './postgres-usage-database.ts'
import { PostgresUsageStore } from './postgres-usage-store.ts'
import { UsageFile } from './usage-file.ts'

async function openUsage() {
  const url = await createPostgresDatabase()
  const log = { error: vi.fn(), info: vi.fn() }
  const database = await openPostgresUsageDatabase({ url, log })
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-waiting-'))
  const waiting = await UsageFile.open(path.join(folder, 'waiting-usage.jsonl'))
  const store = new PostgresUsageStore({ database, waiting, clock: new VirtualClock(), log })
  whenUnused(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  return { url, log, database, store, waiting }
}

const RETRIED_AFTER_MS = 5000

/** Makes each row of usage fail with this error. */
const REFUSE = `create function refuse() returns trigger language plpgsql as $$
  begin perform nextval('refusals'); raise exception 'no room' using errcode = '53100'; end $$;
  create sequence refusals; create trigger refuse before insert on usage_rows execute function refuse()`

async function countRefusals(url: string): Promise<number> {
  const [row] = await runSql(url, 'select last_value::int as count from refusals')
  return Number(row?.['count'])
}

describe('a PostgreSQL that takes no rows', () => {
  it('is asked now and then, is in the log once, and has all rows when it takes them again', async () => {
    const { url, log, store, waiting } = await openUsage()
    await runSql(url, REFUSE)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    whenUnused(() => void vi.useRealTimers())

    await store.insert([usageEntry()])
    await store.insert([usageEntry()])
    await expect(store.hourSpan()).rejects.toMatchObject({ code: 'database_unavailable' })
    const asked = await countRefusals(url)
    expect(await countRefusals(url)).toBe(asked)
    expect(log.error.mock.calls).toEqual([
      [{ code: 'database_unavailable' }, 'The database of usage refuses what it is asked: no room.'],
    ])

    await runSql(url, 'drop trigger refuse on usage_rows')
    // The connections have timers of their own.
    await vi.advanceTimersByTimeAsync(RETRIED_AFTER_MS)
    vi.useRealTimers()
    await expect.poll(() => waiting.isEmpty, { timeout: 20_000 }).toBe(true)
    expect(await runSql(url, 'select count(*)::int as count from usage_rows')).toEqual([{ count: 2 }])
    expect(log.info.mock.calls).toEqual([['the database of usage does again what it is asked']])
    await runSql(url, 'drop function refuse; drop sequence refusals')
  })

  it('is not asked for each budget that is read while rows wait for it', async () => {
    const { url, store, waiting } = await openUsage()
    await runSql(url, REFUSE)
    await store.insert([usageEntry()])
    const readBudget = () => store.sumTokens({ scope: 'key', ids: ['key'] }, 0)
    const refused = { code: 'database_unavailable' }
    await expect(store.hourSpan()).rejects.toMatchObject(refused)
    const asked = await countRefusals(url)

    for (let reading = 0; reading < 5; reading++) await expect(readBudget()).rejects.toMatchObject(refused)
    expect(await countRefusals(url)).toBe(asked)

    await runSql(url, 'drop trigger refuse on usage_rows; drop function refuse; drop sequence refusals')
    await store.hourSpan()
    expect(waiting.isEmpty).toBe(true)
    await expect(readBudget()).resolves.toBe(8)
  })

  it('has what waits beside a batch that it refuses for what is in it, which is left out and in the log', async () => {
    const { url, log, store, waiting } = await openUsage()
    for (const tokensIn of [1, 2 ** 31, 2])
      await waiting.append({
        id: randomUUID(),
        createdAtUnixSeconds: 1,
        entries: [usageEntry({ tokensIn, tokensOut: 0 })],
      })

    await expect(store.sumTokens({ scope: 'key', ids: ['key'] }, 0)).resolves.toBe(3)
    expect(waiting.isEmpty).toBe(true)
    expect(log.error).toHaveBeenCalledOnce()
    expect(log.error.mock.calls[0]?.[0]).toMatchObject({
      err: { code: '22003' },
      batch: { entries: [{ tokensIn: 2 ** 31 }] },
    })
    expect(await runSql(url, 'select count(*)::int as count from usage_batches')).toEqual([{ count: 2 }])
  })

  it('is in the log for that although something else took too long before', async () => {
    const { url, log, store, database } = await openUsage()
    await runSql(url, REFUSE)
    const slow = 'set statement_timeout = 20; select pg_sleep(60)'
    for (let asked = 0; asked < 2; asked++)
      await expect(database.pool.queryTwice(slow, [])).rejects.toMatchObject({ code: 'database_unavailable' })

    await store.insert([usageEntry()])

    expect(log.error.mock.calls.map(([, sentence]) => sentence)).toEqual([
      expect.stringContaining('canceling statement due to statement timeout'),
      'The database of usage refuses what it is asked: no room.',
    ])
    await runSql(url, 'drop trigger refuse on usage_rows; drop function refuse; drop sequence refusals')
  })

  it('refuses what is read where it takes too long, asks it once, and says so', async () => {
    const { log, database } = await openUsage()
    const slow = 'select pg_sleep(60)'
    const asked = vi.spyOn(database.pool, 'query')

    const answer = database.pool.queryTwice(`set statement_timeout = 20; ${slow}`, [])
    await expect(answer).rejects.toMatchObject({
      code: 'database_unavailable',
      message: "The server's database of usage takes too long to answer at the moment; try again in 1 s.",
    })
    expect(asked).toHaveBeenCalledOnce()
    expect(log.error).toHaveBeenCalledOnce()
  })
})

it('deletes old usage in pieces, its batches with its rows', async () => {
  const { url, store } = await openUsage()
  for (let batch = 0; batch < 5; batch++) await store.insert([usageEntry()])
  await expect(store.hourSpan()).resolves.not.toBeNull()
  const countLeft = () =>
    runSql(
      url,
      'select (select count(*)::int from usage_rows) as rows, count(*)::int as batches from usage_batches',
    )

  const deleted: [number, unknown][] = []
  for (let piece = 0; piece < 3; piece++)
    deleted.push([await store.deleteBefore(Date.now() / 1000, 2), (await countLeft())[0]])

  expect(deleted).toEqual([
    [2, { rows: 3, batches: 3 }],
    [2, { rows: 1, batches: 1 }],
    [1, { rows: 0, batches: 0 }],
  ])
})

it('is let go when its store is closed, with the file of what waits, although nothing was asked', async () => {
  const url = await createPostgresDatabase()
  const dataDir = mkdtempSync(path.join(tmpdir(), 'sluice-usage-'))
  whenUnused(() => rmSync(dataDir, { recursive: true }))
  const log = { error: vi.fn(), info: vi.fn() }
  const open = () => openPostgresUsage({ url, clock: new VirtualClock(), log, dataDir })
  const connected = `select pid from pg_stat_activity where datname = current_database() and application_name = 'sluice'`

  for (let turn = 0; turn < 2; turn++) {
    const { usage } = await open()
    await usage.hourSpan()
    await usage.close()
    await expect.poll(() => runSql(url, connected), { timeout: 5000 }).toEqual([])
  }
})

it('is asked of which version its tables are, and refused as a start would refuse it', async () => {
  const url = await createPostgresDatabase()
  const ask = () => askPostgresVersion(url, API_DATABASE)
  const newest = Object.keys(API_DATABASE.migrations).toSorted().at(-1)
  expect(await ask()).toEqual({ server: expect.stringMatching(/^\d+\.\d+$/), isOlder: false })
  await runSql(url, `update sluice_migrations set name = '9999-later' where name = '${newest}'`)

  const start = openPostgresAccounts({ url, clock: new VirtualClock(), log: QUIET_LOG, isServer: true })
  const refused: unknown = await start.catch((error: unknown) => error)
  expect(String(refused)).toContain("was written by a newer version of Sluice (it has '9999-later')")
  await expect(ask()).rejects.toEqual(refused)

  await runSql(url, "delete from sluice_migrations where name = '9999-later'")
  expect(await ask()).toMatchObject({ isOlder: true })
  await runSql(url, 'drop table sluice_migrations')
  expect(await ask()).toMatchObject({ isOlder: false })
})
