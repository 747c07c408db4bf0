/** A folder of its own for each test and usage databases in it, or in memory; all are closed after the test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type Clock, VirtualClock } from '../../../src/core/clock.ts'
import { IN_MEMORY } from '../../../src/storage/sqlite/open-database.ts'
import { openUsageDatabase, type UsageDatabase } from '../../../src/storage/usage-database.ts'
import { SqliteUsageStore } from '../../../src/storage/sqlite/sqlite-usage-store.ts'
import type { UsageEntry } from '../../../src/storage/usage-store.ts'

/** Call at the top of a test file. */
export function useUsageDatabases() {
  let folder = ''
  const opened: UsageDatabase[] = []
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-usage-'))
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.destroy()))
    rmSync(folder, { recursive: true, force: true })
  })

  const open = async (location: string, clock: Clock = new VirtualClock()) => {
    const database = await openUsageDatabase(location)
    opened.push(database)
    return { database, store: new SqliteUsageStore(database, clock) }
  }
  return {
    openFile: (clock?: Clock) => open(path.join(folder, 'usage.db'), clock),
    openInMemory: (clock?: Clock) => open(IN_MEMORY, clock),
  }
}

export function usageEntry(changes: Partial<UsageEntry> = {}): UsageEntry {
  return {
    keyId: 'key',
    accountId: 'account',
    path: '/v1/generate',
    status: 200,
    tokensIn: 3,
    tokensOut: 5,
    responseMs: 1.5,
    ...changes,
  }
}

export async function countRows(database: UsageDatabase): Promise<number> {
  const { count } = await database
    .selectFrom('usage_rows')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** A clock that shows what it is set to, earlier times too. */
export class SettableClock implements Clock {
  unixSecondsShown = 0

  nowMs(): number {
    return 0
  }

  unixSeconds(): number {
    return this.unixSecondsShown
  }
}
