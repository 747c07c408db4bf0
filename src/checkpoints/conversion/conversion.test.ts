import { mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useConversions } from '../../../test/support/checkpoints/conversions.ts'
import { StartError } from '../../core/errors.ts'
import {
  type CheckpointFiles,
  readTensor,
  safetensors,
  type Shapes,
  SHAPES,
  valuesOf,
} from '../../../test/support/checkpoints/tiny-checkpoint.ts'

const conversions = useConversions()
const { check, converted, folder, resolve, write, modelFiles } = conversions

type ScaleStrategy = 'channel' | 'tensor' | 'group'

/** As llm-compressor writes it. */
function int8Config(strategy: ScaleStrategy, weights: object = {}): object {
  const group = {
    targets: ['Linear'],
    weights: { num_bits: 8, type: 'int', symmetric: true, strategy, ...weights },
    input_activations: { num_bits: 8, type: 'int', symmetric: true, strategy: 'token', dynamic: true },
  }
  const format = { quant_method: 'compressed-tensors', format: 'int-quantized', ignore: ['lm_head'] }
  return { quantization_config: { ...format, config_groups: { group_0: group } } }
}

/** The numbers of the matrices of layers, all of them 64ths, with scales: a 64th, by channel a 128th for every other row. */
function int8Of(name: string, shape: number[], strategy: ScaleStrategy): Float32Array | Int8Array {
  const values = valuesOf(name, shape)
  if (!name.endsWith('proj.weight')) return values
  const [, columns = 1] = shape
  return Int8Array.from(values, (value, i) => value * scaleOf(Math.floor(i / columns), strategy) ** -1)
}

function scaleOf(row: number, strategy: ScaleStrategy): number {
  return strategy === 'channel' && row % 2 === 1 ? 1 / 128 : 1 / 64
}

function int8Weights(
  strategy: ScaleStrategy,
  dtype: 'F32' | 'F16' | 'BF16',
  { extraRows = 0, scale }: { readonly extraRows?: number; readonly scale?: number } = {},
): Buffer {
  const matrices = Object.entries(SHAPES).filter(([name]) => name.endsWith('proj.weight'))
  const scales = matrices.map(([name, [rows = 0]]): [string, number[]] => {
    return [`${name}_scale`, [(strategy === 'channel' ? rows : 1) + extraRows, 1]]
  })
  const shapes: Shapes = { ...SHAPES, ...Object.fromEntries(scales) }
  return safetensors(shapes, dtype, (name, shape) =>
    name.endsWith('_scale')
      ? Float32Array.from({ length: shape[0] ?? 0 }, (_, row) => scale ?? scaleOf(row, strategy))
      : int8Of(name, shape, strategy),
  )
}

const hfValues = (name: string) => Array.from(valuesOf(name, SHAPES[name] ?? []))

describe('a converted checkpoint', () => {
  it('has the metadata and the tensors that llama.cpp expects', async () => {
    const { model } = await resolve(await write())
    expect(converted()).toBe(1)
    expect(model).toMatchObject({ architecture: 'llama' })
    const metadata = Object.fromEntries(
      Array.from(model.metadata, ([key, value]) => [key, 'value' in value ? value.value : null]),
    )
    expect(metadata).toMatchObject({
      'general.file_type': 1,
      'general.name': 'llama 1.0K',
      'general.size_label': '1.0K',
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
    const { model } = await resolve(await write())
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
    const checkpoint = await write({ weights: { 'model.safetensors': safetensors(SHAPES, dtype) } })
    for (const tensorType of ['f32', 'f16', 'bf16', 'source'] as const) {
      const { model } = await resolve(checkpoint, { tensorType })
      expect(await readTensor(model.path, 'blk.0.ffn_up.weight')).toEqual(
        hfValues('model.layers.0.mlp.up_proj.weight'),
      )
    }
  })

  it('is the same from a model that was saved without its head, as embedders are', async () => {
    const bare = Object.fromEntries(
      Object.entries(SHAPES).map(([name, shape]) => [name.replace(/^model\./, ''), shape]),
    )
    const valueOf = (name: string, shape: number[]) => valuesOf(`model.${name}`, shape)
    const weights = { 'model.safetensors': safetensors(bare, 'F16', valueOf) }
    const headless = await resolve(await write({ name: 'headless', weights }))
    const whole = await resolve(await write())

    expect(await readFile(headless.model.path)).toEqual(await readFile(whole.model.path))
  })

  it('is the same from shards as from one file', async () => {
    const names = Object.keys(SHAPES)
    const shard = (odd: number) =>
      Object.fromEntries(Object.entries(SHAPES).filter((_, index) => index % 2 === odd))
    const weight_map = Object.fromEntries(names.map((name, index) => [name, `part-${index % 2}.safetensors`]))
    const sharded = await write({
      name: 'sharded',
      weights: {
        'part-0.safetensors': safetensors(shard(0), 'F16'),
        'part-1.safetensors': safetensors(shard(1), 'F16'),
        'model.safetensors.index.json': JSON.stringify({ weight_map }),
      },
    })
    const single = await resolve(await write())
    const fromShards = await resolve(sharded)
    expect(await readFile(fromShards.model.path)).toEqual(await readFile(single.model.path))
  })

  it.each(['channel', 'tensor'] as const)(
    'is the same from 8-bit integers with a scale by %s',
    async (strategy) => {
      const inF16 = { tensorType: 'f16' } as const
      const expected = await readFile((await resolve(await write(), inF16)).model.path)
      for (const dtype of ['F32', 'F16', 'BF16'] as const) {
        const weights = { 'model.safetensors': int8Weights(strategy, dtype) }
        const int8 = await write({ name: `int8-${dtype}`, config: int8Config(strategy), weights })
        expect(await readFile((await resolve(int8, inF16)).model.path)).toEqual(expected)
      }
    },
  )

  it('has F16 matrices from 8-bit integers, and none where a scale is no number or too large', async () => {
    const config = int8Config('tensor')
    const good = await write({ config, weights: { 'model.safetensors': int8Weights('tensor', 'BF16') } })
    const { tensors } = (await resolve(good)).model
    expect(tensors.find(({ name }) => name === 'blk.0.ffn_up.weight')?.type).toBe('F16')
    const weights = { 'model.safetensors': int8Weights('tensor', 'F32', { scale: Number.NaN }) }
    await expect(resolve(await write({ name: 'bad', config, weights }))).rejects.toThrow(
      'holds a NaN or an Infinity in tensor "model.layers.0.self_attn.q_proj.weight"',
    )
    const large = { 'model.safetensors': int8Weights('tensor', 'F32', { scale: 1e6 }) }
    await expect(resolve(await write({ name: 'large', config, weights: large }))).rejects.toThrow(
      'holds a number in tensor "model.layers.0.self_attn.q_proj.weight" that is too large for F16',
    )
  })

  it('is the same from whatever the formats allow', async () => {
    const expected = await readFile((await resolve(await write())).model.path)
    const extra = {
      'model.rotary_emb.inv_freq': [0],
      [`model.layers.0.${'x'.repeat(5000)}.rotary_emb.inv_freq`]: [3],
      // Tied: it says nothing that the embeddings do not.
      'lm_head.weight': [6, 8],
    }
    const spread = respaced(safetensors({ ...SHAPES, ...extra }, 'F16'))
    const plain = await write({ name: 'allowed', weights: { 'model.safetensors': spread } })
    expect(await readFile((await resolve(plain)).model.path)).toEqual(expected)

    const names = [...Object.keys(SHAPES), ...Object.keys(extra)]
    const index = {
      metadata: { total_size: 1 },
      weight_map: Object.fromEntries(names.map((name) => [name, 'model-00001-of-00001.safetensors'])),
    }
    const cached = await write({
      name: 'blobs',
      weights: {
        'model-00001-of-00001.safetensors': spread,
        'model.safetensors.index.json': JSON.stringify(index),
      },
    })
    const snapshot = join(folder(), 'snapshots', 'c0ffee')
    await mkdir(snapshot, { recursive: true })
    for (const name of await readdir(cached)) await symlink(join('../../blobs', name), join(snapshot, name))
    expect(await readFile((await resolve(snapshot)).model.path)).toEqual(expected)
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
      await write({ config, weights: { 'model.safetensors': safetensors(shapes, 'F16') } }),
    )
    const bias = Array.from(valuesOf('model.layers.0.self_attn.q_proj.bias', [8]))
    expect(await readTensor(model.path, 'blk.0.attn_q.bias')).toEqual(
      [0, 2, 1, 3, 4, 6, 5, 7].map((row) => bias[row]),
    )
    expect(await readTensor(model.path, 'rope_freqs.weight')).toHaveLength(2)
    expect(await readTensor(model.path, 'output.weight')).toHaveLength(48)
  })
})

/** With metadata, and a header that ends in spaces so that the data begins at an odd place. */
function respaced(file: Buffer): Buffer {
  const length = Number(file.readBigUInt64LE(0))
  const header = JSON.parse(file.toString('utf8', 8, 8 + length)) as object
  const json = JSON.stringify({ ...header, __metadata__: { format: 'pt' } })
  const padded = Buffer.from(json + ' '.repeat(json.length % 2 === 0 ? 3 : 4))
  const lengthBytes = Buffer.alloc(8)
  lengthBytes.writeBigUInt64LE(BigInt(padded.length))
  return Buffer.concat([lengthBytes, padded, file.subarray(8 + length)])
}

/** Another type for all tensors, of as many bytes. */
function retyped(dtype: 'I16' | 'F8_E4M3'): Buffer {
  const scale = dtype === 'I16' ? 1 : 2
  const shapes = Object.fromEntries(
    Object.entries(SHAPES).map(([name, shape]) => [
      name,
      [...shape.slice(0, -1), (shape.at(-1) ?? 0) / scale],
    ]),
  )
  const file = safetensors(shapes, 'F16')
  const length = Number(file.readBigUInt64LE(0))
  const header = JSON.parse(file.toString('utf8', 8, 8 + length)) as Record<string, object>
  const entries = Object.entries(header).map(([name, entry]) => [
    name,
    { ...entry, dtype, shape: SHAPES[name] },
  ])
  const headerBytes = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
  const lengthBytes = Buffer.alloc(8)
  lengthBytes.writeBigUInt64LE(BigInt(headerBytes.length))
  return Buffer.concat([lengthBytes, headerBytes, file.subarray(8 + length)])
}

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
      'integers with a zero point',
      { config: int8Config('channel', { symmetric: false }) },
      'already quantized',
    ],
    ['integers of 4 bits', { config: int8Config('channel', { num_bits: 4 }) }, 'already quantized'],
    ['scales by group', { config: int8Config('group') }, 'already quantized'],
    [
      'integers without scales',
      {
        config: int8Config('channel'),
        weights: {
          'model.safetensors': safetensors(SHAPES, 'F32', (name, shape) => int8Of(name, shape, 'tensor')),
        },
      },
      'lacks tensor "model.layers.0.self_attn.q_proj.weight_scale"',
    ],
    [
      'another number of scales',
      {
        config: int8Config('channel'),
        weights: { 'model.safetensors': int8Weights('channel', 'F32', { extraRows: 1 }) },
      },
      'of type F32 and shape [9, 1]; 8 floats are wanted, or one',
    ],
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
    const checkpoint = await write(files)
    await expect(check(checkpoint)).rejects.toMatchObject({
      name: 'StartError',
      exitCode: 1,
    })
    await expect(check(checkpoint)).rejects.toThrow(words)
  })

  it('a missing file', async () => {
    const checkpoint = await write()
    await rm(join(checkpoint, 'tokenizer.json'))
    await expect(check(checkpoint)).rejects.toThrow('needs it (--tokenizer)')
    await expect(check(join(conversions.folder(), 'nowhere'))).rejects.toThrow('nowhere: it does not exist')
    await expect(check(join(checkpoint, 'config.json'))).rejects.toThrow('is no model')
  })

  it.each([
    [Number.NaN, 'holds a NaN or an Infinity in tensor "model.norm.weight"'],
    [1e6, 'holds a number in tensor "model.embed_tokens.weight" that is too large for F16'],
  ])('a weight of %s, and nothing stays behind', async (bad, words) => {
    const name = Number.isNaN(bad) ? 'model.norm.weight' : 'model.embed_tokens.weight'
    const values = (tensor: string, shape: number[]) =>
      tensor === name ? valuesOf(tensor, shape).fill(bad) : valuesOf(tensor, shape)
    const checkpoint = await write({
      weights: { 'model.safetensors': safetensors(SHAPES, 'F32', values) },
    })
    await expect(resolve(checkpoint, { tensorType: 'f16' })).rejects.toThrow(words)
    expect(await modelFiles()).toEqual([])
  })
})

describe('a damaged checkpoint is one sentence, and leaves nothing in the cache', () => {
  const whole = safetensors(SHAPES, 'F16')
  const withLength = (length: bigint) => {
    const bytes = Buffer.from(whole)
    bytes.writeBigUInt64LE(length)
    return bytes
  }
  const corrupted = Buffer.from(whole)
  corrupted.fill(0x7b, 8, 40)
  const shardNames = { a: 'a.safetensors', b: 'b.safetensors' }
  const sharded = (changes: Record<string, Buffer | string>) => {
    const half = (odd: number) =>
      Object.fromEntries(Object.entries(SHAPES).filter((_, index) => index % 2 === odd))
    const weight_map = Object.fromEntries(
      Object.keys(SHAPES).map((name, index) => [name, index % 2 === 0 ? shardNames.a : shardNames.b]),
    )
    return {
      'model.safetensors.index.json': JSON.stringify({ weight_map }),
      [shardNames.a]: safetensors(half(0), 'F16'),
      [shardNames.b]: safetensors(half(1), 'F16'),
      ...changes,
    }
  }
  const half = safetensors(Object.fromEntries(Object.entries(SHAPES).filter((_, at) => at % 2 === 1)), 'F16')
  const index = (file: string) => JSON.stringify({ weight_map: { 'model.norm.weight': file } })
  const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`

  const damages: [string, Record<string, Buffer | string>, RegExp][] = [
    ['a corrupted header', { 'model.safetensors': corrupted }, /model\.safetensors is not valid JSON\.$/],
    [
      'a header length of 2^60',
      { 'model.safetensors': withLength(2n ** 60n) },
      /is no safetensors file: its header would be 1152921504606846976 bytes long\.$/,
    ],
    ['a header longer than the file', { 'model.safetensors': withLength(99_999_999n) }, /is truncated/],
    ['a truncated shard', sharded({ [shardNames.b]: half.subarray(0, -7) }), /b\.safetensors is truncated/],
    ['an empty shard', sharded({ [shardNames.b]: '' }), /b\.safetensors is no safetensors file/],
    [
      'a tensor of the wrong shape',
      { 'model.safetensors': safetensors({ ...SHAPES, 'model.norm.weight': [4, 2] }, 'F16') },
      /has tensor "model\.norm\.weight" of shape \[4, 2\], but should be \[8\] by its config\.$/,
    ],
    [
      'a path out of the folder',
      { 'model.safetensors.index.json': index('../../model.safetensors') },
      /is unusable: "\.\.\/\.\.\/model\.safetensors" is no file name of a shard\.$/,
    ],
    [
      'an object in the place of a path, which has no text',
      { 'model.safetensors.index.json': JSON.stringify({ weight_map: { a: { toString: 1 } } }) },
      /is no file name of a shard\.$/,
    ],
    [
      'an absolute path',
      { 'model.safetensors.index.json': index('/etc/model.safetensors') },
      /is no file name of a shard\.$/,
    ],
    [
      'a shard that is missing',
      { 'model.safetensors.index.json': index('c.safetensors') },
      /c\.safetensors: it does not exist\.$/,
    ],
    [
      'weights in 8 bits',
      { 'model.safetensors': retyped('F8_E4M3') },
      /has tensor "model\.embed_tokens\.weight" of type F8_E4M3; F32, F16 and BF16 are converted\.$/,
    ],
    [
      'whole numbers',
      { 'model.safetensors': retyped('I16') },
      /of type I16; F32, F16 and BF16 are converted\.$/,
    ],
    [
      'a type that is not known',
      { 'model.safetensors': Buffer.from(whole.toString('latin1').replaceAll('F16', 'F6X'), 'latin1') },
      /has tensor ".*" of the type "F6X", which is not known\.$/,
    ],
    [
      'a tensor in two shards',
      sharded({ [shardNames.b]: whole }),
      /model\.safetensors\.index\.json is unusable: tensor ".*" is in two of its files\.$/,
    ],
    [
      'a tensor that the config has no place for',
      { 'model.safetensors': safetensors({ ...SHAPES, 'vision_tower.patch.weight': [4] }, 'F16') },
      /has tensor "vision_tower\.patch\.weight", which the architecture in its config does not have\.$/,
    ],
    [
      'endless nesting',
      { 'tokenizer.json': deep, 'model.safetensors': whole },
      /nested more than 100 deep\.$/,
    ],
  ]
  it.each(damages)('%s', async (_, weights, sentence) => {
    const checkpoint = await write({ weights })
    const failure: unknown = await resolve(checkpoint).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StartError)
    expect((failure as StartError).message).toMatch(sentence)
    expect((failure as StartError).message).not.toContain('\n')
    expect(await modelFiles()).toEqual([])
  })
})
