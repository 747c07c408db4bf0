/** TLS to a real PostgreSQL, as the URL asks for it. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { QUIET_LOG } from '../../../test/support/databases/injected-database.ts'
import { startOwnPostgres } from '../../../test/support/databases/throw-away-postgres.ts'
import { fixture, pairOf } from '../../../test/support/net/tls-files.ts'
import { shared, whenUnused } from '../../../test/support/shared.ts'
import { systemClock } from '../../core/clock.ts'
import { openPostgresAccounts } from './open-stores.ts'

/** Its certificate is its own authority. */
const url = shared(async () => {
  const server = await startOwnPostgres(pairOf('first'))
  return await server.createDatabase()
})

async function open(query: string) {
  const { database } = await openPostgresAccounts({
    url: url() + query,
    clock: systemClock,
    log: QUIET_LOG,
    isServer: true,
  })
  whenUnused(() => database.destroy())
  return database
}

async function isEncrypted(query: string): Promise<boolean | undefined> {
  const asked = sql<{ ssl: boolean }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
  return (await asked.execute(await open(query))).rows[0]?.ssl
}

describe('sslmode', () => {
  it.each(['verify-full', 'verify-ca', 'require', 'prefer'])(
    '%s encrypts, with a server that the authority of sslrootcert has signed',
    async (mode) => {
      const warnings: string[] = []
      const onWarning = ({ message }: Error) => void warnings.push(message)
      process.on('warning', onWarning)
      whenUnused(() => process.off('warning', onWarning))

      expect(await isEncrypted(`?sslmode=${mode}&sslrootcert=${fixture('first.crt')}`)).toBe(true)
      expect(warnings).toEqual([])
    },
  )

  it.each(['verify-full', 'verify-ca', 'require', 'prefer'])('%s refuses another server', async (mode) => {
    const refused = /cannot be used: self-signed certificate\.$/
    await expect(open(`?sslmode=${mode}&sslrootcert=${fixture('second.crt')}`)).rejects.toThrow(refused)
    await expect(open(`?sslmode=${mode}`)).rejects.toThrow(refused)
  })

  it('no-verify encrypts with any server; disable, and none, with no server', async () => {
    expect(await isEncrypted('?sslmode=no-verify')).toBe(true)
    expect(await isEncrypted('?sslmode=disable')).toBe(false)
    expect(await isEncrypted('')).toBe(false)
  })

  it('names a file of an authority that does not exist', async () => {
    await expect(open('?sslmode=verify-full&sslrootcert=/no/such/ca.pem')).rejects.toThrow(
      "cannot be used: its file '/no/such/ca.pem' cannot be read (ENOENT).",
    )
  })
})
