import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { createOperatorScene } from '../../../test/support/servers/operator-scene.ts'
import { whenUnused } from '../../../test/support/shared.ts'
import { openUsageDatabase } from '../../storage/usage-database.ts'

/** A data folder with a key and an open database of usage, as of a server that runs. */
async function createScene() {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-backup-'))
  whenUnused(() => rmSync(folder, { recursive: true, force: true }))
  const inFolder = (name: string) => path.join(folder, name)
  const scene = createOperatorScene({ env: { SLUICE_DATA_DIR: inFolder('data') } })
  await scene.output('keys', 'create', '--name', 'kept')
  const usage = await openUsageDatabase(inFolder('data/usage.db'))
  whenUnused(() => usage.destroy())
  return { ...scene, inFolder }
}

describe('sluice backup', () => {
  it('copies both databases beside whoever writes to them, readable by their owner alone', async () => {
    const { output, inFolder } = await createScene()
    const copies = inFolder('copies/monday')

    const [accounts = '', usage = ''] = (await output('backup', copies)).split('\n')
    expect(accounts).toMatch(/^The database of accounts and keys is in .*monday\/api\.db \(\d+ bytes\)\.$/)
    expect(usage).toMatch(/^The database of usage is in .*monday\/usage\.db \(\d+ bytes\)\.$/)
    expect(readdirSync(copies).toSorted()).toEqual(['api.db', 'usage.db'])
    expect(statSync(path.join(copies, 'api.db')).mode & 0o777).toBe(0o600)
    expect(statSync(copies).mode & 0o777).toBe(0o700)
    expect(await output('keys', 'list', '--data-dir', copies)).toContain('kept')
    await (await openUsageDatabase(path.join(copies, 'usage.db'))).destroy()
  })

  it('overwrites nothing', async () => {
    const { sluice, inFolder } = await createScene()
    const [copies, file] = [inFolder('copies'), inFolder('copies/usage.db')]
    expect((await sluice('backup', copies)).exitCode).toBe(0)
    const before = statSync(file)
    rmSync(inFolder('copies/api.db'))

    expect(await sluice('backup', copies)).toEqual({
      exitCode: 1,
      printed: '',
      complaints: [`sluice: ${file} exists already; name another folder for the copies.`],
    })
    expect(statSync(file).mtimeMs).toBe(before.mtimeMs)
    expect(existsSync(inFolder('copies/api.db'))).toBe(false)
  })

  it.each([
    ['--usage-db', ':memory:', "(--usage-db, --data-dir) is in the server's memory"],
    ['--api-db', 'postgres://localhost/sluice', "(--api-db) is a server's: use its own tool, pg_dump."],
    ['--api-db', '/no/such/api.db', "'/no/such/api.db' (--api-db, --data-dir) does not exist."],
  ])('refuses %s %s before it writes anything', async (option, location, sentence) => {
    const { sluice, inFolder } = await createScene()
    const { exitCode, complaints } = await sluice('backup', inFolder('copies'), option, location)
    expect(exitCode).not.toBe(0)
    expect(complaints).toEqual([expect.stringContaining(sentence)])
    expect(existsSync(inFolder('copies'))).toBe(false)
  })

  it('says why the folder for the copies cannot be made', async () => {
    const { sluice, inFolder } = await createScene()
    writeFileSync(inFolder('file'), '')
    expect(await sluice('backup', inFolder('file/copies'))).toMatchObject({
      exitCode: 1,
      complaints: [expect.stringMatching(/copies' cannot be made: a part of its path is a file\.$/)],
    })
  })

  it.runIf(process.platform === 'linux')('ends where the folder above takes none', async () => {
    const { sluice } = await createScene()
    expect(await sluice('backup', '/proc/copies')).toMatchObject({
      exitCode: 1,
      complaints: [
        expect.stringMatching(/'\/proc\/copies' cannot be made: the folder above it takes none\.$/),
      ],
    })
  })

  it('says what is wrong with a database that cannot be read, and leaves no half of a copy', async () => {
    const { sluice, inFolder } = await createScene()
    writeFileSync(inFolder('broken.db'), 'no database at all, but a text '.repeat(100))

    const { exitCode, complaints } = await sluice(
      'backup',
      inFolder('copies'),
      '--api-db',
      inFolder('broken.db'),
    )
    expect(exitCode).toBe(1)
    expect(complaints).toEqual([
      expect.stringMatching(/cannot be copied to .*api\.db: it is not a SQLite database\.$/),
    ])
    expect(readdirSync(inFolder('copies'))).toEqual([])
  })
})
