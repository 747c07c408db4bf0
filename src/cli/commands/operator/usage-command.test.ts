import { readFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { createOperatorScene } from '../../../../test/support/servers/operator-scene.ts'
import { usageEntry } from '../../../../test/support/servers/usage-databases.ts'
import { openUsageDatabase } from '../../../storage/usage-database.ts'
import { SqliteUsageStore } from '../../../storage/sqlite/sqlite-usage-store.ts'

/** A user's key and one that is deleted have each used something. */
async function createUsage() {
  const first = createOperatorScene()
  const scene = createOperatorScene({ env: { SLUICE_DATA_DIR: first.folder } })
  const made = JSON.parse(await scene.output('keys', 'create', '--name', 'ci', '--json')) as { id: string }
  const usageFile = path.join(first.folder, 'usage.db')
  const database = await openUsageDatabase(usageFile)
  const store = new SqliteUsageStore(database, scene.clock)
  const entry = { keyId: made.id, accountId: made.id, tokensIn: 10, tokensOut: 20 }
  await store.insert([usageEntry(entry), usageEntry({ keyId: 'gone', model: 'org/model' })])
  await store.close()
  return { ...scene, id: made.id, usageFile }
}

describe('sluice usage', () => {
  it('shows what each key has used, and the sums', async () => {
    const { output, id } = await createUsage()
    const lines = (await output('usage')).split('\n').map((line) => line.split(/\s{2,}/))
    expect(lines[0]).toEqual([
      ...['key', 'name', 'requests', 'tokens in', 'tokens out'],
      ...['avg ms', 'p50 ms', 'p95 ms', 'errors'],
    ])
    expect(lines).toContainEqual([id, 'ci', '1', '10', '20', '2', '2', '2', '0'])
    expect(lines).toContainEqual(['gone', '-', '1', '3', '5', '2', '2', '2', '0'])
    expect(lines.at(-1)).toEqual(['all', '-', '2', '13', '25', '2', '2', '2', '0'])
  })

  it('prints JSON and CSV as the admin API does, by model and day', async () => {
    const { output } = await createUsage()
    const json = JSON.parse(
      await output('usage', '--group-by', 'model', '--bucket', 'day', '--json'),
    ) as unknown
    expect(json).toEqual({
      group_by: 'model',
      bucket: 'day',
      data: [
        { model: 'model', requests: 1, tokens_in: 10, tokens_out: 20 },
        { model: 'org/model', requests: 1, tokens_in: 3, tokens_out: 5 },
      ].map((row) => ({
        ...row,
        bucket_start: expect.any(Number) as number,
        ...{ avg_response_ms: 1.5, p50_response_ms: 1.542, p95_response_ms: 1.542, errors: 0 },
      })),
    })
    const csv = await output(
      'usage',
      '--group-by',
      'model',
      '--csv',
      '--since',
      '1970-01-01',
      '--until',
      '2100-01-01T00:00Z',
    )
    expect(csv).toBe(
      'model,requests,tokens_in,tokens_out,avg_response_ms,p50_response_ms,p95_response_ms,errors\r\n' +
        'model,1,10,20,1.5,1.542,1.542,0\r\norg/model,1,3,5,1.5,1.542,1.542,0',
    )
    expect(await output('usage', '--since', '2100-01-01')).toBe('Nothing was used.')
  })

  it.each([
    [
      ['--since', 'yesterday'],
      '--since must be a day such as 2026-11-23, a time such as 2026-11-23T14:00Z, or Unix seconds, but was',
    ],
    [['--json', '--csv'], '--json and --csv cannot be given together'],
    [['--since', '20', '--until', '10'], '--until must be later than --since'],
  ])('refuses %j', async (words, complaint) => {
    const { sluice } = await createUsage()
    const { exitCode, complaints } = await sluice('usage', ...words)
    expect([exitCode, complaints.join('\n')]).toEqual([2, expect.stringContaining(complaint)])
  })

  it('migrates no database of an older server, which may be running', async () => {
    const { sluice, usageFile } = await createUsage()
    const database = new DatabaseSync(usageFile)
    database.exec("drop table usage_summed; delete from kysely_migration where name >= '0004'")
    database.close()
    const before = readFileSync(usageFile)

    const { exitCode, printed, complaints } = await sluice('usage')

    expect([exitCode, printed, complaints]).toEqual([
      1,
      '',
      [
        expect.stringMatching(
          /was written by an older version of Sluice .* start the server of this version once/,
        ),
      ],
    ])
    expect(readFileSync(usageFile).equals(before)).toBe(true)
  })

  it('says that there is no database', async () => {
    const { sluice, output } = createOperatorScene()
    await output('keys', 'create')
    const { exitCode, complaints } = await sluice('usage', '--usage-db', '/nowhere/usage.db')
    expect([exitCode, complaints[0]]).toEqual([1, expect.stringContaining('There is no database of usage')])
  })
})
