import { execFile } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkRoom } from './conversion-cache.ts'
import { convertCheckpoint } from './convert.ts'
import { convertFloats, type FloatType } from './float-conversion.ts'
import { readGgufFile } from './gguf-file.ts'
import { checkModelFiles, resolveModelFile, type ResolveOptions } from './model-file.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-weights-'))
})
afterEach(() => rm(folder, { recursive: true }))

const CONFIG = {
  architectures: ['LlamaForCausalLM'],
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  vocab_size: 6,
  max_position_embeddings: 32,
  tie_word_embeddings: true,
  bos_token_id: 4,
  eos_token_id: 5,
}
const TOKENIZER = {
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false },
  decoder: { type: 'ByteLevel' },
  added_tokens: [
    { id: 4, content: '<s>', special: true },
    { id: 5, content: '</s>', special: true },
  ],
  model: { type: 'BPE', vocab: { a: 0, b: 1, Ġ: 2, ab: 3 }, merges: ['a b'] },
}

type Shapes = Record<string, number[]>
const LAYER: Shapes = {
  'input_layernorm.weight': [8],
  'post_attention_layernorm.weight': [8],
  'self_attn.q_proj.weight': [8, 8],
  'self_attn.k_proj.weight': [4, 8],
  'self_attn.v_proj.weight': [4, 8],
  'self_attn.o_proj.weight': [8, 8],
  'mlp.gate_proj.weight': [12, 8],
  'mlp.up_proj.weight': [12, 8],
  'mlp.down_proj.weight': [8, 12],
}
const SHAPES: Shapes = {
  'model.embed_tokens.weight': [6, 8],
  'model.norm.weight': [8],
  ...Object.fromEntries(
    [0, 1].flatMap((layer) =>
      Object.entries(LAYER).map(([name, shape]) => [`model.layers.${layer}.${name}`, shape]),
    ),
  ),
}

/** Small fractions that F16 and BF16 hold exactly, another series for each tensor. */
function valuesOf(name: string, shape: number[]): Float32Array {
  const count = shape.reduce((product, size) => product * size, 1)
  return Float32Array.from(
    { length: count },
    (_, index) => (((index * 7 + name.length * 13) % 101) - 50) / 64,
  )
}

function safetensors(shapes: Shapes, dtype: FloatType, values = valuesOf): Buffer {
  let offset = 0
  const data: Uint8Array[] = []
  const header: Record<string, object> = {}
  for (const [name, shape] of Object.entries(shapes)) {
    const bytes = convertFloats(new Uint8Array(values(name, shape).buffer), 'F32', dtype)
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.length] }
    offset += bytes.length
    data.push(bytes)
  }
  const headerBytes = Buffer.from(JSON.stringify(header))
  const lengthBytes = Buffer.alloc(8)
  lengthBytes.writeBigUInt64LE(BigInt(headerBytes.length))
  return Buffer.concat([lengthBytes, headerBytes, ...data])
}

interface CheckpointFiles {
  name?: string
  config?: object
  tokenizer?: object
  /** File name → content. */
  weights?: Record<string, Buffer | string>
}

async function writeCheckpoint({
  name = 'model',
  config = {},
  tokenizer = {},
  weights,
}: CheckpointFiles = {}): Promise<string> {
  const path = join(folder, name)
  await mkdir(path, { recursive: true })
  await writeFile(join(path, 'config.json'), JSON.stringify({ ...CONFIG, ...config }))
  await writeFile(join(path, 'tokenizer.json'), JSON.stringify({ ...TOKENIZER, ...tokenizer }))
  for (const [file, content] of Object.entries(
    weights ?? { 'model.safetensors': safetensors(SHAPES, 'F16') },
  )) {
    await writeFile(join(path, file), content)
  }
  return path
}

function optionsFor(checkpoint: string, changes: Partial<ResolveOptions> = {}): ResolveOptions {
  return {
    checkpoint,
    modelConfig: null,
    tokenizer: null,
    dataDir: join(folder, 'data'),
    convert: convertCheckpoint,
    ...changes,
  }
}

const resolve = (checkpoint: string, changes: Partial<ResolveOptions> = {}) =>
  resolveModelFile(optionsFor(checkpoint, changes))

/** A tensor of a converted model, widened to F32. */
async function readTensor(path: string, name: string): Promise<number[]> {
  const { header } = await readGgufFile(path)
  const tensor = header.tensors.find((candidate) => candidate.name === name)
  if (tensor === undefined) throw new Error(`no tensor ${name}`)
  const begin = header.dataOffsetBytes + tensor.offsetBytes
  const bytes = Uint8Array.from((await readFile(path)).subarray(begin, begin + tensor.sizeBytes))
  return Array.from(new Float32Array(convertFloats(bytes, tensor.type as FloatType, 'F32').slice().buffer))
}

const hfValues = (name: string) => Array.from(valuesOf(name, SHAPES[name] ?? []))
const modelFiles = async () =>
  (await readdir(join(folder, 'data', 'models'))).filter((name) => name !== 'hashes.json')

describe('a converted checkpoint', () => {
  it('has the metadata and the tensors that llama.cpp expects', async () => {
    const { model, isNewConversion } = await resolve(await writeCheckpoint())
    expect(isNewConversion).toBe(true)
    expect(model).toMatchObject({ architecture: 'llama' })
    const metadata = Object.fromEntries(
      Array.from(model.metadata, ([key, value]) => [key, 'value' in value ? value.value : null]),
    )
    expect(metadata).toMatchObject({
      'general.file_type': 1,
      'llama.block_count': 2,
      'llama.attention.head_count': 2,
      'llama.attention.head_count_kv': 1,
      'llama.attention.key_length': 4,
      'llama.rope.freq_base': 10_000,
      'llama.vocab_size': 6,
      'tokenizer.ggml.pre': 'gpt-2',
    })
    const types = Object.fromEntries(
      model.tensors.map(({ name, type, shape }) => [name, `${type} ${shape.join('x')}`]),
    )
    expect(types).toMatchObject({
      'token_embd.weight': 'F16 8x6',
      'output_norm.weight': 'F32 8',
      'blk.1.attn_norm.weight': 'F32 8',
      'blk.1.attn_k.weight': 'F16 8x4',
      'blk.1.ffn_down.weight': 'F16 12x8',
    })
    expect(types).not.toHaveProperty('output.weight')
  })

  it('keeps all numbers, and reorders the rows of Q and K only', async () => {
    const { model } = await resolve(await writeCheckpoint())
    expect(await readTensor(model.path, 'blk.0.attn_v.weight')).toEqual(
      hfValues('model.layers.0.self_attn.v_proj.weight'),
    )
    expect(await readTensor(model.path, 'blk.1.attn_norm.weight')).toEqual(
      hfValues('model.layers.1.input_layernorm.weight'),
    )
    const rowsOf = (values: number[]) =>
      Array.from({ length: values.length / 8 }, (_, row) => values.slice(row * 8, row * 8 + 8))
    const query = rowsOf(hfValues('model.layers.1.self_attn.q_proj.weight'))
    expect(rowsOf(await readTensor(model.path, 'blk.1.attn_q.weight'))).toEqual(
      [0, 2, 1, 3, 4, 6, 5, 7].map((row) => query[row]),
    )
    const key = rowsOf(hfValues('model.layers.1.self_attn.k_proj.weight'))
    expect(rowsOf(await readTensor(model.path, 'blk.1.attn_k.weight'))).toEqual(
      [0, 2, 1, 3].map((row) => key[row]),
    )
  })

  it.each(['F32', 'F16', 'BF16'] as const)('holds the same numbers from %s in every type', async (dtype) => {
    const checkpoint = await writeCheckpoint({ weights: { 'model.safetensors': safetensors(SHAPES, dtype) } })
    for (const tensorType of ['f32', 'f16', 'bf16', 'source'] as const) {
      const { model } = await resolve(checkpoint, { tensorType })
      expect(await readTensor(model.path, 'blk.0.ffn_up.weight')).toEqual(
        hfValues('model.layers.0.mlp.up_proj.weight'),
      )
    }
  })

  it('is the same from shards as from one file', async () => {
    const names = Object.keys(SHAPES)
    const shard = (odd: number) =>
      Object.fromEntries(Object.entries(SHAPES).filter((_, index) => index % 2 === odd))
    const weight_map = Object.fromEntries(names.map((name, index) => [name, `part-${index % 2}.safetensors`]))
    const sharded = await writeCheckpoint({
      name: 'sharded',
      weights: {
        'part-0.safetensors': safetensors(shard(0), 'F16'),
        'part-1.safetensors': safetensors(shard(1), 'F16'),
        'model.safetensors.index.json': JSON.stringify({ weight_map }),
      },
    })
    const single = await resolve(await writeCheckpoint())
    const fromShards = await resolve(sharded)
    expect(await readFile(fromShards.model.path)).toEqual(await readFile(single.model.path))
  })

  it('has its own output matrix, biases and rope factors when the config says so', async () => {
    const shapes: Shapes = { ...SHAPES, 'lm_head.weight': [6, 8] }
    for (const layer of [0, 1]) {
      for (const [part, size] of [
        ['q', 8],
        ['k', 4],
        ['v', 4],
        ['o', 8],
      ] as const) {
        shapes[`model.layers.${layer}.self_attn.${part}_proj.bias`] = [size]
      }
    }
    const rope_scaling = {
      rope_type: 'llama3',
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 16,
    }
    const config = { tie_word_embeddings: false, attention_bias: true, rope_scaling }
    const { model } = await resolve(
      await writeCheckpoint({ config, weights: { 'model.safetensors': safetensors(shapes, 'F16') } }),
    )
    const bias = Array.from(valuesOf('model.layers.0.self_attn.q_proj.bias', [8]))
    expect(await readTensor(model.path, 'blk.0.attn_q.bias')).toEqual(
      [0, 2, 1, 3, 4, 6, 5, 7].map((row) => bias[row]),
    )
    expect(await readTensor(model.path, 'rope_freqs.weight')).toHaveLength(2)
    expect(await readTensor(model.path, 'output.weight')).toHaveLength(48)
  })
})

describe('a checkpoint that cannot be served is refused', () => {
  const without = (name: string) => Object.fromEntries(Object.entries(SHAPES).filter(([key]) => key !== name))
  const refusals: [string, CheckpointFiles, string][] = [
    [
      'another architecture',
      { config: { architectures: ['T5Model'] } },
      'has the architecture "T5Model"; safetensors are converted for LlamaForCausalLM',
    ],
    ['no architecture', { config: { architectures: null } }, 'names no architecture'],
    [
      'a wrong size',
      { config: { hidden_size: '8' } },
      '"hidden_size" must be a whole number from 1 to 16777216, but is "8"',
    ],
    [
      'heads that do not divide',
      { config: { num_key_value_heads: 3 } },
      '2 attention heads do not share 3 key-value heads evenly',
    ],
    ['another activation', { config: { hidden_act: 'gelu' } }, '"hidden_act" must be "silu", but is "gelu"'],
    ['quantized weights', { config: { quantization_config: {} } }, 'already quantized'],
    [
      'a missing tensor',
      { weights: { 'model.safetensors': safetensors(without('model.norm.weight'), 'F16') } },
      'lacks tensor "model.norm.weight"',
    ],
    [
      'a tensor too many',
      { weights: { 'model.safetensors': safetensors({ ...SHAPES, odd: [1] }, 'F16') } },
      'has tensor "odd", which the architecture',
    ],
    [
      'a tensor of another shape',
      { weights: { 'model.safetensors': safetensors({ ...SHAPES, 'model.norm.weight': [9] }, 'F16') } },
      'of shape [9], but should be [8]',
    ],
    [
      'a truncated file',
      { weights: { 'model.safetensors': safetensors(SHAPES, 'F16').subarray(0, -1) } },
      'is truncated',
    ],
    [
      'a file of something else',
      { weights: { 'model.safetensors': 'These are only notes.' } },
      'is no safetensors file',
    ],
    [
      'a shard outside the folder',
      { weights: { 'model.safetensors.index.json': '{"weight_map":{"a":"../x.safetensors"}}' } },
      'is no file name of a shard',
    ],
    ['a folder without weights', { weights: {} }, 'without a .safetensors or .gguf file'],
    [
      'several models',
      { weights: { 'a.gguf': '', 'b.gguf': '' } },
      'several models; give one of them: a.gguf, b.gguf',
    ],
  ]
  it.each(refusals)('%s', async (_, files, words) => {
    const checkpoint = await writeCheckpoint(files)
    await expect(checkModelFiles(optionsFor(checkpoint))).rejects.toMatchObject({
      name: 'StartError',
      exitCode: 1,
    })
    await expect(checkModelFiles(optionsFor(checkpoint))).rejects.toThrow(words)
  })

  it('a missing file', async () => {
    const checkpoint = await writeCheckpoint()
    await rm(join(checkpoint, 'tokenizer.json'))
    await expect(checkModelFiles(optionsFor(checkpoint))).rejects.toThrow('needs it (--tokenizer)')
    await expect(checkModelFiles(optionsFor(join(folder, 'nowhere')))).rejects.toThrow(
      'nowhere: it does not exist',
    )
    await expect(checkModelFiles(optionsFor(join(checkpoint, 'config.json')))).rejects.toThrow('is no model')
  })

  it.each([
    [Number.NaN, 'holds a NaN or an Infinity in tensor "model.norm.weight"'],
    [1e6, 'holds a number in tensor "model.embed_tokens.weight" that is too large for F16'],
  ])('a weight of %s, and nothing stays behind', async (bad, words) => {
    const name = Number.isNaN(bad) ? 'model.norm.weight' : 'model.embed_tokens.weight'
    const values = (tensor: string, shape: number[]) =>
      tensor === name ? valuesOf(tensor, shape).fill(bad) : valuesOf(tensor, shape)
    const checkpoint = await writeCheckpoint({
      weights: { 'model.safetensors': safetensors(SHAPES, 'F32', values) },
    })
    await expect(resolve(checkpoint, { tensorType: 'f16' })).rejects.toThrow(words)
    expect(await modelFiles()).toEqual([])
  })
})

describe('the cache', () => {
  const mustNotConvert = () => Promise.reject(new Error('converted again'))

  it('gives the same file for the same content, wherever it lies', async () => {
    const first = await resolve(await writeCheckpoint())
    const copy = await writeCheckpoint({ name: 'copy' })
    const second = await resolve(copy, { convert: mustNotConvert })
    expect(second).toMatchObject({ isNewConversion: false, model: { path: first.model.path } })
    await writeFile(join(folder, 'data', 'models', 'hashes.json'), 'damaged')
    expect(await resolve(copy, { convert: mustNotConvert })).toMatchObject({ isNewConversion: false })
  })

  it('converts again when any input differs', async () => {
    const checkpoint = await writeCheckpoint()
    const paths = [await resolve(checkpoint), await resolve(checkpoint, { tensorType: 'f32' })]
    await writeFile(join(checkpoint, 'generation_config.json'), '{"eos_token_id":[5,4]}')
    paths.push(await resolve(checkpoint))
    await writeCheckpoint({ config: { rope_theta: 5000 } })
    paths.push(await resolve(checkpoint))
    await writeCheckpoint({
      weights: { 'model.safetensors': safetensors(SHAPES, 'BF16') },
      config: { rope_theta: 5000 },
    })
    paths.push(await resolve(checkpoint))
    await writeFile(join(checkpoint, 'tokenizer_config.json'), '{"chat_template":"x"}')
    paths.push(await resolve(checkpoint))
    expect(new Set(paths.map(({ model }) => model.path)).size).toBe(paths.length)
  })

  it('replaces a cached file that was damaged', async () => {
    const checkpoint = await writeCheckpoint()
    const { model } = await resolve(checkpoint)
    const whole = await readFile(model.path)
    await writeFile(model.path, whole.subarray(0, -100))
    expect(await resolve(checkpoint)).toMatchObject({ isNewConversion: true })
    expect(await readFile(model.path)).toEqual(whole)
  })

  it('serves two that convert at once', async () => {
    const checkpoint = await writeCheckpoint()
    const [a, b] = await Promise.all([resolve(checkpoint), resolve(checkpoint)])
    expect(a.model.path).toBe(b.model.path)
    expect(await modelFiles()).toHaveLength(1)
  })

  it('removes what a killed conversion left a day ago, and nothing younger', async () => {
    const models = join(folder, 'data', 'models')
    await mkdir(models, { recursive: true })
    await writeFile(join(models, 'old.gguf.1.tmp'), '')
    await writeFile(join(models, 'young.gguf.2.tmp'), '')
    const twoDaysAgo = Date.now() / 1000 - 2 * 86_400
    await utimes(join(models, 'old.gguf.1.tmp'), twoDaysAgo, twoDaysAgo)
    await resolve(await writeCheckpoint())
    expect((await modelFiles()).filter((name) => name.endsWith('.tmp'))).toEqual(['young.gguf.2.tmp'])
  })

  it('stops when it is told to, and leaves nothing behind', async () => {
    const controller = new AbortController()
    const onProgress = () => controller.abort()
    await expect(resolve(await writeCheckpoint(), { onProgress, signal: controller.signal })).rejects.toThrow(
      'aborted',
    )
    expect(await modelFiles()).toEqual([])
  })

  it('asks for room on the disk first', () => {
    const room = { folder: '/data/models', neededBytes: 1_000_000_000, freeBytes: 5_000_000 }
    expect(() => checkRoom(room)).toThrow(
      'needs 1000000000 bytes in /data/models, but only 5000000 are free.',
    )
    expect(() => checkRoom({ ...room, freeBytes: 2_000_000_000 })).not.toThrow()
  })
})

describe('a GGUF file', () => {
  it('is served as it is, alone or as the only one in a folder', async () => {
    const { model } = await resolve(await writeCheckpoint())
    const served = await resolve(model.path, { convert: () => Promise.reject(new Error('converted')) })
    expect(served).toMatchObject({ isNewConversion: false, model: { path: model.path } })
    expect((await resolve(dirname(model.path))).model.path).toBe(model.path)
  })

  it('takes no tokenizer and notices damage', async () => {
    const { model } = await resolve(await writeCheckpoint())
    await expect(checkModelFiles(optionsFor(model.path, { tokenizer: 'tokenizer.json' }))).rejects.toThrow(
      '--tokenizer',
    )
    await writeFile(model.path, (await readFile(model.path)).subarray(0, 5000))
    await expect(checkModelFiles(optionsFor(model.path))).rejects.toThrow('is truncated')
  })
})

describe('the worker thread', () => {
  /** Builds the worker's files as the package has them, because Node 20 runs no TypeScript in a thread. */
  async function importBuilt(): Promise<typeof import('./convert-in-worker.ts')> {
    const built = join(folder, 'built')
    const root = join(import.meta.dirname, '..', '..')
    const flags =
      '--ignoreConfig --target es2023 --module nodenext --rewriteRelativeImportExtensions --skipLibCheck --types node'
    await promisify(execFile)(
      process.execPath,
      [
        join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
        ...flags.split(' '),
        '--rootDir',
        'src',
        '--outDir',
        built,
        'src/weights/conversion-worker.ts',
      ],
      { cwd: root },
    )
    await writeFile(join(built, 'package.json'), '{"type":"module"}')
    return import(/* @vite-ignore */ pathToFileURL(join(built, 'weights', 'convert-in-worker.js')).href)
  }

  it('converts as the main thread does, reports progress, and hands on what is wrong', async () => {
    const { convertInWorker } = await importBuilt()
    const checkpoint = await writeCheckpoint()
    const expected = await readFile((await resolve(checkpoint)).model.path)
    const progress: number[] = []
    const dataDir = join(folder, 'worker-data')
    const { model } = await resolve(checkpoint, {
      dataDir,
      convert: convertInWorker,
      onProgress: (share) => progress.push(share),
    })
    expect(await readFile(model.path)).toEqual(expected)
    expect(progress.at(-1)).toBeGreaterThan(0.9)

    await appendFile(join(checkpoint, 'model.safetensors'), 'x')
    const source = await checkModelFiles(optionsFor(await writeCheckpoint({ name: 'whole' })))
    if (source.kind !== 'hugging-face') throw new Error('not a checkpoint')
    const damaged = { ...source, weightsPath: join(checkpoint, 'model.safetensors') }
    const conversion = convertInWorker({
      source: damaged,
      tensorType: 'f32',
      outputPath: join(folder, 'x.gguf'),
    })
    await expect(conversion).rejects.toThrow('is corrupted: its tensors end at byte')
    const aborted = convertInWorker({
      source,
      tensorType: 'f32',
      outputPath: join(folder, 'y.gguf'),
      signal: AbortSignal.abort(),
    })
    await expect(aborted).rejects.toThrow('aborted')
  }, 20_000)
})
