/** Quantizing as a whole, on tiny GGUF files of our own; llama.cpp's part is in test/model. */
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { roundToE4m3 } from '../fp8/fp8-rows.ts'
import { writeFp8Model } from '../fp8/fp8-model.ts'
import { rowScale } from '../fp8/fp8-rows.ts'
import { convertFloats } from '../gguf/float-conversion.ts'
import { openGgufModel } from '../gguf/gguf-file.ts'
import { elementCount, gguf, type GgufTensor } from '../gguf/gguf-format.ts'
import { readTensorData, storedTensors } from '../gguf/gguf-tensor-data.ts'
import { layoutGguf, writeGguf } from '../gguf/gguf-writer.ts'
import { type CachedQuantizationOptions, cachedQuantization } from './quantize-model.ts'
import { estimateBytes, quantFormat, quantizedTypeOf } from './quantization-plan.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-quantization-'))
})
afterEach(() => rm(folder, { recursive: true }))

const MATRIX = 'blk.0.ffn_up.weight'
const METADATA = new Map([
  ['general.architecture', gguf.string('llama')],
  ['general.file_type', gguf.uint32(0)],
  ['tokenizer.ggml.model', gguf.string('gpt2')],
  ['tokenizer.ggml.tokens', gguf.strings(['a', 'b'])],
])
const tensor = (name: string, shape: number[], type: GgufTensor['type'] = 'F32'): GgufTensor => ({
  name,
  shape,
  type,
})
const TENSORS = [
  tensor('token_embd.weight', [64, 4]),
  tensor('blk.0.attn_norm.weight', [64]),
  tensor(MATRIX, [64, 8]),
  tensor('blk.0.ffn_gate_inp.weight', [64, 4]),
  tensor('blk.0.odd.weight', [8, 8]),
]
const valueAt = (index: number) => Math.fround(Math.sin(index * 12.9898) * (1 + (index % 7)))

/** A model file; `values` overrides single weights of the matrix by index. */
async function writeModel(tensors = TENSORS, values: Record<number, number> = {}): Promise<string> {
  const path = join(folder, 'model.gguf')
  await rm(path, { force: true })
  await writeGguf(path, layoutGguf(METADATA, tensors), async function* ({ name, shape, type, sizeBytes }) {
    if (type !== 'F32') {
      yield new Uint8Array(sizeBytes)
      return
    }
    const numbers = Float32Array.from({ length: elementCount(shape) }, (_, index) =>
      name === MATRIX ? (values[index] ?? valueAt(index)) : valueAt(index),
    )
    yield new Uint8Array(numbers.buffer)
  })
  return path
}

/** By our own writer, whatever the format. */
const quantize: CachedQuantizationOptions['quantize'] = async (work) => void (await writeFp8Model(work))

async function optionsFor(path: string) {
  const model = await openGgufModel(path)
  return { model, mode: 'fp8', dataDir: join(folder, 'data'), quantize: vi.fn(quantize) } as const
}
const cachedFiles = async () =>
  (await readdir(join(folder, 'data/models'))).filter((name) => !name.endsWith('.json'))

async function bytesOf(path: string, name: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  const found = (await storedTensors({ filePaths: [path] })).find((one) => one.name === name)
  if (found === undefined) throw new Error(`no tensor ${name}`)
  for await (const chunk of readTensorData(found)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

describe('writeFp8Model', () => {
  it('rounds weight matrices, and copies norms, gates and rows of no whole blocks', async () => {
    const path = await writeModel()
    const output = join(folder, 'out.gguf')
    const fractions: number[] = []
    const { exactShare } = await writeFp8Model({
      model: await openGgufModel(path),
      outputPath: output,
      onProgress: (fraction) => fractions.push(fraction),
    })
    const written = await openGgufModel(output)
    expect(written.tensors.map(({ name, type }) => [name, type])).toEqual([
      ['token_embd.weight', 'Q8_0'],
      ['blk.0.attn_norm.weight', 'F32'],
      [MATRIX, 'Q8_0'],
      ['blk.0.ffn_gate_inp.weight', 'F32'],
      ['blk.0.odd.weight', 'F32'],
    ])
    expect(written.metadata.get('general.file_type')).toEqual(gguf.uint32(7))
    expect(await bytesOf(output, 'blk.0.odd.weight')).toEqual(await bytesOf(path, 'blk.0.odd.weight'))
    expect(exactShare).toBeGreaterThan(0.5)
    expect(exactShare).toBeLessThanOrEqual(1)
    expect(fractions.at(-1)).toBeCloseTo(1, 1)
  })

  it('stores the E4M3 numbers of each row', async () => {
    const path = await writeModel()
    const output = join(folder, 'out.gguf')
    await writeFp8Model({ model: await openGgufModel(path), outputPath: output, onProgress: () => {} })
    const blocks = await bytesOf(output, MATRIX)
    const source = await bytesOf(path, MATRIX)
    const row = new Float32Array(source.buffer.slice(source.byteOffset, source.byteOffset + 64 * 4))
    const half = convertFloats(new Uint8Array(blocks.subarray(0, 2)), 'F16', 'F32')
    const [step = 0] = new Float32Array(half.buffer, half.byteOffset, 1)
    const scale = rowScale(row)
    for (let index = 0; index < 32; index++) {
      const target = roundToE4m3((row[index] ?? 0) / scale) * scale
      expect(Math.abs(blocks.readInt8(2 + index) * step - target)).toBeLessThanOrEqual(step / 2)
    }
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'refuses %s in the weights and leaves no file in the cache',
    async (value) => {
      const path = await writeModel(TENSORS, { 100: value })
      await expect(cachedQuantization(await optionsFor(path))).rejects.toThrow(
        `${path} holds a NaN or an Infinity in tensor "${MATRIX}" and so cannot be quantized.`,
      )
      expect(await cachedFiles()).toEqual([])
    },
  )

  it('refuses a weight that is too large for a block scale', async () => {
    const path = await writeModel(TENSORS, { 100: 1e30 })
    await expect(cachedQuantization(await optionsFor(path))).rejects.toThrow(
      `holds a weight in tensor "${MATRIX}" too large for fp8.`,
    )
  })
})

describe('cachedQuantization', () => {
  it('finds the file again the second time, and counts the same', async () => {
    const options = await optionsFor(await writeModel())
    const first = await cachedQuantization(options)
    expect(first).toMatchObject({ format: 'fp8', layersQuantized: 2 })
    expect(first.sizeBytes).toBe((64 * 12 * 34) / 32 + 64 * 4 * 5 + 64 * 4)
    const refuse = () => Promise.reject(new Error('it was in the cache'))
    const second = await cachedQuantization({ ...options, quantize: refuse })
    expect(second).toEqual(first)
    expect(await cachedFiles()).toHaveLength(1)
  })

  it('keeps nothing of a model that is replaced while it is quantized', async () => {
    const path = await writeModel()
    const options = await optionsFor(path)
    const replaced = cachedQuantization({
      ...options,
      quantize: async (work) => {
        await writeModel(TENSORS, { 0: 0.5 })
        await quantize(work)
      },
    })
    await expect(replaced).rejects.toThrow(`${path} or a file beside it changed while it was converted.`)
    expect(await cachedFiles()).toEqual([])
  })

  it('keeps another file for another mode and for another source', async () => {
    const options = await optionsFor(await writeModel())
    const paths = new Set<string>()
    for (const mode of ['fp8', 'int8', 'int4'] as const)
      paths.add((await cachedQuantization({ ...options, mode })).model.path)
    const other = await optionsFor(await writeModel(TENSORS, { 0: 2 }))
    paths.add((await cachedQuantization(other)).model.path)
    expect(paths.size).toBe(4)
  })

  it('removes what a source gave before it changed, when nobody has used that for a day', async () => {
    const before = await cachedQuantization(await optionsFor(await writeModel()))
    const longAgo = new Date(Date.now() - 25 * 3600 * 1000)
    await utimes(before.model.path.replace('.gguf', '.json'), longAgo, longAgo)
    const after = await cachedQuantization(await optionsFor(await writeModel(TENSORS, { 0: 2 })))
    expect(existsSync(before.model.path)).toBe(false)
    expect(existsSync(after.model.path)).toBe(true)
  })

  it('quantizes again when the cached file lost its end', async () => {
    const options = await optionsFor(await writeModel())
    const { model } = await cachedQuantization(options)
    await writeFile(model.path, (await readFile(model.path)).subarray(0, 900))
    expect(await cachedQuantization(options)).toMatchObject({ layersQuantized: 2 })
    expect(options.quantize).toHaveBeenCalledTimes(2)
  })

  it('asks for memory before the work, and for what is cached without its source', async () => {
    const options = await optionsFor(await writeModel())
    const sizes: object[] = []
    const checkMemory = (size: object) => {
      sizes.push(size)
      throw new Error('too little memory')
    }
    await expect(cachedQuantization({ ...options, checkMemory })).rejects.toThrow('too little memory')
    expect(await cachedFiles()).toEqual([])
    const { sizeBytes } = await cachedQuantization(options)
    await expect(cachedQuantization({ ...options, checkMemory })).rejects.toThrow('too little memory')
    expect(sizes).toEqual([
      { sourceBytes: options.model.sizeBytes, newBytes: sizeBytes },
      { sourceBytes: 0, newBytes: sizeBytes },
    ])
  })

  it('works once for two that ask at once, and again for the second when the first is stopped', async () => {
    const options = await optionsFor(await writeModel())
    const both = await Promise.all([cachedQuantization(options), cachedQuantization(options)])
    expect(options.quantize).toHaveBeenCalledTimes(1)

    await rm(both[0].model.path)
    const stopping = new AbortController()
    const asked: Promise<unknown>[] = []
    const stopped: CachedQuantizationOptions['quantize'] = async ({ signal }) => {
      // The first is at work by now, so this is the second.
      asked.push(cachedQuantization(options))
      stopping.abort()
      signal?.throwIfAborted()
    }
    const first = cachedQuantization({ ...options, quantize: stopped, signal: stopping.signal })
    await expect(first).rejects.toThrow('abort')
    await Promise.all(asked)
    expect(options.quantize).toHaveBeenCalledTimes(2)
    expect(await cachedFiles()).toHaveLength(1)
  })

  it('removes what was written when it is stopped', async () => {
    const options = await optionsFor(await writeModel())
    const stopping = new AbortController()
    const stopInTheMiddle: CachedQuantizationOptions['quantize'] = async ({ outputPath, signal }) => {
      await writeFile(outputPath, 'half')
      stopping.abort()
      signal?.throwIfAborted()
    }
    await expect(
      cachedQuantization({ ...options, quantize: stopInTheMiddle, signal: stopping.signal }),
    ).rejects.toThrow('abort')
    expect(await cachedFiles()).toEqual([])
  })

  it('refuses a source that is quantized itself, and writes nothing', async () => {
    const path = await writeModel([...TENSORS, tensor('blk.0.ffn_down.weight', [32, 2], 'Q4_0')])
    expect(await quantizedTypeOf({ checkpoint: path, modelConfig: null, tokenizer: null })).toBe('Q4_0')
    await expect(cachedQuantization(await optionsFor(path))).rejects.toThrow(
      `${path} cannot be quantized: its weights are quantized already (Q4_0); give a checkpoint in full precision.`,
    )
    expect(existsSync(join(folder, 'data'))).toBe(false)
  })
})

describe('quantFormat', () => {
  const layers = (rowElements: number, rows: number) =>
    layoutGguf(METADATA, [tensor('blk.0.a.weight', [rowElements, rows])]).tensors

  it('takes K-quants where most weights lie in rows of 256-blocks, and IQ4_NL elsewhere', () => {
    expect(quantFormat('int4', { tensors: layers(512, 4) })).toBe('Q4_K_M')
    expect(quantFormat('int4', { tensors: layers(96, 4) })).toBe('IQ4_NL')
    expect(quantFormat('int4', { tensors: [...layers(512, 40), ...layers(96, 4)] })).toBe('Q4_K_M')
    expect(quantFormat('int4', { tensors: [...layers(512, 4), ...layers(96, 40)] })).toBe('IQ4_NL')
  })

  it('is Q8_0 and fp8 for the other modes', () => {
    expect(quantFormat('int8', { tensors: layers(96, 4) })).toBe('Q8_0')
    expect(quantFormat('fp8', { tensors: layers(96, 4) })).toBe('fp8')
  })

  it('goes with an estimate that never makes a model larger', () => {
    const tensors = layers(512, 4)
    expect(estimateBytes('Q8_0', { tensors })).toBe((512 * 4 * 34) / 32)
    expect(estimateBytes('Q4_K_M', { tensors })).toBeLessThan((512 * 4 * 34) / 32)
  })
})
