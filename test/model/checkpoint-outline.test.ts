/** What the headers tell, against what llama.cpp finds when the model is loaded. */
import path from 'node:path'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, describe, expect, it } from 'vitest'
import { completeConfig } from '../../src/config/resolve.ts'
import { toLocalSource } from '../../src/protocol/model-source.ts'
import type { Quantization } from '../../src/core/choices/quant-mode.ts'
import type { LoadHooks } from '../../src/models/registry.ts'
import type { ModelInfo, ModelOutline } from '../../src/protocol/model-info.ts'
import { openLlamaRunner } from '../../src/engines/llamacpp/open-runner.ts'
import { outlineCheckpoint } from '../../src/checkpoints/checkpoint-outline.ts'
import { KnownOutlines } from '../../src/checkpoints/known-outlines.ts'
import { MemoryFit, memoryNeed, neededBytes } from '../../src/checkpoints/memory/memory-need.ts'
import { createCheckpointOpener } from '../../src/app/models/open-checkpoint.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { convertCheckpoint } from '../../src/checkpoints/conversion/convert.ts'
import { plannedFile, planConversion } from '../../src/checkpoints/conversion/conversion-plan.ts'
import type { planAside } from '../../src/checkpoints/conversion/conversion-thread.ts'
import { writeFp8Model } from '../../src/checkpoints/fp8/fp8-model.ts'
import { resolveModelFile } from '../../src/checkpoints/model-file.ts'
import { cachedQuantization, type QuantizeWork } from '../../src/checkpoints/quantization/quantize-model.ts'
import { SMALL_LLAMA } from '../support/servers/server-process.ts'
import { writeTinyModel } from '../support/engines/llamacpp-tiny-model.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'outline-'))
afterAll(() => rmSync(folder, { recursive: true }))
const tiny = path.join(folder, 'tiny.gguf')
writeTinyModel(tiny)
const hybrid = path.join(folder, 'hybrid.gguf')
writeTinyModel(hybrid, { architecture: 'lfm2' })

const from = (checkpoint: string) => ({ checkpoint, modelConfig: null, tokenizer: null })

async function loadedInfo(checkpoint: string, kvCacheTokens: number | null = null): Promise<ModelInfo> {
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
      kvCacheTokens,
    },
    () => {},
  )
  const info = runner.info()
  runner.close()
  return info
}

/** In this thread: the worker runs built code. */
const plan: typeof planAside = async (source, type) => plannedFile(await planConversion(source, type))

describe('outlineCheckpoint', () => {
  it.each([
    ['a GGUF file', tiny],
    ['one whose first layer has no attention', hybrid],
    ['a folder that is converted', SMALL_LLAMA],
  ])('tells of %s what its engine tells later, memory included', async (_name, checkpoint) => {
    const outline = await outlineCheckpoint(from(checkpoint), { maxSeqLen: null, plan })
    const { kvElementsPerToken: _, layers: __, ...numbers } = outline
    const info = await loadedInfo(checkpoint)
    expect(info).toMatchObject(numbers)
    expect(neededBytes(memoryNeed(outline, { maxBatchSize: 3, kvCacheType: 'f16', replicas: 1 }))).toBe(
      info.memoryBytes,
    )
  })

  it('counts the layers with attention only, whose KV cache has the tokens that are configured', async () => {
    const { kvElementsPerToken } = await outlineCheckpoint(from(hybrid), { maxSeqLen: null })
    const allLayers = await outlineCheckpoint(from(tiny), { maxSeqLen: null })
    expect(kvElementsPerToken).toBe(allLayers.kvElementsPerToken / 2)
    expect(await loadedInfo(hybrid, 1024)).toMatchObject({ kvCacheTokens: 1024, sharesKvCache: true })
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

  interface Open {
    readonly availableBytes: number
    readonly loaded?: readonly ModelInfo[]
    readonly quantization?: Quantization
    readonly outline?: ModelOutline | null
  }

  function open({ availableBytes, loaded = [], quantization = 'none', outline = null }: Open) {
    const outlines: ModelOutline[] = []
    const hooks: LoadHooks = {
      outline,
      base: null,
      onProgress: () => {},
      onOutline: (outline) => void outlines.push(outline),
      loaded: () => loaded,
      makeRoom: ({ reserve }) => Promise.resolve(reserve()),
      signal: new AbortController().signal,
    }
    const openEngine = createCheckpointOpener({ config, log, memory: new MemoryFit(() => availableBytes) })
    return { opened: openEngine('m', toLocalSource({ ...from(tiny), quantization }), hooks), outlines }
  }

  it('is refused with the numbers before anything is started, old and new together', async () => {
    const info = await loadedInfo(tiny)
    const loaded = [{ ...info, sizeBytes: 9.4e6 }]
    const { opened, outlines } = open({ availableBytes: 10e6, loaded })
    await expect(opened).rejects.toThrow(
      /^'m' needs \d MB of memory \(1 MB weights, \d MB KV cache for each of 2 replicas\), beside 10 MB for the models that serve, but 10 MB is available/,
    )
    expect(outlines).toMatchObject([{ architecture: 'llama', maxSeqLen: 1024 }])
  })

  it('takes what was read from the headers before, and reads what was not', async () => {
    const read = await outlineCheckpoint(from(tiny), { maxSeqLen: 1024, plan })
    const known = open({ availableBytes: 10e6, outline: { ...read, sizeBytes: 5e9 } })
    await expect(known.opened).rejects.toThrow(/\(5000 MB weights/)
    // What an application may know of a model does not tell how much memory it takes.
    const { kvElementsPerToken: _, ...shown } = read
    const { opened, outlines } = open({ availableBytes: 1e5, outline: { ...shown, sizeBytes: 5e9 } })
    await expect(opened).rejects.toThrow(/\(1 MB weights/)
    expect(outlines).toEqual([read])
  })

  it('counts the source too where the weights are quantized first, and leaves no file', async () => {
    const loaded = [{ ...(await loadedInfo(tiny)), sizeBytes: 9.4e6 }]
    const { opened } = open({ availableBytes: 10e6, loaded, quantization: 'fp8' })
    await expect(opened).rejects.toThrow(
      /^'m' needs \d MB of memory \(1 MB source, 1 MB new weights, \d MB KV cache for each of 2 replicas\), beside 10 MB for the models that serve, but 10 MB is available/,
    )
    expect(readdirSync(path.join(folder, 'models')).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('counts weights that were quantized before without their source', async () => {
    const { model } = await resolveModelFile({ ...from(tiny), dataDir: folder })
    const quantize = async (work: QuantizeWork) => void (await writeFp8Model(work))
    await cachedQuantization({ model, mode: 'fp8', dataDir: folder, quantize })
    const loaded = [{ ...(await loadedInfo(tiny)), sizeBytes: 9.9e6 }]
    const { opened } = open({ availableBytes: 10e6, loaded, quantization: 'fp8' })
    await expect(opened).rejects.toThrow(/^'m' needs \d MB of memory \(1 MB weights, \d MB KV cache/)
  })
})

describe('the outlines of a server', () => {
  it('are planned again only when a file has changed, or appeared', async () => {
    const checkpoint = path.join(folder, 'changed')
    cpSync(SMALL_LLAMA, checkpoint, { recursive: true })
    let planned = 0
    const outlines = new KnownOutlines({
      maxSeqLen: null,
      plan: async (...work) => {
        planned++
        return await plan(...work)
      },
    })
    const first = await outlines.read(from(checkpoint))
    expect(await outlines.read(from(checkpoint))).toBe(first)
    expect(planned).toBe(1)

    const configFile = path.join(checkpoint, 'config.json')
    const config: object = JSON.parse(readFileSync(configFile, 'utf8'))
    writeFileSync(configFile, JSON.stringify({ ...config, max_position_embeddings: 1024 }))
    expect(await outlines.read(from(checkpoint))).toMatchObject({ ...first, maxSeqLen: 1024 })

    writeFileSync(path.join(checkpoint, 'chat_template.jinja'), '{{ messages[0].content }}')
    await outlines.read(from(checkpoint))
    expect(planned).toBe(3)
  })
})
