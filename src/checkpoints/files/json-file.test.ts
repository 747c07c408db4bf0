import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MAX_TOKENIZER_BYTES, readJsonObject, readOptionalJsonObject, readOptionalText } from './json-file.ts'

let path: string
beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'sluice-json-')), 'config.json')
  await writeFile(path, '{}')
})
afterEach(() => rm(join(path, '..'), { recursive: true }))

it('a file longer than any of its kind is refused before it is read', async () => {
  await truncate(path, 33 * 2 ** 20)
  const sentence = `${path} is 34603008 bytes long, but such a file of a checkpoint has at most 33554432.`
  await expect(readJsonObject(path)).rejects.toThrow(sentence)
  await expect(readOptionalJsonObject(path)).rejects.toThrow(sentence)
  await expect(readOptionalText(path)).rejects.toThrow(sentence)
})

it('that of a vocabulary may be longer', async () => {
  await truncate(path, 2)
  expect(await readJsonObject(path, MAX_TOKENIZER_BYTES)).toEqual({ path, fields: {} })
  await truncate(path, MAX_TOKENIZER_BYTES + 1)
  await expect(readJsonObject(path, MAX_TOKENIZER_BYTES)).rejects.toThrow('has at most 134217728.')
})
