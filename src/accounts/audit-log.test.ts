import { sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { openAccountsDatabase } from '../../test/support/databases/injected-database.ts'
import { VirtualClock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { AuditLog } from './audit-log.ts'

const ACTION = {
  ...{ actor: 'admin', action: 'key.create', details: {}, requestId: 'request' },
  target: () => 'target',
}

/** Its table is gone once an action runs. */
async function setUp() {
  const clock = new VirtualClock()
  const { database } = await openAccountsDatabase(clock, null)
  const log = { error: vi.fn<(...line: readonly unknown[]) => void>() }
  return {
    log,
    audit: new AuditLog({ database, clock, log }),
    breakTable: () => sql`drop table audit_log`.execute(database),
  }
}

describe('AuditLog', () => {
  it('answers as the action did where its outcome cannot be written, and says so in the log', async () => {
    const { audit, breakTable, log } = await setUp()
    const made = audit.record(ACTION, async () => {
      await breakTable()
      return 'the secret of the new key'
    })
    await expect(made).resolves.toBe('the secret of the new key')
    expect(log.error).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ requestId: 'request', action: 'key.create', status: 200 }),
      'the outcome of an action is not in the audit log',
    )
  })

  it('fails as the action did there', async () => {
    const { audit, breakTable } = await setUp()
    const failed = audit.record(ACTION, async () => {
      await breakTable()
      throw new ServiceError('key_not_found', { keyId: 'none' })
    })
    await expect(failed).rejects.toMatchObject({ code: 'key_not_found' })
  })

  it('does nothing where there can be no row of it', async () => {
    const { audit, breakTable } = await setUp()
    await breakTable()
    const act = vi.fn<() => void>()
    await expect(audit.record(ACTION, act)).rejects.toThrow('audit_log')
    expect(act).not.toHaveBeenCalled()
  })
})
