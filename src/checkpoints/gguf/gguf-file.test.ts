import { copyFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gguf as readWithOracle } from '@huggingface/gguf'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lengthOf } from '../../../test/support/length-of.ts'
import { StartError } from '../../core/errors.ts'
import { openGgufModel, readGgufFile, readGgufHeader } from './gguf-file.ts'
import { GGML_TYPES, gguf, type GgufMetadata, type GgufTensor, type GgufValue } from './gguf-format.ts'
import { MoreBytesNeeded, parseGgufHeader } from './gguf-header.ts'
import { layoutGguf, writeGguf } from './gguf-writer.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-gguf-'))
})
afterEach(() => rm(folder, { recursive: true }))

const BASE: [string, GgufValue][] = [
  ['general.architecture', gguf.string('llama')],
  ['llama.block_count', gguf.uint32(2)],
  ['llama.embedding_length', gguf.uint32(64)],
  ['llama.attention.head_count', gguf.uint32(4)],
  ['llama.attention.head_count_kv', gguf.uint32(2)],
  ['llama.context_length', gguf.uint32(512)],
  ['tokenizer.ggml.model', gguf.string('gpt2')],
  ['tokenizer.ggml.tokens', gguf.strings(['a', 'ü', ''])],
]
const TENSORS: GgufTensor[] = [
  { name: 'token_embd.weight', shape: [64, 3], type: 'F16' },
  { name: 'output_norm.weight', shape: [3], type: 'F32' },
  { name: 'output.weight', shape: [64, 3], type: 'Q8_0' },
]

interface ModelFile {
  metadata?: [string, GgufValue][]
  tensors?: GgufTensor[]
  name?: string
}

/** Writes a model whose tensor bytes are all the tensor's number. */
async function writeModel({
  metadata = [],
  tensors = TENSORS,
  name = 'model.gguf',
}: ModelFile = {}): Promise<string> {
  const path = join(folder, name)
  const layout = layoutGguf(new Map([...BASE, ...metadata]), tensors)
  await writeGguf(path, layout, async function* (tensor) {
    yield new Uint8Array(tensor.sizeBytes).fill(layout.tensors.indexOf(tensor))
  })
  return path
}

describe('a written file', () => {
  const everyType: [string, GgufValue][] = [
    ['x.uint8', { type: 'uint8', value: 255 }],
    ['x.int8', { type: 'int8', value: -128 }],
    ['x.uint16', { type: 'uint16', value: 65535 }],
    ['x.int16', { type: 'int16', value: -32768 }],
    ['x.int32', { type: 'int32', value: -(2 ** 31) }],
    ['x.float32', gguf.float32(0.5)],
    ['x.float64', { type: 'float64', value: Math.PI }],
    ['x.bool', gguf.bool(true)],
    ['x.uint64', { type: 'uint64', value: 2n ** 64n - 1n }],
    ['x.int64', { type: 'int64', value: -(2n ** 63n) }],
    ['x.int32s', gguf.int32s([1, -2, 3])],
    ['x.bools', { type: 'array', itemType: 'bool', items: [true, false] }],
    ['x.uint64s', { type: 'array', itemType: 'uint64', items: [1n, 2n] }],
  ]

  it('reads back as it was', async () => {
    const path = await writeModel({ metadata: everyType })
    const { header } = await readGgufFile(path)
    expect(header.version).toBe(3)
    const plain = (value: GgufValue | undefined) =>
      value?.type === 'array' ? Array.from<unknown>(value.items) : value?.value
    for (const [key, value] of [...BASE, ...everyType]) {
      const expected = key === 'x.bools' ? [1, 0] : plain(value)
      expect(plain(header.metadata.get(key)), key).toEqual(expected)
    }
    expect(header.tensors).toMatchObject(TENSORS)
    expect(header.tensors.every(({ offsetBytes }) => offsetBytes % 32 === 0)).toBe(true)
  })

  it('is read the same by an independent reader', async () => {
    const path = await writeModel({ metadata: everyType })
    const oracle = await readWithOracle(path, { allowLocalFile: true })
    const { header } = await readGgufFile(path)
    expect(oracle.metadata).toMatchObject({
      version: 3,
      'general.architecture': 'llama',
      'x.int8': -128,
      'x.float64': Math.PI,
      'x.uint64': 2n ** 64n - 1n,
      'x.int32s': [1, -2, 3],
      'tokenizer.ggml.tokens': ['a', 'ü', ''],
    })
    expect(Number(oracle.tensorDataOffset)).toBe(header.dataOffsetBytes)
    expect(
      oracle.tensorInfos.map(({ name, shape, dtype, offset }) => ({
        name,
        shape: shape.map(Number),
        id: dtype,
        offset: Number(offset),
      })),
    ).toEqual(
      header.tensors.map(({ name, shape, type, offsetBytes }) => ({
        name,
        shape,
        id: GGML_TYPES[type].id,
        offset: offsetBytes,
      })),
    )
  })

  it('is never written over another', async () => {
    await writeModel()
    await expect(writeModel()).rejects.toThrow('it exists already')
  })
})

describe('openGgufModel', () => {
  it('refuses what is no model, in one sentence', async () => {
    const text = join(folder, 'notes.gguf')
    await writeFile(text, 'These are only notes.')
    await expect(openGgufModel(text)).rejects.toThrow(new StartError(`${text} is not a GGUF file.`, 1))
    const missing = join(folder, 'missing.gguf')
    await expect(openGgufModel(missing)).rejects.toThrow(
      new StartError(`Cannot read ${missing}: it does not exist.`, 1),
    )
    await expect(openGgufModel(folder)).rejects.toThrow('it is a folder')
    const refused: [ModelFile, string][] = [
      [
        { metadata: [['general.architecture', gguf.string('t5encoder')]] },
        'has the architecture "t5encoder", with which',
      ],
      [{ metadata: [['general.architecture', gguf.uint32(1)]] }, 'names no architecture'],
      [{ metadata: [['tokenizer.ggml.model', gguf.bool(true)]] }, 'has no tokenizer inside'],
      [{ tensors: [] }, 'holds no weights'],
      ...[gguf.uint32(0), gguf.uint32(513), { type: 'uint64', value: 2n ** 60n } as const].map(
        (layers): [ModelFile, string] => [
          { metadata: [['llama.block_count', layers]] },
          `it names ${Number(layers.type === 'array' ? 0 : layers.value)} layers; llama.cpp computes 1 to 512`,
        ],
      ),
      [
        { metadata: [['general.type', gguf.string('adapter')]] },
        'is a LoRA adapter, not a model: register it',
      ],
    ]
    for (const [file, words] of refused) {
      const path = await writeModel(file)
      await expect(openGgufModel(path)).rejects.toThrow(words)
      await rm(path)
    }
  })

  it('reads a header longer than the first piece it takes', async () => {
    const tokens = Array.from({ length: 300_000 }, (_, id) => `token ${id}`)
    const model = await openGgufModel(
      await writeModel({ metadata: [['tokenizer.ggml.tokens', gguf.strings(tokens)]] }),
    )
    expect(model.metadata.get('tokenizer.ggml.tokens')).toMatchObject({ items: { length: 300_000 } })
  })

  it('gives up on a header that no model has', async () => {
    const path = join(folder, 'endless.gguf')
    const start = Buffer.alloc(32)
    start.writeUInt32LE(0x46554747, 0)
    start.writeUInt32LE(3, 4)
    start.writeBigUInt64LE(1n, 16)
    start.writeBigUInt64LE(2n ** 31n, 24)
    await writeFile(path, start)
    await truncate(path, 2 ** 33)
    await expect(openGgufModel(path)).rejects.toThrow('its header is longer than 67108864 bytes')
  })

  it('gives up on a file that becomes shorter while its header is read', async () => {
    const path = await writeModel()
    const bytes = await readFile(path)
    let reads = 0
    const read = () => {
      if (++reads > 3) throw new Error('it is read again and again')
      return Promise.resolve(bytes.subarray(0, 100))
    }
    const reading = readGgufHeader({ path, sizeBytes: bytes.length, read })
    await expect(reading).rejects.toThrow(`${path} became shorter while it was read.`)
  })

  it('notices a truncated file', async () => {
    const path = await writeModel()
    const { header, sizeBytes } = await readGgufFile(path)
    await truncate(path, sizeBytes - 60)
    await expect(openGgufModel(path)).rejects.toThrow('is truncated: tensor "output.weight" ends at byte')
    await truncate(path, header.dataOffsetBytes - 50)
    await expect(openGgufModel(path)).rejects.toThrow('is truncated or corrupted: its header goes on')
  })
})

describe('splits', () => {
  const split = (number: number, changes: [string, GgufValue][] = []): ModelFile => ({
    name: `big-0000${number + 1}-of-00003.gguf`,
    tensors: TENSORS.slice(number, number + 1),
    metadata: [
      ['split.no', { type: 'uint16', value: number }],
      ['split.count', { type: 'uint16', value: 3 }],
      ['split.tensors.count', { type: 'int32', value: 3 }],
      ...changes,
    ],
  })

  it('are found from any of them and counted together', async () => {
    const paths = [await writeModel(split(0)), await writeModel(split(1)), await writeModel(split(2))]
    for (const path of paths) {
      const model = await openGgufModel(path)
      expect(model).toMatchObject({ path: paths[0], filePaths: paths })
      expect(model.tensors.map(({ name }) => name)).toEqual(TENSORS.map(({ name }) => name))
    }
  })

  it('are all needed', async () => {
    const first = await writeModel(split(0))
    await writeModel(split(1))
    await expect(openGgufModel(first)).rejects.toThrow('big-00003-of-00003.gguf: it does not exist')
  })

  it('must be what their names say', async () => {
    const first = await writeModel(split(0))
    await writeModel(split(1))
    const third = await writeModel(split(2, [['split.no', { type: 'uint16', value: 1 }]]))
    await expect(openGgufModel(first)).rejects.toThrow(`${third} is split 1 by its header, not 2`)
    const renamed = join(folder, 'renamed.gguf')
    await copyFile(first, renamed)
    await expect(openGgufModel(renamed)).rejects.toThrow('must end in -00001-of-00003.gguf')
  })
})

describe('a damaged header', () => {
  const { headerBytes, fileSizeBytes } = layoutGguf(new Map(BASE) satisfies GgufMetadata, TENSORS)
  const parse = (bytes: Uint8Array, fileSize = fileSizeBytes) =>
    parseGgufHeader({ path: 'model.gguf', bytes: Buffer.from(bytes), fileSizeBytes: fileSize })

  /** Runs the parser; anything but success, a one-line sentence or a wish for more bytes fails the test. */
  const parseSafely = (bytes: Uint8Array, fileSize?: number) => {
    try {
      parse(bytes, fileSize)
    } catch (error) {
      if (error instanceof MoreBytesNeeded) return
      expect(error).toBeInstanceOf(StartError)
      expect((error as StartError).message).toMatch(/^[^\n]+\.$/)
    }
  }

  it('gives one sentence wherever bytes are wrong', () => {
    const corruption = fc.record({
      at: fc.nat(headerBytes.length - 1),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 9 }),
    })
    fc.assert(
      fc.property(fc.array(corruption, { minLength: 1, maxLength: 4 }), (corruptions) => {
        const damaged = Buffer.alloc(headerBytes.length + 9)
        damaged.set(headerBytes)
        for (const { at, bytes } of corruptions) damaged.set(bytes, at)
        parseSafely(damaged)
      }),
      { numRuns: lengthOf({ test: 1000, soak: 60_000 }) },
    )
  })

  it('gives one sentence wherever the file ends', () => {
    for (let size = 0; size < headerBytes.length; size++) parseSafely(headerBytes.subarray(0, size), size)
  })

  it('allocates nothing for a length that the file cannot hold', () => {
    const huge = Buffer.from(headerBytes)
    huge.writeBigUInt64LE(2n ** 40n, 24) // length of the first key
    expect(() => parse(huge)).toThrow('is truncated or corrupted')
    expect(() => parse(huge, 2 ** 50)).toThrow(MoreBytesNeeded)
    huge.writeBigUInt64LE(2n ** 63n, 8)
    expect(() => parse(huge)).toThrow('is corrupted: it claims')
  })

  it('is refused where llama.cpp refuses it', () => {
    const layout = (tensors: GgufTensor[], metadata: [string, GgufValue][] = []) =>
      layoutGguf(new Map([...BASE, ...metadata]), tensors)
    const [first = { name: 'x', shape: [1], type: 'F32' as const }] = TENSORS
    const refused: [ReturnType<typeof layout>, string][] = [
      [layout([first, first]), 'is listed twice'],
      [layout([{ ...first, name: 'x'.repeat(64) }]), 'no usable name'],
      [layout([{ ...first, shape: [1, 1, 1, 1, 1] }]), '5 dimensions'],
      [layout([{ ...first, shape: [33], type: 'Q8_0' }]), 'no whole blocks'],
      [layout([first], [['general.alignment', gguf.uint32(24)]]), 'alignment'],
    ]
    for (const [{ headerBytes, fileSizeBytes }, words] of refused)
      expect(() => parse(headerBytes, fileSizeBytes)).toThrow(words)
    const version1 = Buffer.from(headerBytes)
    version1.writeUInt32LE(1, 4)
    expect(() => parse(version1)).toThrow('of version 1; versions 2 and 3')
  })
})
