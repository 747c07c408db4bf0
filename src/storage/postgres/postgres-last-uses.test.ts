/** Processes that write at once when keys were last used. */
import pg from 'pg'
import { expect, it, vi } from 'vitest'
import { createPostgresDatabase, runSql } from '../../../test/support/databases/throw-away-postgres.ts'
import { QUIET_LOG } from '../../../test/support/databases/injected-database.ts'
import { whenUnused } from '../../../test/support/shared.ts'
import { KeyUses } from '../../accounts/keys/key-uses.ts'
import { VirtualClock } from '../../core/clock.ts'
import type { ApiDatabase } from '../api-database.ts'
import { openPostgresAccounts } from './open-stores.ts'

const IDS = ['a', 'b', 'between']

/** Rows are locked in the order in which they are named, as with many keys, and not in that of the table. */
const IN_ORDER = ['hashjoin', 'mergejoin', 'seqscan', 'material'].map((name) => `-c enable_${name}=off`)

const WAITING = `
  select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

async function insertKeys(database: ApiDatabase): Promise<void> {
  const key = { key_prefix: '', name: '', tier: 'free', created_at: 1 } as const
  const rows = IDS.map((id) => ({ ...key, id, secret_hash: id, account_id: id }))
  await database.insertInto('api_keys').values(rows).execute()
}

it('do not wait for each other in a circle, whatever the order in which keys were used', async () => {
  const url = await createPostgresDatabase()
  const ordered = `${url}?options=${encodeURIComponent(IN_ORDER.join(' '))}`
  const clock = new VirtualClock(5)
  const log = { error: vi.fn() }
  const open = async () => {
    const { database } = await openPostgresAccounts({ url: ordered, clock, log: QUIET_LOG })
    whenUnused(() => database.destroy())
    return { database, uses: new KeyUses({ database, clock, log }) }
  }
  const [one, other] = [await open(), await open()]
  await insertKeys(one.database)
  for (const id of ['a', 'between', 'b']) one.uses.record(id)
  for (const id of ['b', 'a']) other.uses.record(id)
  const holder = new pg.Client(url)
  holder.on('error', () => {})
  await holder.connect()
  whenUnused(() => holder.end())
  const waiting = async () => (await runSql(url, WAITING)).length

  await holder.query("begin; update api_keys set name = 'held' where id = 'between'")
  const writing = [one.uses.close()]
  await expect.poll(waiting).toBe(1)
  writing.push(other.uses.close())
  await expect.poll(waiting).toBe(2)
  await holder.query('commit')
  await Promise.all(writing)

  expect(log.error).not.toHaveBeenCalled()
  const rows = await one.database.selectFrom('api_keys').select('last_used_at').execute()
  expect(rows).toEqual(IDS.map(() => ({ last_used_at: 5 })))
})
