import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { open, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../../../test/support/servers/server-process.ts'
import { removeLeftovers, writeWhole } from './whole-file.ts'

describe('writeWhole', () => {
  it('flushes the file before it has its name, and the folder behind it', async () => {
    const folder = temporaryFolder()
    const file = path.join(folder, 'file')
    const hasName: boolean[] = []
    await using handle = await open(folder)
    const prototype = Object.getPrototypeOf(handle) as typeof handle
    const sync = vi
      .spyOn(prototype, 'sync')
      .mockImplementation(async () => void hasName.push(existsSync(file)))
    onTestFinished(() => sync.mockRestore())
    await writeWhole(file, (temporaryPath) => writeFile(temporaryPath, 'x'))
    expect(hasName).toEqual([false, true])
    expect(readdirSync(folder)).toEqual(['file'])
  })

  it('leaves nothing when the disk does not take it', async () => {
    const folder = temporaryFolder()
    await using handle = await open(folder)
    const prototype = Object.getPrototypeOf(handle) as typeof handle
    const sync = vi.spyOn(prototype, 'sync').mockRejectedValue(new Error('EIO'))
    onTestFinished(() => sync.mockRestore())
    const file = path.join(folder, 'file')
    await expect(writeWhole(file, (temporaryPath) => writeFile(temporaryPath, 'x'))).rejects.toThrow('EIO')
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('removeLeftovers', () => {
  /** The name of a temporary file, as a process of this machine with that id writes one. */
  async function temporaryName(pid: number): Promise<string> {
    const folder = temporaryFolder()
    let name = ''
    await writeWhole(path.join(folder, 'file'), async (temporaryPath) => {
      name = path.basename(temporaryPath)
      await writeFile(temporaryPath, '')
    })
    return name.replace(`-${process.pid}.tmp`, `-${pid}.tmp`)
  }

  async function endedPid(): Promise<number> {
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
    await once(child, 'exit')
    return child.pid ?? 0
  }

  it('removes at once what a process of this machine left that has ended, or had the id of this one', async () => {
    const folder = temporaryFolder()
    for (const pid of [await endedPid(), process.pid]) {
      writeFileSync(path.join(folder, await temporaryName(pid)), '')
    }
    await removeLeftovers(folder)
    expect(readdirSync(folder)).toEqual([])
  })

  it('keeps what a living process writes, this one included, until it has not been touched for a while', async () => {
    const folder = temporaryFolder()
    const living = path.join(folder, await temporaryName(process.ppid))
    const elsewhere = path.join(folder, 'file.x.00000000-1.tmp')
    for (const file of [living, elsewhere]) writeFileSync(file, '')
    await writeWhole(path.join(folder, 'own'), async (temporaryPath) => {
      await writeFile(temporaryPath, '')
      await removeLeftovers(folder)
      expect(readdirSync(folder)).toHaveLength(3)
    })
    const longAgo = Date.now() / 1000 - 16
    for (const file of [living, elsewhere]) await utimes(file, longAgo, longAgo)
    await removeLeftovers(folder)
    expect(readdirSync(folder)).toEqual(['own'])
  })

  it('finds nothing in a folder that is not there', async () => {
    await removeLeftovers(path.join(temporaryFolder(), 'missing'))
  })
})
