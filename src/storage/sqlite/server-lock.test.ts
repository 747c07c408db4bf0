import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { acquireServerLock } from './server-lock.ts'

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
