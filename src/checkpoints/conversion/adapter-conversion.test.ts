/** In which thread adapters of PEFT are converted: of the one that serves requests nothing is needed meanwhile. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { safetensors } from '../../../test/support/checkpoints/tiny-checkpoint.ts'
import type * as conversionThread from './conversion-thread.ts'
import { gguf, type GgufTensorInfo } from '../gguf/gguf-format.ts'
import type { PeftFiles } from '../adapters/adapter-files.ts'
import { openAdapterModel } from '../adapters/adapter-model.ts'

const [SIZE, RANK] = [64, 4]
const MODULE = 'base_model.model.model.layers.0.self_attn.q_proj'
const TENSOR: GgufTensorInfo = {
  ...{ name: 'blk.0.attn_q.weight', shape: [SIZE, SIZE], type: 'F32' },
  ...{ offsetBytes: 0, sizeBytes: 4 * SIZE ** 2 },
}
const BASE = {
  ...{ modelId: 'base', architecture: 'llama', tensors: [TENSOR] },
  metadata: new Map([
    ['llama.embedding_length', gguf.uint32(SIZE)],
    ['llama.attention.head_count', gguf.uint32(4)],
    ['tokenizer.ggml.tokens', gguf.strings(['a', 'b'])],
  ]),
}

/** Built, because Node starts no thread from TypeScript in every version. */
const BUILT = new URL('../../../dist/checkpoints/conversion/conversion-thread.js', import.meta.url)
const { convertAdapterInWorker } = (await import(/* @vite-ignore */ BUILT.href)) as typeof conversionThread

let folder: string
let outputPath: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-lora-'))
  outputPath = join(folder, 'adapter.gguf')
})
afterEach(() => rm(folder, { recursive: true }))

async function write(number = 1): Promise<PeftFiles> {
  const configPath = join(folder, 'adapter_config.json')
  await writeFile(configPath, JSON.stringify({ peft_type: 'LORA', r: RANK, lora_alpha: 8 }))
  const weightsPath = join(folder, 'adapter_model.safetensors')
  const shapes = { [`${MODULE}.lora_A.weight`]: [RANK, SIZE], [`${MODULE}.lora_B.weight`]: [SIZE, RANK] }
  const values = new Float32Array(SIZE * RANK).fill(number)
  await writeFile(
    weightsPath,
    safetensors(shapes, 'F32', () => values),
  )
  return { kind: 'peft', configPath, weightsPath }
}

/** Holds the event loop of this thread until something is so, or the test has failed. */
function holdUntil(isSo: () => boolean): void {
  const bell = new Int32Array(new SharedArrayBuffer(4))
  const end = performance.now() + 30_000
  while (!isSo() && performance.now() < end) Atomics.wait(bell, 0, 0, 5)
}

it('is converted while the event loop of this thread stands still', async () => {
  const converting = convertAdapterInWorker({ files: await write(), base: BASE, outputPath })

  holdUntil(() => existsSync(outputPath))

  expect(existsSync(outputPath)).toBe(true)
  await converting
  await expect(openAdapterModel(outputPath, BASE)).resolves.toMatchObject({ parameters: 2 * SIZE * RANK })
})

it('is refused in the words of the converter', async () => {
  const files = await write(Number.NaN)
  await expect(convertAdapterInWorker({ files, base: BASE, outputPath })).rejects.toThrow(
    `adapter_model.safetensors holds a NaN or an Infinity in tensor "${MODULE}.lora_A.weight".`,
  )
  const base = { ...BASE, tensors: [{ ...TENSOR, shape: [SIZE, 2 * SIZE] }] }
  await expect(convertAdapterInWorker({ files, base, outputPath })).rejects.toThrow(
    'it was made for another model',
  )
})

it('ends with the reason of its signal, before it began and while it runs', async () => {
  const files = await write()
  const reason = new Error('removed meanwhile')
  await expect(
    convertAdapterInWorker({ files, base: BASE, outputPath }, AbortSignal.abort(reason)),
  ).rejects.toBe(reason)
  const leaving = new AbortController()
  const converting = convertAdapterInWorker({ files, base: BASE, outputPath }, leaving.signal)
  leaving.abort(reason)
  await expect(converting).rejects.toBe(reason)
  expect(existsSync(outputPath)).toBe(false)
})
