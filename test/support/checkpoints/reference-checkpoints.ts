/**
 * The tiny checkpoints that `tools/checkpoints/generate.py` computed references for, written to a folder in the
 * Hugging Face layout.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FloatType } from '../../../src/checkpoints/gguf/float-conversion.ts'
import { hashedBytes, hashedTensor } from './hashed-weights.ts'
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
  /** Whether the experts of a layer are one tensor, gate above up. */
  readonly fused?: boolean
  readonly prompt: readonly number[]
  readonly logits: readonly LogitsRow[]
  readonly greedy: readonly number[]
  readonly gaps: readonly number[]
}

interface LogitsRow {
  readonly position: number
  readonly values: readonly number[]
  /** As llama.cpp rounds: GELU looked up in a table of half precision; what is multiplied by MXFP4 in 8 bits. */
  readonly rounded_as_llama?: readonly number[]
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

const EXPERT = /^(?<layer>.*\.experts)\.\d+\.(?<part>gate|up|down)_proj\.weight$/

/** The tensors that are one in the file, by its name. */
function fuseExperts(shapes: Shapes): ReadonlyMap<string, string[]> {
  const fused = new Map<string, string[]>()
  for (const name of Object.keys(shapes)) {
    const { layer, part } = EXPERT.exec(name)?.groups ?? {}
    const whole = layer === undefined ? name : `${layer}.${part === 'down' ? 'down' : 'gate_up'}_proj`
    fused.set(whole, [...(fused.get(whole) ?? []), name])
  }
  return fused
}

function fusedShape(shapes: readonly (readonly number[])[], name: string): number[] {
  const [[rows = 0, columns = 0] = []] = shapes
  if (shapes.length === 1) return [...(shapes[0] ?? [])]
  const perExpert = name.endsWith('gate_up_proj') ? 2 : 1
  return [shapes.length / perExpert, rows * perExpert, columns]
}

function weightFiles(reference: LogitsCase): Record<string, string | Buffer> {
  const { config, dtype, shards, stored } = reference
  const isGemma = String(config['architectures']).startsWith('Gemma')
  const own = new Map(Object.entries(stored ?? {}).map(([name, storedName]) => [storedName, name]))
  const values = (name: string, shape: number[]) =>
    hashedBytes(name, shape) ?? hashedTensor(own.get(name) ?? name, shape, isGemma ? 0 : 1)
  const parts = reference.fused === true ? fuseExperts(reference.shapes) : new Map<string, string[]>()
  const fusedValues = (name: string, shape: number[]) => {
    const names = parts.get(name) ?? []
    if (names.length < 2) return values(name, shape)
    return Float32Array.from(names.flatMap((part) => [...values(part, reference.shapes[part] ?? [])]))
  }
  const all =
    parts.size === 0
      ? reference.shapes
      : Object.fromEntries(
          Array.from(parts, ([name, names]) => [
            name,
            fusedShape(
              names.map((part) => reference.shapes[part] ?? []),
              name,
            ),
          ]),
        )
  const renamed = Object.entries(all).map(([name, shape]) => [stored?.[name] ?? name, shape])
  const shapes: Shapes = { ...Object.fromEntries(renamed), ...(stored !== undefined && OF_IMAGES) }
  if (shards === 1) return { 'model.safetensors': safetensors(shapes, dtype, fusedValues) }
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
        safetensors(shard(fileOf(index)), dtype, fusedValues),
      ]),
    ),
  }
}
