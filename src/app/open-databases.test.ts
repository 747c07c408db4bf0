import { expect, it } from 'vitest'
import { VirtualClock } from '../core/clock.ts'
import { openAccounts, openUsage } from './open-databases.ts'

it.each(['postgres://localhost/sluice', 'postgresql://me@localhost/sluice'])(
  'says of %s that PostgreSQL is not available yet',
  async (url) => {
    const config = { apiDb: url, usageDb: url, dataDir: '/no/such/folder' }
    const problem = 'with a PostgreSQL URL is not available yet: give a file or :memory:.'

    await expect(openAccounts(config)).rejects.toMatchObject({ exitCode: 2, message: `--api-db ${problem}` })
    await expect(openUsage(config, new VirtualClock())).rejects.toMatchObject({
      exitCode: 2,
      message: `--usage-db ${problem}`,
    })
  },
)
