/** Quantizing models whose rows are no whole blocks: what comes out loads, computes, and is no larger than was estimated. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { quantizeWeights } from '../../src/engines/llamacpp/quantize/quantize-weights.ts'
import { openLlamaRunner } from '../../src/engines/llamacpp/open-runner.ts'
import { convertFloats } from '../../src/checkpoints/gguf/float-conversion.ts'
import { type GgufModel, openGgufModel } from '../../src/checkpoints/gguf/gguf-file.ts'
import {
  elementCount,
  gguf,
  type GgufMetadata,
  type GgufTensor,
} from '../../src/checkpoints/gguf/gguf-format.ts'
import { readTensorData, storedTensors } from '../../src/checkpoints/gguf/gguf-tensor-data.ts'
import { layoutGguf, writeGguf } from '../../src/checkpoints/gguf/gguf-writer.ts'
import {
  estimateBytes,
  quantFormat,
  summarizeQuantization,
} from '../../src/checkpoints/quantization/quantization-plan.ts'
import { writeTinyModel } from '../support/engines/llamacpp-tiny-model.ts'
import { shared } from '../support/shared.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-shapes-'))
afterAll(() => rmSync(folder, { recursive: true }))
const tiny = path.join(folder, 'tiny.gguf')
writeTinyModel(tiny)

const TINY_EMBEDDING = 64
const TINY_FEED_FORWARD = 128

interface Shape {
  readonly embedding: number
  readonly feedForward: number
  readonly valueAt?: (index: number) => number
}

/** The tiny model with other sizes, 4 heads and 2 of keys as it has. */
async function writeShaped(
  { embedding, feedForward, valueAt = (index) => Math.sin(index) / 8 }: Shape,
  type: 'F32' | 'BF16',
): Promise<GgufModel> {
  const file = path.join(folder, `${embedding}-${feedForward}-${type}.gguf`)
  rmSync(file, { force: true })
  const { tensors, metadata } = await openGgufModel(tiny)
  const resize = (size: number): number => {
    if (size === TINY_EMBEDDING) return embedding
    if (size === TINY_FEED_FORWARD) return feedForward
    return size === TINY_EMBEDDING / 2 ? embedding / 2 : size
  }
  const shaped = tensors.map(({ name, shape }): GgufTensor => ({
    name,
    shape: shape.map(resize),
    type: shape.length > 1 ? type : 'F32',
  }))
  const sized = new Map([
    ...metadata,
    ['llama.embedding_length', gguf.uint32(embedding)],
    ['llama.feed_forward_length', gguf.uint32(feedForward)],
  ])
  const most = Math.max(...shaped.map(({ shape }) => elementCount(shape)))
  // Each tensor has the beginning of the same values.
  const values = new Uint8Array(Float32Array.from({ length: most }, (_, index) => valueAt(index)).buffer)
  await writeGguf(file, layoutGguf(sized, shaped), async function* (tensor) {
    const bytes = values.slice(0, 4 * elementCount(tensor.shape))
    yield tensor.type === 'F32' ? bytes : convertFloats(bytes, 'F32', type)
  })
  return openGgufModel(file)
}

async function nextToken(modelPath: string): Promise<number> {
  const runner = await openLlamaRunner(
    {
      modelId: 'm',
      modelPath,
      maxBatchSize: 1,
      maxSeqLen: 256,
      threads: 1,
      gpu: 'off',
      gpuLayers: null,
      kvCacheType: 'f16',
    },
    () => {},
  )
  try {
    const promptTokenIds = Int32Array.of(1, 2, 3)
    const sampling = { temperature: 0, topK: 0, topP: 1, repetitionPenalty: 1, seed: null }
    const starts = [{ slotId: 0, promptTokenIds, sampling, cachedTokens: 0, copyFromSlotId: null }]
    const run = { slotId: 0, position: 0, tokenIds: promptTokenIds, wantsToken: true }
    return runner.execute({ starts, runs: [run] }).tokenIds[0] ?? -1
  } finally {
    runner.close()
  }
}

it.each([
  ['int4', Number.NaN, 'F32'],
  ['int8', Number.POSITIVE_INFINITY, 'F32'],
  ['int8', Number.NaN, 'BF16'],
  ['fp8', Number.NEGATIVE_INFINITY, 'BF16'],
] as const)('is refused as %s for a weight that is %s in %s', async (mode, value, type) => {
  const valueAt = (index: number): number => (index === 70 ? value : 0.5)
  const source = await writeShaped({ embedding: 96, feedForward: 64, valueAt }, type)
  const outputPath = path.join(folder, `${mode}-refused.gguf`)
  const format = quantFormat(mode, source)
  await expect(
    quantizeWeights({ sourcePath: source.path, outputPath, format, threads: 1 }, () => {}),
  ).rejects.toThrow(/holds a NaN or an Infinity in tensor "token_embd.weight" and so cannot be quantized\.$/)
})

it.each(['int4', 'int8', 'fp8'] as const)('becomes one file as %s when it was split', async (mode) => {
  const whole = await openGgufModel(tiny)
  const part = (number: number): string => path.join(folder, `${mode}-0000${number}-of-00002.gguf`)
  for (const number of [1, 2]) {
    const tensors = (await storedTensors(whole)).filter((_, index) => index % 2 === number - 1)
    const split = new Map([
      ...(number === 1 ? whole.metadata : [['general.architecture', gguf.string('llama')] as const]),
      ['split.no', { type: 'uint16', value: number - 1 }],
      ['split.count', { type: 'uint16', value: 2 }],
      ['split.tensors.count', { type: 'int32', value: whole.tensors.length }],
    ]) as GgufMetadata
    await writeGguf(part(number), layoutGguf(split, tensors), async function* (tensor) {
      yield* readTensorData(tensor)
    })
  }
  const source = await openGgufModel(part(1))
  expect(source.filePaths).toHaveLength(2)
  const outputPath = path.join(folder, `${mode}-merged.gguf`)
  const format = quantFormat(mode, source)
  await quantizeWeights({ sourcePath: source.path, outputPath, format, threads: 1 }, () => {})
  const quantized = await openGgufModel(outputPath)
  expect(quantized.tensors.map(({ name }) => name).toSorted()).toEqual(
    whole.tensors.map(({ name }) => name).toSorted(),
  )
  expect(await nextToken(outputPath)).toBeGreaterThanOrEqual(0)
})

describe.each([
  { embedding: 80, feedForward: 40, of: 'no whole blocks of 32', int4: 'IQ4_NL' },
  { embedding: 96, feedForward: 160, of: 'blocks of 32', int4: 'IQ4_NL' },
  { embedding: 96, feedForward: 1024, of: 'blocks of 32 and of 256', int4: 'IQ4_NL' },
  { embedding: 256, feedForward: 72, of: 'blocks of 256, and some of none', int4: 'Q4_K_M' },
  { embedding: 256, feedForward: 512, of: 'blocks of 256', int4: 'Q4_K_M' },
])('a model with rows of $of ($embedding, $feedForward)', ({ embedding, feedForward, int4 }) => {
  const sources = shared(async () => ({
    F32: await writeShaped({ embedding, feedForward }, 'F32'),
    BF16: await writeShaped({ embedding, feedForward }, 'BF16'),
  }))

  it.each([
    ['int4', 'F32'],
    ['int4', 'BF16'],
    ['int8', 'F32'],
    ['int8', 'BF16'],
    ['fp8', 'F32'],
    ['fp8', 'BF16'],
  ] as const)('becomes %s from %s', async (mode, type) => {
    const source = sources()[type]
    const format = quantFormat(mode, source)
    if (mode === 'int4') expect(format).toBe(int4)
    const outputPath = path.join(folder, `${mode}-${path.basename(source.path)}`)
    await quantizeWeights({ sourcePath: source.path, outputPath, format, threads: 1 }, () => {})
    const quantized = await openGgufModel(outputPath)
    const { sizeBytes, layersQuantized } = summarizeQuantization(source, quantized)
    const types = quantized.tensors.map(({ name, shape, type }) => `${name} ${shape[0]} ${type}`)
    expect(sizeBytes, types.join('\n')).toBeLessThanOrEqual(estimateBytes(format, source))
    const matrices = source.tensors.filter(({ shape }) => shape.length > 1)
    const blocks = matrices.filter(({ shape: [row = 0] }) => row % 32 === 0)
    expect(layersQuantized, types.join('\n')).toBe(mode === 'fp8' ? blocks.length : matrices.length)
    expect(await nextToken(outputPath)).toBeGreaterThanOrEqual(0)
  })
})
