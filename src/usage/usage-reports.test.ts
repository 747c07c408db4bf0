import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SettableClock, usageEntry, useUsageDatabases } from '../../test/support/servers/usage-databases.ts'
import { lengthOf } from '../../test/support/length-of.ts'
import { SECONDS_PER_DAY } from '../storage/usage-database.ts'
import type { UsageEntry } from '../storage/usage-store.ts'
import { type DetailedUsage, UsageReports } from './usage-reports.ts'

const databases = useUsageDatabases()

const FIRST_DAY = 19_700 * SECONDS_PER_DAY

interface Recorded extends UsageEntry {
  readonly createdAt: number
}

/** What a reader with a pencil would get. */
function plainSummary(rows: readonly Recorded[]): DetailedUsage {
  const averageMs = (of: readonly Recorded[]) =>
    of.length === 0
      ? 0
      : of.reduce((sum, { responseMs }) => sum + Math.round(responseMs * 1000), 0) / of.length / 1000
  return {
    requests: rows.length,
    tokensIn: rows.reduce((sum, { tokensIn }) => sum + tokensIn, 0),
    tokensOut: rows.reduce((sum, { tokensOut }) => sum + tokensOut, 0),
    avgResponseMs: averageMs(rows),
    byEndpoint: Object.fromEntries(
      [...new Set(rows.map(({ path }) => path))].map((path) => {
        const same = rows.filter((row) => row.path === path)
        return [path, { count: same.length, avgMs: averageMs(same) }]
      }),
    ),
  }
}

/** Moments on the borders of minutes and days, a hair beside them, and anywhere. */
const moment = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: 0, max: 3 }).map((days) => days * SECONDS_PER_DAY),
      fc.integer({ min: 0, max: 3 * 1440 }).map((minutes) => minutes * 60),
      fc.integer({ min: 0, max: 4 }).map((minutes) => minutes * 60),
      fc.double({ min: 0, max: 3 * SECONDS_PER_DAY, noNaN: true }),
    ),
    fc.constantFrom(0, -(2 ** -20), 2 ** -20, 1, -1, 59.999),
  )
  .map(([offset, nudge]) => FIRST_DAY + offset + nudge)

const recorded: fc.Arbitrary<Recorded> = fc.record({
  createdAt: moment,
  keyId: fc.constantFrom('key-1', 'key-2', 'key-3'),
  accountId: fc.constantFrom('account-1', 'account-2'),
  teamId: fc.constantFrom(null, 'team-1', 'team-2'),
  model: fc.constantFrom('model-1', 'org/model', ''),
  path: fc.constantFrom('/v1/generate', '/v1/chat/completions', '__proto__'),
  status: fc.constantFrom(200, 500),
  tokensIn: fc.integer({ min: 0, max: 1_000_000 }),
  tokensOut: fc.integer({ min: 0, max: 10_000 }),
  responseMs: fc.double({ min: 0, max: 600_000, noNaN: true }),
})

describe('UsageReports', () => {
  it('gives what a plain sum over the rows gives, since any moment', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(recorded, { maxLength: 40 }),
        fc.array(fc.option(moment), { minLength: 4, maxLength: 4 }),
        async (rows, sinces) => {
          const clock = new SettableClock()
          const { database, store } = await databases.openInMemory(clock)
          for (const row of rows) {
            clock.unixSecondsShown = row.createdAt
            await store.insert([row])
          }
          const reports = new UsageReports(store)

          // Each row's own time as well: it is the first that counts.
          for (const since of [...sinces, ...rows.slice(0, 4).map(({ createdAt }) => createdAt)]) {
            const inTime = rows.filter(({ createdAt }) => since === null || createdAt >= since)
            const ofKey = inTime.filter(({ keyId }) => keyId === 'key-1')
            const ofAccount = inTime.filter(({ accountId }) => accountId === 'account-1')
            expect(await reports.total(since)).toEqual(plainSummary(inTime))
            expect(await reports.ofKey('key-1', since)).toEqual(plainSummary(ofKey))
            expect(await reports.ofAccount('account-1', since)).toEqual(plainSummary(ofAccount))
            const ofKeys = plainSummary(inTime.filter(({ keyId }) => keyId !== 'key-2'))
            const keys = { scope: 'key', ids: ['key-1', 'none', 'key-3'] } as const
            expect(await store.sumTokens(keys, since ?? 0)).toBe(ofKeys.tokensIn + ofKeys.tokensOut)
            const ofTeam = plainSummary(inTime.filter(({ teamId }) => teamId === 'team-1'))
            const team = { scope: 'team', ids: ['team-1'] } as const
            expect(await store.sumTokens(team, since ?? 0)).toBe(ofTeam.tokensIn + ofTeam.tokensOut)
          }
          await database.destroy()
        },
      ),
      { numRuns: lengthOf({ test: 20, soak: 1200 }) },
    )
  })

  it('is zero for who has used nothing', async () => {
    const { store } = await databases.openInMemory()
    const nothing = { requests: 0, tokensIn: 0, tokensOut: 0, avgResponseMs: 0, byEndpoint: {} }

    expect(await new UsageReports(store).ofKey('nobody', null)).toEqual(nothing)
    expect(await new UsageReports(store).ofAccount('nobody', 1.5)).toEqual(nothing)
    expect(await new UsageReports(store).total(null)).toEqual(nothing)
  })

  it.each([-1, 0, 1e300, Number.MAX_SAFE_INTEGER])('takes %d for a moment like any other', async (since) => {
    const { store } = await databases.openInMemory()
    await store.insert([usageEntry()])

    expect((await new UsageReports(store).total(since)).requests).toBe(since <= 0 ? 1 : 0)
  })

  it.each(["'; drop table usage_rows; --", '"', '%', "'' or 1=1", '\\', '', 'ключ', '","', 'a\nb'])(
    'takes %j for an id and a path like any other',
    async (text) => {
      const { store } = await databases.openInMemory()
      await store.insert([usageEntry({ keyId: text, accountId: text, path: text }), usageEntry()])
      const reports = new UsageReports(store)

      expect((await reports.ofAccount(text, null)).requests).toBe(1)
      expect((await reports.ofKey(text, 1.5)).byEndpoint).toEqual({ [text]: { count: 1, avgMs: 1.5 } })
      expect((await reports.total(null)).requests).toBe(2)
    },
  )

  it('keeps apart what differs only in where its parts begin', async () => {
    const { store } = await databases.openInMemory()
    await store.insert([
      usageEntry({ keyId: 'a', path: 'b\nc' }),
      usageEntry({ keyId: 'a\nb', path: 'c' }),
      usageEntry({ keyId: 'a","b', path: 'c' }),
    ])

    expect((await new UsageReports(store).ofKey('a', null)).requests).toBe(1)
  })
})
