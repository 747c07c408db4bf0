import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkOutputFile, checkOutputRoom, copyToOutput } from './output-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sluice-output-'))
})
afterEach(() => rmSync(folder, { recursive: true }))
const inFolder = (name: string) => path.join(folder, name)
const signal = new AbortController().signal

describe('checkOutputFile', () => {
  it('takes a new file in a folder that is there', async () => {
    await expect(checkOutputFile(inFolder('new.gguf'))).resolves.toBeUndefined()
  })

  it('refuses a file that exists, and a folder', async () => {
    writeFileSync(inFolder('old.gguf'), '')
    const refusal = 'exists already; --output must name a new file.'
    await expect(checkOutputFile(inFolder('old.gguf'))).rejects.toThrow(refusal)
    await expect(checkOutputFile(folder)).rejects.toThrow(refusal)
  })

  it('refuses a folder that is not there, or is a file, before anything is made', async () => {
    await expect(checkOutputFile(inFolder('none/new.gguf'))).rejects.toThrow(
      `Cannot write to the folder ${inFolder('none')}: it does not exist.`,
    )
    writeFileSync(inFolder('file'), '')
    await expect(checkOutputFile(inFolder('file/new.gguf'))).rejects.toThrow(
      `${inFolder('file')} is no folder.`,
    )
  })
})

describe('checkOutputRoom', () => {
  it('refuses what the disk cannot hold, with the numbers', async () => {
    await expect(checkOutputRoom(inFolder('new.gguf'), 1)).resolves.toBeUndefined()
    await expect(checkOutputRoom(inFolder('new.gguf'), 1e18)).rejects.toThrow(
      new RegExp(
        `^Writing the model needs 1000000000000000000 bytes in ${folder} and 16777216 to spare, but only \\d+ are free\\.$`,
      ),
    )
  })
})

describe('copyToOutput', () => {
  it('copies whole, and leaves nothing else', async () => {
    writeFileSync(inFolder('from'), Buffer.alloc(3_000_000, 'abc'))
    await copyToOutput(inFolder('from'), { output: inFolder('to'), signal })
    expect(readFileSync(inFolder('to')).equals(readFileSync(inFolder('from')))).toBe(true)
    expect(readdirSync(folder).toSorted()).toEqual(['from', 'to'])
  })

  it('leaves nothing when it is stopped', async () => {
    writeFileSync(inFolder('from'), Buffer.alloc(3_000_000))
    const stopping = new AbortController()
    const copied = copyToOutput(inFolder('from'), { output: inFolder('to'), signal: stopping.signal })
    stopping.abort()
    await expect(copied).rejects.toMatchObject({ name: 'AbortError' })
    expect(readdirSync(folder)).toEqual(['from'])
  })
})
