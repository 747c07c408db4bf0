import { isPostgres } from '../../test/support/databases/injected-database.ts'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import {
  countRows,
  SettableClock,
  usageEntry,
  useUsageDatabases,
} from '../../test/support/servers/usage-databases.ts'
import { SECONDS_PER_DAY, type UsageDatabase } from '../storage/usage-database.ts'
import type { UsageStore } from '../storage/usage-store.ts'
import { createLog } from '../telemetry/log.ts'
import { type StartTimer, UsagePruner, type UsagePrunerOptions } from './usage-pruner.ts'
import { UsageRecorder } from './usage-recorder.ts'
import { UsageReports } from './usage-reports.ts'

const databases = useUsageDatabases()

/** The second day of a month. */
const TODAY = 19_693 * SECONDS_PER_DAY
const NOW = TODAY + 40_000.5
const RETENTION_DAYS = 2
/** The first moment that is kept. */
const KEPT_FROM = TODAY - RETENTION_DAYS * SECONDS_PER_DAY

/** A timer that runs out when it is told to. */
function createHandTimer() {
  let run: () => Promise<void> = async () => {}
  const seen = { intervalMs: 0, isStopped: false }
  const startTimer: StartTimer = (onTime, intervalMs) => {
    run = onTime
    seen.intervalMs = intervalMs
    return { stop: () => void (seen.isStopped = true) }
  }
  return { startTimer, seen, runOut: () => run() }
}

async function prepare({ oldRows = 0 } = {}) {
  const clock = new SettableClock()
  const { database, store } = await databases.openInMemory(clock)
  await insertAt(store, clock, { times: [KEPT_FROM, KEPT_FROM + 0.001, NOW - 90_000, NOW] })
  const old = Array.from({ length: oldRows }, (_, number) => KEPT_FROM - 0.001 - number * 5000)
  await insertAt(store, clock, { times: old })
  clock.unixSecondsShown = NOW
  const lines: string[] = []
  const log = createLog({ destination: { write: (line: string) => void lines.push(line) } })
  const timer = createHandTimer()
  const start = (changes: Partial<UsagePrunerOptions> = {}) =>
    new UsagePruner({
      store,
      clock,
      log,
      retentionDays: RETENTION_DAYS,
      startTimer: timer.startTimer,
      ...changes,
    })
  return { clock, database, store, reports: new UsageReports(store), lines, timer, start }
}

async function insertAt(
  store: UsageStore,
  clock: SettableClock,
  { times }: { readonly times: readonly number[] },
): Promise<void> {
  for (const [index, time] of times.entries()) {
    clock.unixSecondsShown = time
    await store.insert([usageEntry({ keyId: `key-${index % 3}`, tokensIn: index })])
  }
}

async function allowDeletes(database: UsageDatabase, isAllowed: boolean): Promise<void> {
  if (!isPostgres()) {
    await sql.raw(`pragma query_only = ${isAllowed ? 'off' : 'on'}`).execute(database)
  } else if (isAllowed) {
    await sql`drop trigger no_deletes on usage_rows`.execute(database)
  } else {
    await sql`create function no_deletes() returns trigger language plpgsql as
      $$ begin raise exception 'no deletes in this test'; end $$`.execute(database)
    await sql`create trigger no_deletes before delete on usage_rows execute function no_deletes()`.execute(
      database,
    )
  }
}

async function countTotalsBefore(database: UsageDatabase, unixSeconds: number): Promise<number> {
  const rows = await database
    .selectFrom('usage_totals')
    .select('path')
    .where('bucket_start', '<', unixSeconds)
    .execute()
  return rows.length
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('UsagePruner', () => {
  it('removes rows and sums of the days that are over, at start, and leaves all that is kept', async () => {
    const { database, reports, timer, start } = await prepare({ oldRows: 50 })
    const sinces = [KEPT_FROM, KEPT_FROM + 0.001, KEPT_FROM + 30.5, TODAY, NOW]
    const before = await Promise.all(sinces.map((since) => reports.total(since)))

    start()
    await timer.runOut()

    expect(await countRows(database)).toBe(4)
    expect(await countTotalsBefore(database, KEPT_FROM)).toBe(0)
    expect(await Promise.all(sinces.map((since) => reports.total(since)))).toEqual(before)
    expect(await reports.total(null)).toEqual(before[0])
    expect(await reports.total(KEPT_FROM - 100_000.5)).toEqual(before[0])
  })

  it('begins by itself', async () => {
    const { database, start } = await prepare({ oldRows: 1 })

    const pruner = start()
    await pruner.close()

    expect(await countRows(database)).toBe(4)
  })

  it('keeps the days of the current month, which monthly budgets count', async () => {
    const { clock, database, start } = await prepare({ oldRows: 1 })
    clock.unixSecondsShown = NOW + 20 * SECONDS_PER_DAY

    await start().close()

    // Those of the month before are gone.
    expect(await countRows(database)).toBe(2)
    expect(await countTotalsBefore(database, TODAY - SECONDS_PER_DAY)).toBe(0)
  })

  it('does so again every hour', async () => {
    const { clock, database, timer, start } = await prepare()
    start()
    await timer.runOut()
    expect(await countRows(database)).toBe(4)

    clock.unixSecondsShown = NOW + SECONDS_PER_DAY
    await timer.runOut()

    expect(timer.seen.intervalMs).toBe(3_600_000)
    expect(await countRows(database)).toBe(2)
  })

  it('lets requests be recorded between two slices', async () => {
    const { database, store, timer, start } = await prepare({ oldRows: 60 })
    const recorder = new UsageRecorder(store)

    start({ maxSliceRows: 2 })
    while ((await countRows(database)) === 64) await nextTurn()
    await recorder.record(usageEntry())
    const rowsLeft = await countRows(database)

    expect(rowsLeft).toBeGreaterThan(5)
    expect(rowsLeft).toBeLessThan(65)
    await timer.runOut()
    expect(await countRows(database)).toBe(5)
  })

  it('stops between two slices when it closes', async () => {
    const { database, timer, start } = await prepare({ oldRows: 60 })

    const pruner = start({ maxSliceRows: 2 })
    await nextTurn()
    await pruner.close()
    const rowsLeft = await countRows(database)
    for (let turn = 0; turn < 10; turn++) await nextTurn()

    expect(rowsLeft).toBeGreaterThan(4)
    expect(await countRows(database)).toBe(rowsLeft)
    expect(timer.seen.isStopped).toBe(true)
  })

  it('logs that it failed and tries again in an hour', async () => {
    const { database, lines, timer, start } = await prepare({ oldRows: 5 })
    await allowDeletes(database, false)

    start()
    await timer.runOut()
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'error',
      msg: 'old usage could not be removed',
      err: {
        message: isPostgres() ? 'no deletes in this test' : 'attempt to write a readonly database',
      },
    })
    await allowDeletes(database, true)
    await timer.runOut()

    expect(await countRows(database)).toBe(4)
  })
})
