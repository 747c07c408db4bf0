import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { acquireServerLock, findLockHolder } from './server-lock.ts'

function temporaryFile(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return path.join(folder, 'api.db')
}

describe('acquireServerLock', () => {
  it('is refused while another holds it, and names the holder', () => {
    const file = temporaryFile()
    const first = acquireServerLock(file)

    expect(first.outcome).toBe('held')
    const holder = { pid: process.pid, host: os.hostname() }
    expect(acquireServerLock(file)).toEqual({ outcome: 'refused', holder })
    expect(acquireServerLock(file)).toEqual({ outcome: 'refused', holder })
    expect(acquireServerLock(`${file}2`).outcome).toBe('held')
  })

  it('is free after its release, which leaves no file', () => {
    const file = temporaryFile()

    for (let turn = 0; turn < 3; turn++) {
      const lock = acquireServerLock(file)
      expect(lock.outcome).toBe('held')
      if (lock.outcome === 'held') lock.release()
      expect(existsSync(`${file}.lock`)).toBe(false)
    }
  })

  it('ends with its process, however that ends', async () => {
    const file = temporaryFile()
    const program = path.join(path.dirname(file), 'holder.mjs')
    const { href } = new URL('../../../dist/storage/sqlite/server-lock.js', import.meta.url)
    writeFileSync(
      program,
      `import { acquireServerLock } from '${href}'
       process.send(acquireServerLock('${file}').outcome)
       setInterval(() => {}, 1000)`,
    )
    const child = fork(program)
    onTestFinished(() => void child.kill('SIGKILL'))
    expect((await once(child, 'message'))[0]).toBe('held')

    expect(acquireServerLock(file)).toMatchObject({ outcome: 'refused', holder: { pid: child.pid } })
    child.kill('SIGKILL')
    await once(child, 'exit')

    expect(acquireServerLock(file).outcome).toBe('held')
  })
})

describe('findLockHolder', () => {
  /** As a server leaves it that was killed. */
  function leaveLockFile(file: string, { pid, host }: { pid: number; host: string }): void {
    const lock = new DatabaseSync(`${file}.lock`)
    lock.exec('create table holder (pid integer not null, host text not null)')
    lock.prepare('insert into holder (pid, host) values (?, ?)').run(pid, host)
    lock.close()
  }

  it('names who holds it, and leaves it held', () => {
    const file = temporaryFile()
    expect(findLockHolder(file)).toBe(null)
    const lock = acquireServerLock(file)

    expect(findLockHolder(file)).toBe(`another server of this process (${process.pid})`)
    expect(findLockHolder(file)).not.toBe(null)
    expect(acquireServerLock(file).outcome).toBe('refused')
    if (lock.outcome === 'held') lock.release()
    expect(findLockHolder(file)).toBe(null)
  })

  it.each([
    ['whose process id is of another program since', { pid: process.ppid, host: os.hostname() }],
    ['that ran on another machine', { pid: 7, host: 'container-of-before' }],
  ])('knows that a server is gone %s, and leaves its file', (_, holder) => {
    const file = temporaryFile()
    leaveLockFile(file, holder)

    expect(findLockHolder(file)).toBe(null)
    expect(existsSync(`${file}.lock`)).toBe(true)
    expect(acquireServerLock(file).outcome).toBe('held')
  })
})
