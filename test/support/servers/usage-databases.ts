/** A folder of its own for each test and usage databases in it, in memory or in PostgreSQL; all are closed after the test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type Clock, VirtualClock } from '../../../src/core/clock.ts'
import { IN_MEMORY, type OpenDatabaseOptions } from '../../../src/storage/sqlite/open-database.ts'
import { openUsageDatabase, type UsageDatabase } from '../../../src/storage/usage-database.ts'
import { openPostgresUsageDatabase } from '../../../src/storage/postgres/postgres-usage-database.ts'
import { PostgresUsageStore } from '../../../src/storage/postgres/postgres-usage-store.ts'
import { UsageFile } from '../../../src/storage/postgres/usage-file.ts'
import { SqliteUsageStore } from '../../../src/storage/sqlite/sqlite-usage-store.ts'
import type { UsageEntry, UsageStore } from '../../../src/storage/usage-store.ts'
import { isPostgres, QUIET_LOG } from '../databases/injected-database.ts'
import { createPostgresDatabase } from '../databases/throw-away-postgres.ts'

interface OpenUsage {
  readonly database: UsageDatabase
  readonly store: UsageStore
}

/** Call at the top of a test file. */
export function useUsageDatabases() {
  let folder = ''
  /** One for each test, as there is one file. */
  let url: string | null = null
  const opened: { destroy(): Promise<void> }[] = []
  beforeEach(() => {
    url = null
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-usage-'))
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.destroy()))
    rmSync(folder, { recursive: true, force: true })
  })

  const openSqlite = async (location: string, clock: Clock, options: OpenDatabaseOptions = {}) => {
    const database = await openUsageDatabase(location, options)
    opened.push(database)
    return { database, store: new SqliteUsageStore(database, clock) }
  }
  const openInPostgres = async (
    clock: Clock,
    { isShared, ...options }: OpenDatabaseOptions & { readonly isShared: boolean },
  ): Promise<OpenUsage> => {
    const ownUrl = isShared ? (url ??= await createPostgresDatabase()) : await createPostgresDatabase()
    const database = await openPostgresUsageDatabase({ url: ownUrl, log: QUIET_LOG, ...options })
    const waiting = await UsageFile.open(path.join(folder, `waiting-usage-${opened.length}.jsonl`))
    const store = new PostgresUsageStore({ database, waiting, clock, log: QUIET_LOG })
    opened.push({ destroy: () => store.close() })
    return { database: database as unknown as UsageDatabase, store }
  }
  const open = async (
    location: string,
    clock: Clock = new VirtualClock(),
    options: OpenDatabaseOptions = {},
  ): Promise<OpenUsage> =>
    await (isPostgres()
      ? openInPostgres(clock, { ...options, isShared: location !== IN_MEMORY })
      : openSqlite(location, clock, options))
  return {
    openSqlite: () => openSqlite(path.join(folder, 'usage.db'), new VirtualClock()),
    openFile: (clock?: Clock, options?: OpenDatabaseOptions) =>
      open(path.join(folder, 'usage.db'), clock, options),
    openInMemory: (clock?: Clock) => open(IN_MEMORY, clock),
  }
}

export function usageEntry(changes: Partial<UsageEntry> = {}): UsageEntry {
  return {
    keyId: 'key',
    accountId: 'account',
    teamId: null,
    model: 'model',
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
