/** What the headers tell, against what llama.cpp finds when the model is loaded. */
import path from 'node:path'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, describe, expect, it } from 'vitest'
import { completeConfig } from '../../src/config/resolve.ts'
import type { LoadHooks } from '../../src/models/registry.ts'
import type { ModelInfo, ModelOutline } from '../../src/protocol/engine.ts'
import { openLlamaRunner } from '../../src/engines/llamacpp/runner.ts'
import { outlineCheckpoint } from '../../src/server/checkpoint-outline.ts'
import { memoryNeed, neededBytes } from '../../src/server/memory-fit.ts'
import { createCheckpointOpener } from '../../src/server/open-checkpoint.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { convertCheckpoint } from '../../src/weights/convert.ts'
import { plannedFile, planConversion } from '../../src/weights/conversion-plan.ts'
import type { planInWorker } from '../../src/weights/conversion-thread.ts'
import { resolveModelFile } from '../../src/weights/model-file.ts'
import { DEMO_MODEL } from '../support/server-process.ts'
import { writeTinyModel } from './llamacpp-tiny-model.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'outline-'))
afterAll(() => rmSync(folder, { recursive: true }))
const tiny = path.join(folder, 'tiny.gguf')
writeTinyModel(tiny)

const from = (checkpoint: string) => ({ checkpoint, modelConfig: null, tokenizer: null })

async function loadedInfo(checkpoint: string): Promise<ModelInfo> {
  const { model } = await resolveModelFile({
    ...from(checkpoint),
    dataDir: folder,
    convert: convertCheckpoint,
  })
  const runner = await openLlamaRunner(
    {
      modelId: 'm',
      modelPath: model.path,
      maxBatchSize: 3,
      maxSeqLen: null,
      threads: 1,
      gpu: 'off',
      gpuLayers: null,
      kvCacheType: 'f16',
    },
    () => {},
  )
  const info = runner.info()
  runner.close()
  return info
}

/** In this thread: the worker runs built code. */
const plan: typeof planInWorker = async (source, type) => plannedFile(await planConversion(source, type))

describe('outlineCheckpoint', () => {
  it.each([
    ['a GGUF file', tiny],
    ['a folder that is converted', DEMO_MODEL],
  ])('tells of %s what its engine tells later, memory included', async (_name, checkpoint) => {
    const outline = await outlineCheckpoint(from(checkpoint), { maxSeqLen: null, plan })
    const { kvElementsPerToken: _, ...numbers } = outline
    const info = await loadedInfo(checkpoint)
    expect(info).toMatchObject(numbers)
    expect(neededBytes(memoryNeed(outline, { maxBatchSize: 3, replicas: 1 }))).toBe(info.memoryBytes)
  })
})

describe('opening a checkpoint that does not fit into memory', () => {
  const config = completeConfig({
    dataDir: folder,
    gpu: 'off',
    replicas: 2,
    maxBatchSize: 4,
    maxSeqLen: 1024,
  })
  const log = createLog({ level: 'silent' })

  function open(availableBytes: number, loaded: readonly ModelInfo[]) {
    const outlines: ModelOutline[] = []
    const hooks: LoadHooks = {
      onProgress: () => {},
      onOutline: (outline) => void outlines.push(outline),
      loaded,
      signal: new AbortController().signal,
      servedBytes: 0,
    }
    const openEngine = createCheckpointOpener({ config, log, availableMemoryBytes: () => availableBytes })
    return { opened: openEngine('m', from(tiny), hooks), outlines }
  }

  it('is refused with the numbers before anything is started, old and new together', async () => {
    const info = await loadedInfo(tiny)
    const { opened, outlines } = open(10e6, [{ ...info, sizeBytes: 9.4e6 }])
    await expect(opened).rejects.toThrow(
      /^'m' needs 0\.0\d GB of memory \(0\.00 GB weights, 0\.00 GB KV cache for each of 2 replicas\), beside 0\.01 GB for the models that serve, but 0\.01 GB is available/,
    )
    expect(outlines).toMatchObject([{ architecture: 'llama', maxSeqLen: 1024 }])
  })
})
