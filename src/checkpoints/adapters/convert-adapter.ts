/**
 * Converts a LoRA adapter of PEFT to GGUF, as `convert_lora_to_gguf.py` of llama.cpp does: the pairs get the names of the model's
 * tensors, and where llama.cpp rotates neighbouring rows of Q and K, the rows of B are reordered as the model's own are. Alpha is
 * one number in GGUF; where a module's differs, or the adapter is rank-stabilized, B is scaled. The pairs of a layer's experts become
 * one pair of stacks, with zeros for an expert that has none. One stored tensor is in memory at a time.
 */
import { InvariantError } from '../../core/errors.ts'
import { interleaveHeadRows } from '../conversion/convert.ts'
import { badFile, quoted } from '../file-errors.ts'
import { convertFloats, findNonFinite, isFloatType } from '../gguf/float-conversion.ts'
import { numberValue } from '../gguf/gguf-file.ts'
import { gguf, type GgufMetadata, type GgufTensor } from '../gguf/gguf-format.ts'
import { layoutGguf, writeGguf } from '../gguf/gguf-writer.ts'
import { readJsonObject } from '../json-file.ts'
import { readFileChunks } from '../open-file.ts'
import { openCheckpoint, type SafetensorsTensor } from '../safetensors/safetensors-file.ts'
import type { PeftFiles } from './adapter-files.ts'
import { type BaseModel, checkFits } from './adapter-model.ts'
import {
  hasRotatedHeads,
  isOfExperts,
  LORA_ARCHITECTURES,
  type ModulePlace,
  placeOfModule,
} from './lora-modules.ts'
import { type PeftConfig, readPeftConfig } from './peft-config.ts'

const PREFIX = 'base_model.model.'
const PART = /^(?<module>.+)\.lora_(?<part>[AB])\.weight$/

interface PlannedPart extends GgufTensor {
  readonly type: 'F32'
  /** One, or one of each expert; null for an expert without. */
  readonly matrices: readonly (StoredMatrix | null)[]
  /** Rows of a head, where they are reordered. */
  readonly headRows: number | null
}

interface StoredMatrix {
  readonly source: SafetensorsTensor
  readonly scale: number
}

/** A stored tensor with the place where it belongs. */
interface StoredHalf extends StoredMatrix, ModulePlace {
  readonly rows: number
  readonly columns: number
  readonly isB: boolean
}

/** @throws StartError naming what cannot be converted, or does not fit the model */
export async function convertAdapter(
  { configPath, weightsPath }: PeftFiles,
  base: BaseModel,
  outputPath: string,
): Promise<void> {
  const config = readPeftConfig(await readJsonObject(configPath))
  const { tensors } = await openCheckpoint(weightsPath)
  const parts = planParts([...tensors.values()], config, base)
  checkFits(weightsPath, parts, base)
  const metadata: GgufMetadata = new Map([
    ['general.architecture', gguf.string(base.architecture)],
    ['general.type', gguf.string('adapter')],
    ['adapter.type', gguf.string('lora')],
    ['adapter.lora.alpha', gguf.float32(config.alpha)],
  ])
  await writeGguf(outputPath, layoutGguf(metadata, parts), dataOf)
}

/** What beside the files decides how they are converted. */
export function recipeOf({ architecture, metadata }: Pick<BaseModel, 'architecture' | 'metadata'>): string {
  const experts = numberValue(metadata, `${architecture}.expert_count`)
  const ofExperts = experts === null ? '' : ` ${experts} experts`
  return `${architecture} ${headRowsOf({ architecture, metadata }) ?? 'as they are'}${ofExperts}`
}

/** Rows of a head of Q and K, where they are reordered; null where they stay as they are. */
function headRowsOf({ architecture, metadata }: Pick<BaseModel, 'architecture' | 'metadata'>): number | null {
  if (LORA_ARCHITECTURES.get(architecture)?.interleavesHeads !== true) return null
  const read = (name: string) => numberValue(metadata, `${architecture}.${name}`)
  const [size, heads] = [read('embedding_length') ?? 0, read('attention.head_count') ?? 1]
  return read('attention.key_length') ?? size / heads
}

function planParts(
  tensors: readonly SafetensorsTensor[],
  config: PeftConfig,
  base: BaseModel,
): PlannedPart[] {
  const headRows = headRowsOf(base)
  const stacks = new Map<string, StoredHalf[]>()
  const parts: PlannedPart[] = []
  for (const source of tensors) {
    const half = readHalf(source, config)
    const name = `${half.tensor}.lora_${half.isB ? 'b' : 'a'}`
    if (half.expert === null) {
      const { rows, columns, tensor } = half
      const isReordered = half.isB && hasRotatedHeads(tensor)
      parts.push({
        ...{ name, type: 'F32', shape: [columns, rows], matrices: [half] },
        headRows: isReordered ? headRows : null,
      })
    } else {
      const stack = stacks.get(name) ?? []
      stacks.set(name, stack)
      stack.push(half)
    }
  }
  for (const [name, stack] of stacks) {
    const other = name.endsWith('a') ? name.replace(/a$/, 'b') : name.replace(/b$/, 'a')
    parts.push(planStack(stack, { name, others: stacks.get(other) ?? [] }, base))
  }
  return parts
}

function readHalf(source: SafetensorsTensor, config: PeftConfig): StoredHalf {
  const { name, filePath, shape } = source
  const { module, part } = PART.exec(name)?.groups ?? {}
  if (module === undefined)
    throw badFile(filePath, `has tensor ${quoted(name)}, which is not half of a LoRA pair of a linear layer`)
  const moduleName = module.startsWith(PREFIX) ? module.slice(PREFIX.length) : module
  const place = placeOfModule(moduleName)
  if (place === null && isOfExperts(moduleName))
    throw badFile(
      filePath,
      `has tensor ${quoted(name)}, which is for all experts of a layer at once: such an adapter is not served; merge it into its base model, and give that as a checkpoint`,
    )
  if (place === null)
    throw badFile(
      filePath,
      `has tensor ${quoted(name)}, whose layer is not one of the linear layers that are converted`,
    )
  if (shape.length !== 2)
    throw badFile(filePath, `has tensor ${quoted(name)} with ${shape.length} dimensions, not 2`)
  const [rows = 0, columns = 0] = shape
  const isB = part === 'B'
  const scale = isB ? config.alphaOf(moduleName, columns) / config.alpha : 1
  return { ...place, source, rows, columns, isB, scale }
}

/** One half of the experts of a layer; `others` are the other half. */
function planStack(
  stack: readonly StoredHalf[],
  { name, others }: { readonly name: string; readonly others: readonly StoredHalf[] },
  { tensors, modelId }: BaseModel,
): PlannedPart {
  const [first] = stack
  if (first === undefined) throw new InvariantError(`no expert has a part of ${name}`)
  const { tensor, rows, columns, source } = first
  const paired = new Set(others.map(({ expert }) => expert))
  // Where the model has no such tensor, what it has is compared with what is planned, and says so.
  const count = tensors.find((one) => one.name === tensor)?.shape[2] ?? 1
  const matrices: (StoredMatrix | null)[] = Array.from({ length: count }, () => null)
  for (const half of stack) {
    const { name: stored, filePath } = half.source
    if (!paired.has(half.expert)) throw badFile(filePath, `lacks the other half of tensor ${quoted(stored)}`)
    if (half.rows !== rows || half.columns !== columns)
      throw badFile(
        filePath,
        `has tensor ${quoted(stored)} of ${half.rows} x ${half.columns}, but ${quoted(source.name)} of ${rows} x ${columns}: experts of a layer must have one rank`,
      )
    if ((half.expert ?? 0) >= count)
      throw badFile(
        filePath,
        `has tensor ${quoted(stored)}, but its base model ${quoted(modelId)} has no such expert: it was made for another model`,
      )
    matrices[half.expert ?? 0] = half
  }
  return { name, type: 'F32', shape: [columns, rows, count], matrices, headRows: null }
}

async function* dataOf({ matrices, headRows, shape }: PlannedPart): AsyncGenerator<Uint8Array> {
  const [columns = 0, rows = 0] = shape
  for (const matrix of matrices) {
    if (matrix === null) yield new Uint8Array(columns * rows * Float32Array.BYTES_PER_ELEMENT)
    else yield await floatsOf(matrix, headRows)
  }
}

async function floatsOf({ source, scale }: StoredMatrix, headRows: number | null): Promise<Uint8Array> {
  const { name, dtype, filePath, shape, sizeBytes } = source
  if (!isFloatType(dtype))
    throw badFile(filePath, `has tensor ${quoted(name)} of type ${dtype}; F32, F16 and BF16 are converted`)
  let stored: Uint8Array = new Uint8Array()
  for await (const chunk of readFileChunks(source, Math.max(1, sizeBytes))) stored = chunk
  if (findNonFinite(stored, dtype) !== null)
    throw badFile(filePath, `holds a NaN or an Infinity in tensor ${quoted(name)}`)
  const bytes = convertFloats(stored, dtype, 'F32')
  if (scale !== 1) multiply(bytes, scale)
  const rowBytes = bytes.length / (shape[0] ?? 1)
  return headRows === null ? bytes : interleaveHeadRows(bytes, headRows, rowBytes)
}

function multiply({ buffer, byteOffset, byteLength }: Uint8Array, scale: number): void {
  const values = new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT)
  for (let index = 0; index < values.length; index++) values[index] = (values[index] ?? 0) * scale
}
