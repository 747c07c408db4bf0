import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { SettableClock, usageEntry, useUsageDatabases } from '../../test/support/servers/usage-databases.ts'
import { isPostgres } from '../../test/support/databases/injected-database.ts'
import { lengthOf } from '../../test/support/length-of.ts'
import * as turns from '../core/concurrency/turns.ts'
import { SECONDS_PER_DAY, SECONDS_PER_HOUR } from '../storage/usage-database.ts'
import { LATENCY_STEPS_US } from '../storage/usage-latency.ts'
import { USAGE_BUCKETS, USAGE_GROUPS, type UsageGroup } from '../storage/usage-store.ts'
import type { UsageEntry } from '../storage/usage-store.ts'
import type { GroupUsage, UsageGroupsRequest } from './grouped-usage.ts'
import { UsageReports } from './usage-reports.ts'

const databases = useUsageDatabases()

const FIRST_DAY = 19_700 * SECONDS_PER_DAY

const ALL: UsageGroupsRequest = {
  groupBy: null,
  bucket: null,
  sinceUnixSeconds: null,
  untilUnixSeconds: null,
  accountId: null,
  limit: 10_000,
  after: null,
}

type Recorded = UsageEntry & { readonly createdAt: number }

/** Moments on the borders of hours and days, a hair beside them, and anywhere in three days or in two months. */
const moment = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: 0, max: 3 }).map((days) => days * SECONDS_PER_DAY),
      fc.integer({ min: 0, max: 60 }).map((hours) => hours * SECONDS_PER_HOUR),
      fc.double({ min: 0, max: 3 * SECONDS_PER_DAY, noNaN: true }),
      fc.integer({ min: 0, max: 60 }).map((days) => days * SECONDS_PER_DAY),
    ),
    fc.constantFrom(0, -(2 ** -20), 2 ** -20, 1, -1, 599.999),
  )
  .map(([offset, nudge]) => FIRST_DAY + offset + nudge)

const recorded: fc.Arbitrary<Recorded> = fc.record({
  createdAt: moment,
  keyId: fc.constantFrom('key-1', 'key-2', 'key-3'),
  accountId: fc.constantFrom('account-1', 'account-2'),
  teamId: fc.constantFrom(null, 'team-1', 'team-2'),
  model: fc.constantFrom('model-1', 'org/model', ''),
  path: fc.constantFrom('/v1/generate', '/v1/chat/completions', '__proto__'),
  status: fc.constantFrom(200, 399, 400, 499, 500),
  tokensIn: fc.integer({ min: 0, max: 1_000_000 }),
  tokensOut: fc.integer({ min: 0, max: 10_000 }),
  responseMs: fc.oneof(
    fc.integer({ min: 0, max: 1000 }),
    fc.constantFrom(...LATENCY_STEPS_US.map((us) => us / 1000)),
  ),
})

const request: fc.Arbitrary<UsageGroupsRequest> = fc.record({
  groupBy: fc.option(fc.constantFrom(...USAGE_GROUPS)),
  bucket: fc.option(fc.constantFrom(...USAGE_BUCKETS)),
  sinceUnixSeconds: fc.option(moment),
  untilUnixSeconds: fc.option(moment),
  accountId: fc.option(fc.constantFrom('account-1', 'nobody')),
  limit: fc.integer({ min: 1, max: 6 }),
  after: fc.constant(null),
})

const groupOf: Readonly<Record<UsageGroup, (row: UsageEntry) => string>> = {
  key: ({ keyId }) => keyId,
  user: ({ accountId }) => accountId,
  team: ({ teamId }) => teamId ?? '',
  model: ({ model }) => model,
  endpoint: ({ path }) => path,
}

/** What a reader with a pencil would get. */
function plainGroups(rows: readonly Recorded[], asked: UsageGroupsRequest): readonly GroupUsage[] {
  const { groupBy, bucket, sinceUnixSeconds, untilUnixSeconds, accountId } = asked
  const groups = new Map<string, GroupUsage>()
  for (const row of rows) {
    if (sinceUnixSeconds !== null && row.createdAt < sinceUnixSeconds) continue
    if (untilUnixSeconds !== null && row.createdAt >= untilUnixSeconds) continue
    if (accountId !== null && row.accountId !== accountId) continue
    const date = new Date(row.createdAt * 1000)
    if (bucket !== null) date.setUTCMinutes(0, 0, 0)
    if (bucket === 'day') date.setUTCHours(0)
    const bucketStart = bucket === null ? 0 : date.getTime() / 1000
    const group = groupBy === null ? '' : groupOf[groupBy](row)
    const name = `${bucketStart} ${group}`
    const sums = groups.get(name) ?? {
      bucketStart,
      group,
      requests: 0,
      tokensIn: 0,
      tokensOut: 0,
      responseUs: 0,
      errors: 0,
      latencies: new Map<number, number>(),
    }
    const step = LATENCY_STEPS_US.filter((begin) => begin <= row.responseMs * 1000).length
    groups.set(name, {
      ...sums,
      requests: sums.requests + 1,
      tokensIn: sums.tokensIn + row.tokensIn,
      tokensOut: sums.tokensOut + row.tokensOut,
      responseUs: sums.responseUs + row.responseMs * 1000,
      errors: sums.errors + (row.status >= 400 ? 1 : 0),
      latencies: new Map(sums.latencies).set(step, (sums.latencies.get(step) ?? 0) + 1),
    })
  }
  return [...groups.values()].sort(
    (one, other) => one.bucketStart - other.bucketStart || (one.group < other.group ? -1 : 1),
  )
}

async function allPages(reports: UsageReports, asked: UsageGroupsRequest): Promise<readonly GroupUsage[]> {
  const groups: GroupUsage[] = []
  let { after } = asked
  do {
    const page = await reports.groups({ ...asked, after })
    expect(page.groups.length).toBeLessThanOrEqual(asked.limit)
    groups.push(...page.groups)
    after = page.next
  } while (after !== null)
  return groups
}

describe('UsageReports by group', () => {
  it('gives what a plain sum over the rows gives, of any span, in pages of any length', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(recorded, { maxLength: 40 }),
        fc.array(request, { minLength: 4, maxLength: 4 }),
        async (rows, requests) => {
          const clock = new SettableClock()
          const { database, store } = await databases.openInMemory(clock)
          for (const row of rows) {
            clock.unixSecondsShown = row.createdAt
            await store.insert([row])
          }
          const reports = new UsageReports(store)
          for (const asked of requests)
            expect(await allPages(reports, asked)).toEqual(plainGroups(rows, asked))
          await database.destroy()
        },
      ),
      { numRuns: lengthOf({ test: 15, soak: 1200 }) },
    )
  })

  it('leaves out what came a moment before the span', async () => {
    const clock = new SettableClock()
    clock.unixSecondsShown = FIRST_DAY
    const { store } = await databases.openInMemory(clock)
    await store.insert([usageEntry()])

    const since = (sinceUnixSeconds: number) => new UsageReports(store).groups({ ...ALL, sinceUnixSeconds })

    expect((await since(FIRST_DAY)).groups).toHaveLength(1)
    expect((await since(FIRST_DAY + 2 ** -20)).groups).toEqual([])
  })

  it('has no next page where a page ends with the last group', async () => {
    const { store } = await databases.openInMemory()
    await store.insert([usageEntry({ model: 'a' }), usageEntry({ model: 'b' })])

    const page = (limit: number) => new UsageReports(store).groups({ ...ALL, groupBy: 'model', limit })

    expect((await page(2)).next).toBeNull()
    expect((await page(1)).next).toMatchObject({ group: 'a' })
  })

  it('is empty where nothing was used', async () => {
    const { store } = await databases.openInMemory()
    expect(await new UsageReports(store).groups(ALL)).toEqual({ groups: [], next: null })
  })

  it('is read in turns of the event loop that all reports share', async () => {
    const clock = new SettableClock()
    const { store } = await databases.openInMemory(clock)
    for (const days of [0, 2]) {
      clock.unixSecondsShown = FIRST_DAY + days * SECONDS_PER_DAY
      await store.insert([usageEntry()])
    }
    const taken = vi.spyOn(turns, 'ownTurn')

    const report = () => new UsageReports(store).groups({ ...ALL, bucket: 'hour', accountId: 'account' })
    for (const { groups } of await Promise.all([report(), report()])) expect(groups).toHaveLength(2)

    const slices = (2 * SECONDS_PER_DAY) / (6 * SECONDS_PER_HOUR) + 1
    expect(taken).toHaveBeenCalledTimes(2 * slices)
    taken.mockRestore()
  })

  it('sums up entries that are written together, and forgets them with their rows', async () => {
    const clock = new SettableClock()
    clock.unixSecondsShown = FIRST_DAY + 5000
    const { store } = await databases.openInMemory(clock)
    const entries = Array.from({ length: 30 }, (_, index) => usageEntry({ keyId: `key-${index % 15}` }))
    await store.insert([...entries, usageEntry({ model: 'other', teamId: 'team' })])
    clock.unixSecondsShown += SECONDS_PER_DAY
    await store.insert([usageEntry()])
    const reports = new UsageReports(store)

    const [none, team] = (await reports.groups({ ...ALL, groupBy: 'team' })).groups
    expect(none).toMatchObject({ group: '', requests: 31 })
    expect(team).toMatchObject({ group: 'team', requests: 1, tokensIn: 3, tokensOut: 5, responseUs: 1500 })
    expect((await store.sumByPath({ scope: 'team', id: 'team' }, null)).get('/v1/generate')?.requests).toBe(1)

    await store.deleteBefore(FIRST_DAY + SECONDS_PER_DAY, 100)
    const kept = await reports.groups({ ...ALL, groupBy: 'team', bucket: 'hour' })
    expect(kept.groups).toMatchObject([{ group: '', requests: 1 }])
    expect((await store.sumByPath({ scope: 'team', id: 'team' }, null)).size).toBe(0)
  })

  it('counts errors and latencies of what was written before they were counted', async () => {
    const clock = new SettableClock()
    clock.unixSecondsShown = FIRST_DAY + 5000
    const first = await databases.openFile(clock)
    await first.store.insert([
      usageEntry({ status: 500, responseMs: 40 }),
      usageEntry({ status: 499, responseMs: 5, teamId: 'team' }),
      usageEntry(),
    ])
    const asked: UsageGroupsRequest = { ...ALL, groupBy: 'team', bucket: 'day' }
    const before = await new UsageReports(first.store).groups(asked)
    await sql`drop table usage_latencies`.execute(first.database)
    await sql`alter table usage_groups drop column errors`.execute(first.database)
    const migrations = sql.table(isPostgres() ? 'sluice_migrations' : 'kysely_migration')
    await sql`delete from ${migrations} where name >= '0003'`.execute(first.database)
    if (!isPostgres()) await sql`drop table usage_summed`.execute(first.database)
    await first.database.destroy()

    await expect(databases.openFile(clock)).rejects.toThrow(
      /^The database of usage '.*' \(--usage-db\) was written by an older version of Sluice \(it lacks '0003-/,
    )
    const { store } = await databases.openFile(clock, { isServer: true })
    expect(await new UsageReports(store).groups(asked)).toEqual(before)
    expect(before.groups.map(({ errors }) => errors)).toEqual([1, 1])
  })
})
