import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { StartError } from '../../../src/core/errors.ts'
import { openLlamaRunner } from '../../../src/engines/llamacpp/open-runner.ts'
import type { RunnerOptions } from '../../../src/protocol/runner-options.ts'
import { writeTinyModel } from '../../support/engines/llamacpp-tiny-model.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'llamacpp-faults-'))
afterAll(() => rmSync(folder, { recursive: true }))

const inFolder = (name: string) => path.join(folder, name)
const good = inFolder('good.gguf')
writeTinyModel(good)

async function openError(modelPath: string, overrides: Partial<RunnerOptions> = {}): Promise<string> {
  const options: RunnerOptions = {
    modelId: 'tiny',
    modelPath,
    maxBatchSize: 2,
    maxSeqLen: 256,
    threads: 1,
    gpu: 'off',
    gpuLayers: null,
    kvCacheType: 'f16',
    ...overrides,
  }
  const error = await openLlamaRunner(options, () => {}).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof StartError)) throw new Error('it opened, or failed in another way', { cause: error })
  expect(error.message).toMatch(/^[^\n]+\.$/)
  return error.message
}

describe('opening a model that cannot be served says why in one sentence', () => {
  it('when the file is missing', async () => {
    expect(await openError(inFolder('none.gguf'))).toBe(
      `The model file '${inFolder('none.gguf')}' does not exist.`,
    )
  })

  it('when it is a folder', async () => {
    mkdirSync(inFolder('folder.gguf'))
    expect(await openError(inFolder('folder.gguf'))).toBe(`'${inFolder('folder.gguf')}' is not a file.`)
  })

  it.each([
    ['empty', ''],
    ['text', 'not a model at all'],
  ])('when it is %s', async (name, content) => {
    writeFileSync(inFolder(name), content)
    expect(await openError(inFolder(name))).toBe(`'${inFolder(name)}' is not a GGUF model file.`)
  })

  it('when its header is cut off or damaged', async () => {
    writeFileSync(inFolder('header'), readFileSync(good).subarray(0, 500))
    expect(await openError(inFolder('header'))).toContain('its GGUF header cannot be read')
    const bytes = readFileSync(good)
    bytes.fill(0xff, 40, 60)
    writeFileSync(inFolder('damaged'), bytes)
    expect(await openError(inFolder('damaged'))).toContain('its GGUF header cannot be read')
  })

  it('when its tensors are cut off', async () => {
    const bytes = readFileSync(good)
    writeFileSync(inFolder('short'), bytes.subarray(0, bytes.length - 1000))
    expect(await openError(inFolder('short'))).toMatch(
      new RegExp(`is cut off: its tensors end at byte \\d+, but the file has ${bytes.length - 1000} bytes`),
    )
  })

  it('when llama.cpp does not know the architecture', async () => {
    writeTinyModel(inFolder('strange'), { architecture: 'strange' })
    expect(await openError(inFolder('strange'))).toContain("does not know its architecture 'strange'")
  })

  it('when a part of a split model is missing', async () => {
    writeTinyModel(inFolder('split-00001-of-00002.gguf'))
    expect(await openError(inFolder('split-00001-of-00002.gguf'))).toContain(
      "split-00002-of-00002.gguf' does not exist",
    )
  })

  it('when the KV cache does not fit into memory', async () => {
    expect(await openError(good, { maxBatchSize: 256, maxSeqLen: 2 ** 22, kvCacheTokens: 2 ** 28 })).toMatch(
      /needs \d+ MB of memory \(1 MB weights, \d+ MB KV cache\), but \d+ MB is available: lower kv_cache_tokens or max_seq_len\.$/,
    )
  })
})
