/**
 * LoRA adapters of random numbers for a GGUF model in F32, over all its linear layers, and the model that each is merged into:
 * W + scale * alpha / rank * B * A, in 64-bit floats.
 */
import type { NumberedAdapter } from '../../../src/protocol/adapter.ts'
import { gguf, type GgufMetadata } from '../../../src/checkpoints/gguf/gguf-format.ts'
import { openGgufModel } from '../../../src/checkpoints/gguf/gguf-file.ts'
import { layoutGguf, writeGguf } from '../../../src/checkpoints/gguf/gguf-writer.ts'
import {
  readFloats,
  type StoredTensor,
  storedTensors,
} from '../../../src/checkpoints/gguf/gguf-tensor-data.ts'

const RANK = 4
const ALPHA = 8
const LINEAR = /^blk\.\d+\.(?:attn_(?:q|k|v|output)|ffn_(?:gate|up|down))\.weight$/

interface LoraPair {
  /** Of the weight. */
  readonly name: string
  readonly columns: number
  readonly rows: number
  /** Rank times columns. */
  readonly a: Float32Array
  /** Rows times rank. */
  readonly b: Float32Array
}

/** Between -1 and 1, the same for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 31 - 1
  }
}

export interface RandomAdapterOptions {
  readonly basePath: string
  readonly path: string
  readonly seed: number
  /** How far it moves the weights. @default 0.06 */
  readonly size?: number
}

/** Writes an adapter, and resolves with it as an engine is told of it. */
export async function writeRandomAdapter(
  options: RandomAdapterOptions,
): Promise<Omit<NumberedAdapter, 'adapterId'>> {
  const pairs = await randomPairs(options)
  const metadata: GgufMetadata = new Map([
    ['general.architecture', gguf.string('llama')],
    ['general.type', gguf.string('adapter')],
    ['adapter.type', gguf.string('lora')],
    ['adapter.lora.alpha', gguf.float32(ALPHA)],
  ])
  const tensors = pairs.flatMap(({ name, columns, rows, a, b }) => [
    { name: `${name}.lora_a`, shape: [columns, RANK], type: 'F32' as const, values: a },
    { name: `${name}.lora_b`, shape: [RANK, rows], type: 'F32' as const, values: b },
  ])
  await writeGguf(options.path, layoutGguf(metadata, tensors), async function* ({ values }) {
    yield bytesOf(values)
  })
  return { modelId: 'random', path: options.path, scale: 1 }
}

/** Writes the model with such an adapter merged into it. */
export async function writeMerged(
  adapter: Omit<RandomAdapterOptions, 'path'>,
  { path, scale }: { readonly path: string; readonly scale: number },
): Promise<void> {
  const { metadata } = await openGgufModel(adapter.basePath)
  const stored = await storedTensors({ filePaths: [adapter.basePath] })
  const pairs = new Map((await randomPairs(adapter)).map((pair) => [pair.name, pair]))
  const values = new Map<string, Float32Array>()
  for (const tensor of stored) {
    const weights = await floatsOf(tensor)
    const pair = pairs.get(tensor.name)
    if (pair !== undefined) mergeInto(weights, pair, (scale * ALPHA) / RANK)
    values.set(tensor.name, weights)
  }
  const tensors = stored.map(({ name, shape }) => ({ name, shape, type: 'F32' as const }))
  await writeGguf(path, layoutGguf(metadata, tensors), async function* ({ name }) {
    yield bytesOf(values.get(name) ?? new Float32Array())
  })
}

function mergeInto(weights: Float32Array, { columns, rows, a, b }: LoraPair, factor: number): void {
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      let sum = 0
      for (let k = 0; k < RANK; k++) sum += (b[row * RANK + k] ?? 0) * (a[k * columns + column] ?? 0)
      const at = row * columns + column
      weights[at] = (weights[at] ?? 0) + factor * sum
    }
  }
}

async function randomPairs({
  basePath,
  seed,
  size = 0.06,
}: Omit<RandomAdapterOptions, 'path'>): Promise<LoraPair[]> {
  const random = randomNumbers(seed)
  const tensors = (await openGgufModel(basePath)).tensors.filter(({ name }) => LINEAR.test(name))
  return tensors.map(({ name, shape: [columns = 0, rows = 0] }) => ({
    ...{ name, columns, rows },
    a: Float32Array.from({ length: RANK * columns }, () => random() * size),
    b: Float32Array.from({ length: rows * RANK }, () => random() * size),
  }))
}

async function floatsOf(tensor: StoredTensor): Promise<Float32Array> {
  const parts: number[] = []
  for await (const chunk of readFloats(tensor)) for (const value of chunk) parts.push(value)
  return Float32Array.from(parts)
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
