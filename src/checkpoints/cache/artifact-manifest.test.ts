import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { touchEntry, writeManifest } from './artifact-manifest.ts'

const DAY_MS = 24 * 3600 * 1000
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sluice-made-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** By a digit that its key is made of. */
const file = (digit: string) => path.join(folder, `${digit.repeat(64)}.gguf`)

interface Made {
  readonly from: readonly string[]
  readonly as?: string
  readonly idleMs?: number
}

async function make(digit: string, { from, as = 'source', idleMs = 0 }: Made): Promise<void> {
  writeFileSync(file(digit), digit)
  await writeManifest(file(digit), { from, as, identity: '', checksum: '' })
  const usedAt = new Date(Date.now() - idleMs)
  utimesSync(file(digit).replace('.gguf', '.json'), usedAt, usedAt)
}
const left = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.gguf'))
    .map((name) => name[0])

describe('writeManifest', () => {
  it('removes what was made of the same files when they held something else, a day after its last use', async () => {
    await make('1', { from: ['/m/a', '/m/b'], idleMs: DAY_MS + 1000 })
    await make('2', { from: ['/m/a', '/m/b'] })
    expect(readdirSync(folder).toSorted()).toEqual([`${'2'.repeat(64)}.gguf`, `${'2'.repeat(64)}.json`])
  })

  it('keeps it before that, and when a server said that it uses it', async () => {
    await make('1', { from: ['/m/a'], idleMs: DAY_MS - 60_000 })
    await make('2', { from: ['/m/a'], idleMs: 3 * DAY_MS })
    await touchEntry(file('2'))
    await make('3', { from: ['/m/a'] })
    expect(left()).toEqual(['1', '2', '3'])
  })

  it('removes what was made of a file that it removes, and of one that is kept for its user', async () => {
    await make('1', { from: ['/m/a'], idleMs: DAY_MS * 2 })
    await make('2', { from: [file('1')], as: 'Q8_0', idleMs: DAY_MS * 2 })
    await make('3', { from: [file('1')], as: 'fp8' })
    await make('4', { from: ['/m/a'] })
    expect(left()).toEqual(['3', '4'])
  })

  it('keeps other formats, other sources, and all of which nothing is known', async () => {
    await make('1', { from: ['/m/a'], as: 'Q8_0', idleMs: DAY_MS * 2 })
    await make('2', { from: ['/m/a', '/m/other.json'], as: 'fp8', idleMs: DAY_MS * 2 })
    writeFileSync(file('3'), '3')
    writeFileSync(file('4'), '4')
    writeFileSync(file('4').replace('.gguf', '.json'), '{"from": 4')
    await make('5', { from: ['/m/a'], as: 'fp8' })
    expect(left()).toEqual(['1', '2', '3', '4', '5'])
  })

  it('touches nothing beside a model that was not made here', async () => {
    const note = path.join(folder, 'mine.json')
    writeFileSync(note, '{}')
    utimesSync(note, 1, 1)
    await touchEntry(path.join(folder, 'mine.gguf'))
    expect(statSync(note).mtimeMs).toBe(1000)
  })

  it('does without a folder that it may not write to', async () => {
    await writeManifest(path.join(folder, 'none', 'x.gguf'), {
      from: ['/m/a'],
      as: 'fp8',
      identity: '',
      checksum: '',
    })
    await touchEntry(path.join(folder, 'none', 'x.gguf'))
    expect(existsSync(path.join(folder, 'none'))).toBe(false)
  })
})
