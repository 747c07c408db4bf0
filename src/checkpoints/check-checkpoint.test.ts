import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type HubServer, startHub } from '../../test/support/checkpoints/hub-server.ts'
import { writeTinyModel } from '../../test/support/engines/llamacpp-tiny-model.ts'
import { SMALL_LLAMA } from '../../test/support/servers/server-process.ts'
import { StartError } from '../core/errors.ts'
import type { CheckedSource, CheckpointReport } from '../protocol/checkpoint-report.ts'
import { checkCheckpoint, type CheckOptions } from './check-checkpoint.ts'
import { plannedFile, planConversion } from './conversion/conversion-plan.ts'
import { openGgufModel } from './gguf/gguf-file.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'sluice-check-'))
const tiny = path.join(folder, 'tiny.gguf')
beforeAll(() => writeTinyModel(tiny))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => void vi.unstubAllEnvs())

const OPTIONS: CheckOptions = {
  maxBatchSize: 4,
  maxSeqLen: null,
  kvCacheType: 'f16',
  replicas: 2,
  availableBytes: 1e12,
  devices: [],
  gpuLayers: null,
  servingBytes: 0,
  // In this thread: the worker runs built code.
  plan: async (source, type) => plannedFile(await planConversion(source, type)),
}

const check = (checkpoint: string, given: Partial<CheckedSource> = {}, options: Partial<CheckOptions> = {}) =>
  checkCheckpoint(
    { checkpoint, modelConfig: null, tokenizer: null, quantization: 'none', draftCheckpoint: null, ...given },
    { ...OPTIONS, ...options },
  )

/** Every file of the demo model, the weights where the Hub keeps large files. */
const demoFiles = () =>
  Object.fromEntries(
    readdirSync(SMALL_LLAMA).map((name) => [name, readFileSync(path.join(SMALL_LLAMA, name))]),
  )

async function useHub(files: Record<string, Buffer>): Promise<HubServer> {
  const hub = await startHub(files, { repo: 'acme/m', largeBytes: 10_000 })
  vi.stubEnv('HF_ENDPOINT', hub.endpoint)
  vi.stubEnv('HF_HUB_CACHE', path.join(folder, 'cache'))
  vi.stubEnv('HF_TOKEN_PATH', path.join(folder, 'no-token'))
  return hub
}

const withoutDownload = (report: CheckpointReport) => ({ ...report, downloadBytes: null })

describe('a checkpoint of this machine', () => {
  it('is told with the memory of all replicas, and fits to the byte', async () => {
    const { tensors, architecture } = await openGgufModel(tiny)
    const report = await check(tiny)
    const weights = tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    expect(report).toMatchObject({ architecture, sizeBytes: weights, downloadBytes: 0, problem: null })
    expect(report.kvCacheBytes).toBeGreaterThan(0)
    expect(report.neededBytes).toBe(2 * (weights + report.kvCacheBytes))

    const { neededBytes } = report
    expect((await check(tiny, {}, { availableBytes: neededBytes + 9, servingBytes: 9 })).problem).toBeNull()
    const full = await check(tiny, {}, { availableBytes: neededBytes + 8, servingBytes: 9 })
    expect(full.problem).toMatch(
      /^'tiny' needs \d+ MB of memory \(.*\), beside 1 MB for the models that serve/,
    )
    expect(full.availableBytes).toBe(neededBytes - 1)
  })

  it('to be quantized needs its source and the smaller weights while they are made', async () => {
    const plain = await check(SMALL_LLAMA)
    const int4 = await check(SMALL_LLAMA, { quantization: 'int4' })
    expect(int4.sizeBytes).toBeLessThan(plain.sizeBytes / 2)
    expect(int4.neededBytes).toBe(plain.sizeBytes + 2 * (int4.sizeBytes + int4.kvCacheBytes))
    expect(int4.quantization).toBe(plain.quantization)
  })

  it('with a draft model needs the weights of that and as many tokens in its KV cache', async () => {
    const [plain, drafted] = [await check(tiny), await check(tiny, { draftCheckpoint: tiny })]
    expect(drafted.neededBytes).toBe(2 * plain.neededBytes)
    expect({ ...drafted, neededBytes: 0 }).toEqual({ ...plain, neededBytes: 0 })
    const none = path.join(folder, 'none.gguf')
    await expect(check(tiny, { draftCheckpoint: none })).rejects.toThrow(/none\.gguf: it does not exist/)
  })

  it('that could not be loaded is refused with the sentence of the load', async () => {
    await expect(check(path.join(folder, 'none.gguf'))).rejects.toThrow(/none\.gguf: it does not exist/)
    await expect(check(path.join(folder, 'none.gguf'))).rejects.toBeInstanceOf(StartError)
  })

  it('is divided between the memory of the machine and its GPUs', async () => {
    const whole = await check(tiny)
    expect(whole.placement).toBeNull()
    const gpu = { name: 'CUDA0', description: 'a GPU', sharesMemory: false, totalBytes: 1e9, freeBytes: 9e8 }
    const { placement, neededBytes, sizeBytes, kvCacheBytes } = await check(tiny, {}, { devices: [gpu] })
    expect([sizeBytes, kvCacheBytes]).toEqual([whole.sizeBytes, whole.kvCacheBytes])
    expect(placement).toMatchObject({
      layers: 3,
      allLayers: 3,
      devices: [{ ...gpu, layers: 3, kvCacheBytes }],
    })
    // What is in front of the layers stays, of both replicas.
    const [device] = placement?.devices ?? []
    expect(neededBytes).toBe(2 * (sizeBytes - (device?.weightBytes ?? 0)))
    expect(neededBytes).toBeGreaterThan(0)

    const one = await check(tiny, {}, { devices: [gpu], gpuLayers: 1, availableBytes: 1 })
    expect(one.placement?.layers).toBe(1)
    expect(one.problem).toMatch(
      /^'tiny' needs \d+ MB of memory \(.*, with 1 of 3 layers on CUDA0\), but 0 MB is available/,
    )
  })
})

describe('a model of the Hub', () => {
  it('in the Hugging Face layout is told from its config.json, and its weights stay there', async () => {
    const files = demoFiles()
    const hub = await useHub(files)
    const report = await check('hf:acme/m')
    expect(withoutDownload(report)).toEqual(withoutDownload(await check(SMALL_LLAMA)))
    const served = Object.keys(files).filter((name) =>
      /^(config|generation_config|tokenizer|model)/.test(name),
    )
    expect(report.downloadBytes).toBe(served.reduce((sum, name) => sum + (files[name]?.length ?? 0), 0))
    expect(hub.downloads().map((request) => request.path)).not.toContain('/model.safetensors')
  })

  it.each(['constructor', { toString: 1 }])('may name any type of its weights, as %j', async (dtype) => {
    const files = demoFiles()
    const config = JSON.parse(files['config.json']?.toString() ?? '') as object
    await useHub({ ...files, 'config.json': Buffer.from(JSON.stringify({ ...config, dtype })) })
    await expect(check('hf:acme/m')).resolves.toMatchObject({ architecture: 'llama', quantization: 'BF16' })
  })

  it('in GGUF is told from the beginning of its file', async () => {
    await useHub({ 'tiny.gguf': readFileSync(tiny) })
    const report = await check('hf:acme/m:tiny.gguf')
    expect(withoutDownload(report)).toEqual(withoutDownload(await check(tiny)))
    expect(report.downloadBytes).toBe(readFileSync(tiny).length)
  })

  it('that is not there is refused', async () => {
    await useHub({ 'README.md': Buffer.from('nothing') })
    await expect(check('hf:acme/m')).rejects.toThrow('acme/m has no .safetensors or .gguf file to serve.')
    await expect(check('hf:acme/other')).rejects.toThrow(/There is no model acme\/other/)
  })
})
