/** The credential store over a PostgreSQL of its own. Instances of the program on one are in `test/e2e/storage/postgres.test.ts`. */
import { describe, expect, it } from 'vitest'
import { createPostgresDatabase } from '../../../test/support/databases/throw-away-postgres.ts'
import { QUIET_LOG } from '../../../test/support/databases/injected-database.ts'
import { whenUnused } from '../../../test/support/shared.ts'
import { systemClock } from '../../core/clock.ts'
import { openPostgresAccounts } from './open-stores.ts'

async function openAccounts() {
  const url = await createPostgresDatabase()
  const opened = await openPostgresAccounts({ url, clock: systemClock, log: QUIET_LOG })
  whenUnused(() => opened.database.destroy())
  return opened
}

describe('PostgresCredentialStore', () => {
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
})
