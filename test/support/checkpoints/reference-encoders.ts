/**
 * The tiny encoders that `tools/checkpoints/encoders.py` had transformers compute, written to a folder in the Hugging Face
 * layout.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FloatType } from '../../../src/checkpoints/gguf/float-conversion.ts'
import { hashedTensor } from './hashed-weights.ts'
import { safetensors, type Shapes } from './tiny-checkpoint.ts'

const REFERENCES = join(import.meta.dirname, '../../model/reference/checkpoints/encoders.json')

export interface EncoderCase {
  readonly name: string
  /** Null for a reranking model. */
  readonly pooling: 'mean' | 'cls' | null
  readonly config: Readonly<Record<string, unknown>>
  readonly tokenizer: Readonly<Record<string, unknown>>
  readonly tokenizerConfig: Readonly<Record<string, unknown>>
  readonly shapes: Shapes
  readonly rows: readonly EncoderRow[]
}

interface EncoderRow {
  /** Null for a text that is read alone. */
  readonly query: string | null
  readonly text: string
  /** Of both, with what stands around and between them. */
  readonly ids: readonly number[]
  /** A vector of length 1, or one score. */
  readonly values: readonly number[]
}

export async function readEncoders(): Promise<readonly EncoderCase[]> {
  return JSON.parse(await readFile(REFERENCES, 'utf8')).cases
}

/** Resolves with the folder. */
export async function writeEncoder(
  folder: string,
  encoder: EncoderCase,
  dtype: FloatType = 'F32',
): Promise<string> {
  await mkdir(join(folder, '1_Pooling'), { recursive: true })
  const files = {
    'config.json': JSON.stringify(encoder.config),
    'tokenizer.json': JSON.stringify(encoder.tokenizer),
    'tokenizer_config.json': JSON.stringify(encoder.tokenizerConfig),
    'model.safetensors': safetensors(encoder.shapes, dtype, encoderWeights),
    ...(encoder.pooling !== null && {
      '1_Pooling/config.json': JSON.stringify({
        pooling_mode_cls_token: encoder.pooling === 'cls',
        pooling_mode_mean_tokens: encoder.pooling === 'mean',
      }),
    }),
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return folder
}

/** As `weights` in `encoders.py`. */
function encoderWeights(name: string, shape: readonly number[]): Float32Array {
  const values = hashedTensor(name, shape, 1)
  return name.endsWith('LayerNorm.weight')
    ? values.map((value) => 1 + value)
    : values.map((value) => value * 2)
}
