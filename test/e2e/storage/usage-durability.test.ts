/** Built code in processes that die: what a writer was told is recorded stays recorded. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { openUsageDatabase } from '../../../src/storage/usage-database.ts'
import { SqliteUsageStore } from '../../../src/storage/sqlite/sqlite-usage-store.ts'
import { UsageReports } from '../../../src/usage/usage-reports.ts'

const DIST = path.resolve(import.meta.dirname, '../../../dist')

/** Records for ever, eight at a time, and writes the number of each entry once it is told that it is recorded. */
const WRITER = `
import { writeSync } from 'node:fs'
const [dist, file, keyId] = process.argv.slice(1)
const { systemClock } = await import(dist + '/core/clock.js')
const { openUsageDatabase } = await import(dist + '/storage/usage-database.js')
const { SqliteUsageStore } = await import(dist + '/storage/sqlite/sqlite-usage-store.js')
const { UsageRecorder } = await import(dist + '/usage/usage-recorder.js')
const recorder = new UsageRecorder(new SqliteUsageStore(await openUsageDatabase(file), systemClock))
let next = 0
const client = async () => {
  for (;;) {
    const number = next++
    const entry = { path: '/v1/generate', status: 200, tokensIn: number, tokensOut: 1, responseMs: 1 }
    await recorder.record({ keyId, accountId: 'account', teamId: null, model: 'model', ...entry })
    writeSync(1, number + '\\n')
  }
}
await Promise.all(Array.from({ length: 8 }, client))
`

/** Kills it once it has recorded so many; resolves with the numbers of all that it was told are recorded. */
async function writeUntilKilled(file: string, keyId: string): Promise<readonly number[]> {
  const words = ['--input-type=module', '--eval', WRITER, '--', pathToFileURL(DIST).href, file, keyId]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()))
  const recorded: number[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    recorded.push(Number(line))
    if (recorded.length === 500) child.kill('SIGKILL')
  }
  await closed
  expect(child.signalCode).toBe('SIGKILL')
  return recorded
}

it('keeps all that two killed processes had recorded in one file, and its sums agree with its rows', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-usage-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'usage.db')

  const keyIds = ['key-1', 'key-2']
  const recorded = await Promise.all(keyIds.map((keyId) => writeUntilKilled(file, keyId)))

  const database = await openUsageDatabase(file)
  onTestFinished(() => database.destroy())
  const reports = new UsageReports(new SqliteUsageStore(database, systemClock))
  for (const [index, keyId] of keyIds.entries()) {
    const rows = await database
      .selectFrom('usage_rows')
      .select('tokens_in')
      .where('key_id', '=', keyId)
      .execute()
    const numbers = rows.map(({ tokens_in: tokensIn }) => tokensIn)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(numbers).toEqual(expect.arrayContaining([...(recorded[index] ?? [])]))
    expect((await reports.ofKey(keyId, null)).requests).toBe(numbers.length)
  }
})
