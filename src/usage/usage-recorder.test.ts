import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { countRows, usageEntry, useUsageDatabases } from '../../test/support/servers/usage-databases.ts'
import { isPostgres } from '../../test/support/databases/injected-database.ts'
import { VirtualClock } from '../core/clock.ts'
import type { UsageDatabase } from '../storage/usage-database.ts'
import { UsageRecorder } from './usage-recorder.ts'
import { UsageReports } from './usage-reports.ts'

const databases = useUsageDatabases()

/** Moves on by a second with each look: rows of one transaction share a look. */
class LookCountingClock extends VirtualClock {
  override unixSeconds(): number {
    this.advance(1000)
    return super.unixSeconds()
  }
}

async function transactionSizes(database: UsageDatabase): Promise<readonly number[]> {
  const rows = await database
    .selectFrom('usage_rows')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .groupBy('created_at')
    .orderBy('created_at')
    .execute()
  return rows.map(({ count }) => count)
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Leaves no room for a row with a long path, or gives room again. */
async function limitPaths(database: UsageDatabase, hasRoom: boolean): Promise<void> {
  const inPostgres = hasRoom
    ? 'drop constraint short_path'
    : 'add constraint short_path check (length(path) < 1000)'
  const inSqlite = `pragma max_page_count = ${hasRoom ? 1_000_000 : 1}`
  await sql.raw(isPostgres() ? `alter table usage_rows ${inPostgres}` : inSqlite).execute(database)
}

/** What an entry that finds no room is rejected with. */
const noRoom = () => (isPostgres() ? /violates check constraint "short_path"/ : /the disk is full/)

/** No other process writes until the function that this gives is called. */
async function holdDatabase(database: UsageDatabase): Promise<() => Promise<void>> {
  let end = (): void => {}
  const ending = new Promise<void>((resolve) => (end = resolve))
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const holding = database.transaction().execute(async (transaction) => {
    if (isPostgres()) await sql`lock table usage_rows in exclusive mode`.execute(transaction)
    begin()
    await ending
  })
  await begun
  return async () => {
    end()
    await holding
  }
}

/** Too long for the room there is. */
const LONG_PATH = '/'.repeat(100_000)

describe('UsageRecorder', () => {
  it('has a row with all it was told when it resolves', async () => {
    const { database, store } = await databases.openFile(new VirtualClock(1_700_000_000.25))

    await new UsageRecorder(store).record(
      usageEntry({ responseMs: 12.3456, status: 499, teamId: 'team', model: 'org/model' }),
    )

    expect(await database.selectFrom('usage_rows').selectAll().execute()).toEqual([
      {
        id: 1,
        key_id: 'key',
        account_id: 'account',
        team_id: 'team',
        model: 'org/model',
        path: '/v1/generate',
        status: 499,
        tokens_in: 3,
        tokens_out: 5,
        response_us: 12_346,
        created_at: 1_700_000_000.25,
      },
    ])
  })

  it('writes what comes in one turn of the event loop in one transaction', async () => {
    const { database, store } = await databases.openInMemory(new LookCountingClock())
    const recorder = new UsageRecorder(store)

    const first = [recorder.record(usageEntry()), recorder.record(usageEntry())]
    await Promise.resolve()
    first.push(recorder.record(usageEntry()))
    await Promise.all(first)
    await recorder.record(usageEntry())

    expect(await transactionSizes(database)).toEqual([3, 1])
  })

  it('sums up any number of entries of a turn', async () => {
    const { store } = await databases.openInMemory()
    const recorder = new UsageRecorder(store)
    const keyIds = Array.from({ length: 101 }, (_, number) => `key-${number % 37}`)

    await Promise.all(keyIds.map((keyId) => recorder.record(usageEntry({ keyId }))))

    const reports = new UsageReports(store)
    expect(await reports.total(null)).toMatchObject({ requests: 101, tokensIn: 303, tokensOut: 505 })
    expect(await reports.ofAccount('account', null)).toMatchObject({ requests: 101 })
    expect(await reports.ofKey('key-1', null)).toMatchObject({ requests: 3, avgResponseMs: 1.5 })
    expect(await reports.ofKey('key-36', null)).toMatchObject({ requests: 2 })
  })

  it('rejects all of a turn that could not be committed, keeps nothing of it, and goes on', async () => {
    const { database, store } = await databases.openFile()
    const recorder = new UsageRecorder(store)
    await recorder.record(usageEntry({ keyId: 'before' }))

    await limitPaths(database, false)
    const turn = [recorder.record(usageEntry()), recorder.record(usageEntry({ path: LONG_PATH }))]
    const outcomes = await Promise.allSettled(turn)
    await limitPaths(database, true)

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(outcomes[0]).toMatchObject({ reason: { message: expect.stringMatching(noRoom()) } })
    await recorder.record(usageEntry({ keyId: 'after' }))
    const keys = await database.selectFrom('usage_rows').select('key_id').orderBy('id').execute()
    expect(keys).toEqual([{ key_id: 'before' }, { key_id: 'after' }])
    expect((await new UsageReports(store).total(null)).requests).toBe(2)
  })

  it('rejects nothing of the turns before and after one that fails', async () => {
    const { database, store } = await databases.openFile()
    const recorder = new UsageRecorder(store)
    await limitPaths(database, false)

    const outcomes: PromiseSettledResult<void>[] = []
    for (const path of ['/short', LONG_PATH, '/short']) {
      outcomes.push(...(await Promise.allSettled([recorder.record(usageEntry({ path }))])))
    }

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await countRows(database)).toBe(2)
  })

  it('takes entries while others are being written', async () => {
    const { database, store } = await databases.openInMemory(new LookCountingClock())
    const recorder = new UsageRecorder(store)
    const release = await holdDatabase(database)

    const first = recorder.record(usageEntry())
    await nextTurn()
    await nextTurn()
    const later = [recorder.record(usageEntry()), recorder.record(usageEntry())]
    await Promise.all([release(), first, ...later])

    expect(await transactionSizes(database)).toEqual([1, 2])
  })

  it('writes what it has when it closes, and takes nothing more', async () => {
    const { database, store } = await databases.openInMemory()
    const recorder = new UsageRecorder(store)

    const recording = recorder.record(usageEntry())
    const closing = recorder.close()
    const late = recorder.record(usageEntry())

    await expect(late).rejects.toThrow('before closing')
    await closing
    expect(await countRows(database)).toBe(1)
    await recording
    await recorder.close()
  })

  it('shares one file with another connection', async () => {
    const [one, two] = [await databases.openFile(), await databases.openFile()]
    const recorders = [one, two].map(({ store }) => new UsageRecorder(store))

    await Promise.all(
      Array.from({ length: 50 }, async () => {
        for (const recorder of recorders) await recorder.record(usageEntry())
      }),
    )

    expect(await new UsageReports(one.store).total(null)).toMatchObject({
      requests: 100,
      tokensOut: 500,
    })
    expect(await countRows(two.database)).toBe(100)
  })
})
