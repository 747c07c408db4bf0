/** The credential store over a PostgreSQL of its own. Instances of the program on one are in `test/e2e/storage/postgres.test.ts`. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createPostgresDatabase,
  startOwnPostgres,
} from '../../../test/support/databases/throw-away-postgres.ts'
import { QUIET_LOG } from '../../../test/support/databases/injected-database.ts'
import { whenUnused } from '../../../test/support/shared.ts'
import { systemClock } from '../../core/clock.ts'
import { withResolvers } from '../../core/concurrency/with-resolvers.ts'
import type { ApiDatabase } from '../api-database.ts'
import { openPostgresAccounts } from './open-stores.ts'

async function openAccounts(url?: string) {
  url ??= await createPostgresDatabase()
  const opened = await openPostgresAccounts({ url, clock: systemClock, log: QUIET_LOG })
  whenUnused(() => opened.database.destroy())
  return opened
}

const KEY_ROW = {
  key_prefix: 'sk',
  name: '',
  tier: 'free',
  custom_rate_limit_rpm: null,
  user_id: null,
  created_at: 1,
  expires_at: null,
  revoked_at: null,
} as const

describe('PostgresCredentialStore', () => {
  it('knows nothing of a key that it has revoked, even where the database is away before it tells so', async () => {
    const postgres = await startOwnPostgres()
    const { database, credentials } = await openAccounts(await postgres.createDatabase())
    for (const id of ['kept', 'revoked']) {
      const row = { ...KEY_ROW, id, secret_hash: id, account_id: id }
      await database.insertInto('api_keys').values(row).execute()
      expect(await credentials.findKey(id, 1)).toMatchObject({ id })
    }
    await database.updateTable('api_keys').set({ revoked_at: 1 }).where('id', '=', 'revoked').execute()
    await postgres.kill()

    expect(await credentials.findKey('kept', 1)).toMatchObject({ id: 'kept' })
    await expect(credentials.findKey('revoked', 1)).rejects.toMatchObject({ code: 'database_unavailable' })
  })

  it('finds a key while transactions have every other connection', async () => {
    const { database, credentials } = await openAccounts()
    let end = (): void => {}
    const ending = new Promise<void>((resolve) => (end = resolve))
    let begun = 0
    const held = Array.from({ length: 8 }, () =>
      database.transaction().execute(async () => {
        begun++
        await ending
      }),
    )
    // The tables are locked by the first; the others have a connection and wait for it.
    await expect.poll(() => begun).toBe(1)

    expect(await credentials.findKey('unknown', 0)).toBeNull()
    expect(begun).toBe(1)
    end()
    await Promise.all(held)
  })

  it('lets a burst wait for its turn, for longer than a connection may take to open', async () => {
    const { database } = await openAccounts()
    const { end, ended } = await takeConnections(database)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const waiting = Promise.all(
      Array.from({ length: 20 }, () => database.connection().execute(async () => 1)),
    )

    await vi.advanceTimersByTimeAsync(60_000)
    end()
    await expect(waiting).resolves.toHaveLength(20)
    await ended
  })

  it('refuses who waits for a turn when the database goes away', async () => {
    const postgres = await startOwnPostgres()
    const { database, credentials } = await openAccounts(await postgres.createDatabase())
    const { end, ended } = await takeConnections(database)
    const refused = { code: 'database_unavailable' }
    const waiting = expect(database.connection().execute(async () => 1)).rejects.toMatchObject(refused)
    await postgres.kill()

    await expect(credentials.findKey('unknown', 0)).rejects.toMatchObject(refused)
    await waiting
    end()
    await ended
  })
})

/** All that transactions may have; resolves when they are taken. */
async function takeConnections(database: ApiDatabase) {
  let end = (): void => {}
  const ending = new Promise<void>((resolve) => (end = resolve))
  const all = Array.from({ length: 8 }, () => withResolvers<void>())
  const ended = Promise.all(
    all.map(({ resolve }) =>
      database.connection().execute(async () => {
        resolve()
        await ending
      }),
    ),
  )
  await Promise.all(all.map(({ promise }) => promise))
  return { end, ended }
}
