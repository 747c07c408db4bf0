import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { folderTrouble, makeFolder } from './make-folder.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'sluice-folder-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const inFolder = (name: string) => path.join(folder, name)

function troubleOf(made: string): string {
  try {
    makeFolder(made)
    return 'none'
  } catch (error) {
    return folderTrouble(error)
  }
}

it('makes a folder with those above it, for its owner alone where it is told so', () => {
  makeFolder(inFolder('a/b/c'), 0o700)
  expect(['a', 'a/b', 'a/b/c'].map((name) => statSync(inFolder(name)).mode & 0o777)).toEqual([
    0o700, 0o700, 0o700,
  ])
  makeFolder(`${inFolder('d/e')}/../f/`)
  expect(existsSync(inFolder('d/f'))).toBe(true)
})

it('leaves one that is there as it is', () => {
  mkdirSync(inFolder('there'), { mode: 0o750 })
  symlinkSync(inFolder('there'), inFolder('link'))
  for (const one of ['/', '.', inFolder('there'), inFolder('link')]) makeFolder(one, 0o700)
  expect(statSync(inFolder('there')).mode & 0o777).toBe(0o750)
})

it('says why one cannot be made', () => {
  writeFileSync(inFolder('file'), '')
  symlinkSync(inFolder('nowhere'), inFolder('lost'))
  expect(['file', 'file/x/y', 'lost', 'lost/x'].map((name) => troubleOf(inFolder(name)))).toEqual([
    'it is a file',
    'a part of its path is a file',
    ...['a link on its path leads nowhere', 'a link on its path leads nowhere'],
  ])
})

it.runIf(process.platform === 'linux')('gives up where the folder above takes none', () => {
  expect([troubleOf('/proc/x'), troubleOf('/proc/x/y')]).toEqual([
    'the folder above it takes none',
    'the folder above it takes none',
  ])
})
