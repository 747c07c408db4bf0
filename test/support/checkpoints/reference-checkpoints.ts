/**
 * The tiny checkpoints that `tools/checkpoints/generate.py` computed references for, written to a folder in the
 * Hugging Face layout.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FloatType } from '../../../src/checkpoints/gguf/float-conversion.ts'
import { hashedTensor } from './hashed-weights.ts'
import { safetensors, type Shapes } from './tiny-checkpoint.ts'

const REFERENCES = join(import.meta.dirname, '../../model/reference/checkpoints')

export interface LogitsCase {
  readonly name: string
  readonly config: Readonly<Record<string, unknown>>
  readonly tokenizer: string
  readonly dtype: FloatType
  readonly shards: number
  /** What a sequence may grow to. */
  readonly context: number
  readonly shapes: Shapes
  /** Names of tensors in the file, where they differ, as in models that take images too. */
  readonly stored?: Readonly<Record<string, string>>
  readonly prompt: readonly number[]
  readonly logits: readonly LogitsRow[]
  readonly greedy: readonly number[]
  readonly gaps: readonly number[]
}

interface LogitsRow {
  readonly position: number
  readonly values: readonly number[]
  /** With GELU looked up in a table of half precision, as llama.cpp does. */
  readonly by_table?: readonly number[]
}

export interface TokenizerCase {
  readonly name: string
  readonly json: Readonly<Record<string, unknown>>
  /** tokenizer.model in base64. */
  readonly model?: string
  readonly bos: string | null
  readonly eos: string
  readonly cases: readonly (readonly [text: string, ids: readonly number[]])[]
}

export async function readReference<Case>(name: 'logits' | 'tokenizers'): Promise<Case[]> {
  return JSON.parse(await readFile(join(REFERENCES, `${name}.json`), 'utf8')).cases
}

interface CheckpointParts {
  readonly reference: LogitsCase
  readonly tokenizer: TokenizerCase
  readonly hasPieceModel?: boolean
}

/** Resolves with the folder. */
export async function writeReference(folder: string, parts: CheckpointParts): Promise<string> {
  const { reference, tokenizer, hasPieceModel = false } = parts
  await mkdir(folder, { recursive: true })
  const files: Record<string, string | Buffer> = {
    'config.json': JSON.stringify(reference.config),
    'tokenizer.json': JSON.stringify(tokenizer.json),
    'tokenizer_config.json': JSON.stringify({
      bos_token: tokenizer.bos,
      eos_token: { content: tokenizer.eos },
    }),
    ...weightFiles(reference),
    ...(hasPieceModel && tokenizer.model !== undefined
      ? { 'tokenizer.model': Buffer.from(tokenizer.model, 'base64') }
      : {}),
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return folder
}

/** What a model that takes images has beside those of text. */
const OF_IMAGES: Shapes = {
  'vision_tower.vision_model.embeddings.patch_embedding.weight': [4, 3, 2, 2],
  'model.multi_modal_projector.linear_1.weight': [4, 4],
}

function weightFiles(reference: LogitsCase): Record<string, string | Buffer> {
  const { config, dtype, shards, stored } = reference
  const isGemma = String(config['architectures']).startsWith('Gemma')
  const own = new Map(Object.entries(stored ?? {}).map(([name, storedName]) => [storedName, name]))
  const values = (name: string, shape: number[]) =>
    hashedTensor(own.get(name) ?? name, shape, isGemma ? 0 : 1)
  const renamed = Object.entries(reference.shapes).map(([name, shape]) => [stored?.[name] ?? name, shape])
  const shapes: Shapes = { ...Object.fromEntries(renamed), ...(stored !== undefined && OF_IMAGES) }
  if (shards === 1) return { 'model.safetensors': safetensors(shapes, dtype, values) }
  const fileOf = (index: number) => `model-0000${(index % shards) + 1}-of-0000${shards}.safetensors`
  const names = Object.keys(shapes)
  const weight_map = Object.fromEntries(names.map((name, index) => [name, fileOf(index)]))
  const shard = (file: string) =>
    Object.fromEntries(Object.entries(shapes).filter(([name]) => weight_map[name] === file))
  return {
    'model.safetensors.index.json': JSON.stringify({ metadata: {}, weight_map }),
    ...Object.fromEntries(
      Array.from({ length: shards }, (_, index) => [
        fileOf(index),
        safetensors(shard(fileOf(index)), dtype, values),
      ]),
    ),
  }
}
