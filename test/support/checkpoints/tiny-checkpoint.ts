/**
 * Builders for tests: checkpoints of a few hundred numbers in the Hugging Face layout, and a look into what was
 * converted from them. Not part of the program.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { convertFloats, type FloatType } from '../../../src/checkpoints/gguf/float-conversion.ts'
import { readGgufFile } from '../../../src/checkpoints/gguf/gguf-file.ts'

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

export type Shapes = Record<string, number[]>
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
export const SHAPES: Shapes = {
  'model.embed_tokens.weight': [6, 8],
  'model.norm.weight': [8],
  ...Object.fromEntries(
    [0, 1].flatMap((layer) =>
      Object.entries(LAYER).map(([name, shape]) => [`model.layers.${layer}.${name}`, shape]),
    ),
  ),
}

/** Small fractions that F16 and BF16 hold exactly, another series for each tensor. */
export function valuesOf(name: string, shape: number[]): Float32Array {
  const count = shape.reduce((product, size) => product * size, 1)
  return Float32Array.from(
    { length: count },
    (_, index) => (((index * 7 + name.length * 13) % 101) - 50) / 64,
  )
}

/** @param values of each tensor; bytes or integers where it is one of these, whatever the type of the others */
export function safetensors(
  shapes: Shapes,
  dtype: FloatType,
  values: (name: string, shape: number[]) => Float32Array | Uint8Array | Int8Array = valuesOf,
): Buffer {
  let offset = 0
  const data: Uint8Array[] = []
  const header: Record<string, object> = {}
  for (const [name, shape] of Object.entries(shapes)) {
    const given = values(name, shape)
    const stored = given instanceof Uint8Array ? 'U8' : given instanceof Int8Array ? 'I8' : dtype
    const own = new Uint8Array(given.buffer)
    const bytes = given instanceof Float32Array ? convertFloats(own, 'F32', dtype) : own
    header[name] = { dtype: stored, shape, data_offsets: [offset, offset + bytes.length] }
    offset += bytes.length
    data.push(bytes)
  }
  const headerBytes = Buffer.from(JSON.stringify(header))
  const lengthBytes = Buffer.alloc(8)
  lengthBytes.writeBigUInt64LE(BigInt(headerBytes.length))
  return Buffer.concat([lengthBytes, headerBytes, ...data])
}

export interface CheckpointFiles {
  name?: string
  config?: object
  tokenizer?: object
  /** File name → content. */
  weights?: Record<string, Buffer | string>
}

export async function writeCheckpoint(
  folder: string,
  { name = 'model', config = {}, tokenizer = {}, weights }: CheckpointFiles = {},
): Promise<string> {
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

/** A tensor of a converted model, widened to F32. */
export async function readTensor(path: string, name: string): Promise<number[]> {
  const { header } = await readGgufFile(path)
  const tensor = header.tensors.find((candidate) => candidate.name === name)
  if (tensor === undefined) throw new Error(`no tensor ${name}`)
  const begin = header.dataOffsetBytes + tensor.offsetBytes
  const bytes = Uint8Array.from((await readFile(path)).subarray(begin, begin + tensor.sizeBytes))
  return Array.from(new Float32Array(convertFloats(bytes, tensor.type as FloatType, 'F32').slice().buffer))
}
