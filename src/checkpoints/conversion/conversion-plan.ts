/**
 * Plans the conversion of a Hugging Face checkpoint: reads its small files and the headers of the large ones, and
 * checks that all of it can be converted. `convert.ts` writes what this accepts, unless a weight is NaN, infinite or too
 * large for its type.
 */
import type {
  ArchitecturePlan,
  Mxfp4Origin,
  RowPick,
  StackedOrigin,
  TensorChange,
  TensorOrigin,
  TensorPlan,
} from '../architectures/architecture-plan.ts'
import { badFile, quoted } from '../files/file-errors.ts'
import { type FloatType, isFloatType } from '../gguf/float-conversion.ts'
import { GGML_TYPES, gguf, type GgufMetadata, type GgufTensor, mostCommonType } from '../gguf/gguf-format.ts'
import { type GgufLayout, layoutGguf } from '../gguf/gguf-writer.ts'
import { generalMetadata } from './general-metadata.ts'
import { findScales, scalesName } from './int8-rows.ts'
import { readPooling } from './sentence-modules.ts'
import { planArchitecture } from '../architectures/hf-architectures.ts'
import { matryoshkaMetadata, poolingMetadata } from '../architectures/pooling.ts'
import { tokenizerMetadata } from '../tokenizers/hf-tokenizer.ts'
import {
  MAX_TOKENIZER_BYTES,
  readJsonObject,
  readOptionalBytes,
  readOptionalJsonObject,
  readOptionalText,
} from '../files/json-file.ts'
import type { HfFiles } from '../checkpoint-files.ts'
import { type Checkpoint, openCheckpoint } from '../safetensors/safetensors-file.ts'
import type { SafetensorsTensor } from '../safetensors/safetensors-file.ts'

/** The type of matrices; `source` keeps the checkpoint's own. Vectors are always F32, which llama.cpp requires. */
export type TensorType = 'f16' | 'f32' | 'bf16' | 'source'

/** The origin of the data of a tensor of floats. */
type FloatData =
  | { readonly kind: 'computed'; readonly values: Float32Array }
  /** Behind each other. */
  | { readonly kind: 'stacked'; readonly parts: readonly StoredData[] }
  | StoredData

export interface StoredData {
  readonly kind: 'stored'
  readonly tensor: SafetensorsTensor
  /** What the tensor holds, or becomes with its scales. */
  readonly dtype: FloatType
  readonly change: TensorChange
  /** Of a tensor of 8-bit integers. */
  readonly scales?: SafetensorsTensor
  /** Of `both-segments`. */
  readonly segmentTypes?: SafetensorsTensor
}

/** Both are stored. */
export interface Mxfp4Data {
  readonly blocks: SafetensorsTensor
  readonly scales: SafetensorsTensor
  readonly picks: RowPick
}

export type PlannedTensor = GgufTensor &
  (
    | { readonly type: FloatType; readonly data: FloatData }
    | { readonly type: 'MXFP4'; readonly data: Mxfp4Data }
  )

/** Tensors of a checkpoint that a model of text alone has no use for. */
export interface LeftOutTensors {
  readonly count: number
  /** What their names begin with. */
  readonly prefixes: readonly string[]
}

interface PlannedConversion extends GgufLayout<PlannedTensor> {
  /** Null where all is converted. */
  readonly leftOut: LeftOutTensors | null
}

/** The planned file without the origin of its data: plain data that crosses threads. */
export interface PlannedFile {
  readonly headerBytes: Uint8Array<ArrayBuffer>
  readonly fileSizeBytes: number
}

export function plannedFile({ headerBytes, fileSizeBytes }: GgufLayout): PlannedFile {
  // A copy, since a buffer may be part of one that others use.
  return { headerBytes: new Uint8Array(headerBytes), fileSizeBytes }
}

const FLOAT_TYPES: Readonly<Record<Exclude<TensorType, 'source'>, FloatType>> = {
  f16: 'F16',
  f32: 'F32',
  bf16: 'BF16',
}
/** llama.cpp's file types "all F32", "mostly F16", "mostly BF16", "mostly MXFP4". */
const FILE_TYPE_IDS: Readonly<Record<PlannedTensor['type'], number>> = { F32: 0, F16: 1, BF16: 32, MXFP4: 38 }

/** @throws StartError when the checkpoint is damaged or cannot be converted. */
export async function planConversion(source: HfFiles, tensorType: TensorType): Promise<PlannedConversion> {
  const config = await readJsonObject(source.configPath)
  const architecture = planArchitecture(config)
  const whole = await openCheckpoint(source.weightsPath)
  const checkpoint = withHead(textHalf(whole, architecture))
  const tensors = planTensors(architecture, checkpoint, tensorType)
  const files = {
    config,
    tokenizer: await readJsonObject(source.tokenizerPath, MAX_TOKENIZER_BYTES),
    tokenizerConfig: await readOptionalJsonObject(source.tokenizerConfigPath),
    generationConfig: await readOptionalJsonObject(source.generationConfigPath),
    modelCard: await readOptionalText(source.modelCardPath),
    chatTemplate: await readOptionalText(source.chatTemplatePath),
    processorTemplate: await readOptionalJsonObject(source.processorTemplatePath),
    pieceModel: await readOptionalBytes(source.sentencePiecePath, MAX_TOKENIZER_BYTES),
  }
  const metadata: GgufMetadata = new Map([
    ['general.architecture', gguf.string(architecture.ggufName)],
    ['general.type', gguf.string('model')],
    ['general.file_type', gguf.uint32(FILE_TYPE_IDS[mostCommonType(tensors) ?? 'F32'])],
    ['general.quantization_version', gguf.uint32(2)],
    ...generalMetadata({ ...files, architecture: architecture.ggufName }, tensors),
    ...architecture.metadata,
    ...matryoshkaMetadata(config),
    ...poolingMetadata(architecture, await readPooling(architecture, source)),
    ...tokenizerMetadata(files, architecture.vocabSize, architecture.isEncoder),
  ])
  return { ...layoutGguf(metadata, tensors), leftOut: leftOutTensors(whole, architecture) }
}

function leftOutTensors({ tensors }: Checkpoint, { textName }: ArchitecturePlan): LeftOutTensors | null {
  const names = [...tensors.keys()].filter((name) => textName?.(name) === null)
  const prefixes = new Set(names.map((name) => /^(?:model\.)?[^.]+/.exec(name)?.[0] ?? name))
  return names.length === 0 ? null : { count: names.length, prefixes: [...prefixes].sort() }
}

/** Under the names of the plan; those that are left out are not among them. */
function textHalf(checkpoint: Checkpoint, { textName }: ArchitecturePlan): Checkpoint {
  if (textName === undefined) return checkpoint
  const named = Array.from(checkpoint.tensors, ([stored, tensor]) => [textName(stored), tensor] as const)
  const kept = named.filter((entry): entry is [string, SafetensorsTensor] => entry[0] !== null)
  return { ...checkpoint, tensors: new Map(kept) }
}

/** Under the names that a model with a head has: one that is saved alone, as embedders are, leaves out what they begin with. */
function withHead(checkpoint: Checkpoint): Checkpoint {
  if (!checkpoint.tensors.has('embed_tokens.weight')) return checkpoint
  const named = Array.from(checkpoint.tensors, ([name, tensor]) => [`model.${name}`, tensor] as const)
  return { ...checkpoint, tensors: new Map(named) }
}

function planTensors(
  architecture: ArchitecturePlan,
  checkpoint: Checkpoint,
  tensorType: TensorType,
): PlannedTensor[] {
  const planned = architecture.tensors.map((plan) => planTensor(plan, checkpoint, tensorType))
  const used = new Set(architecture.tensors.flatMap(({ origin }) => storedNames(origin, checkpoint)))
  for (const name of checkpoint.tensors.keys()) {
    if (!used.has(name) && !architecture.isRedundant(name)) {
      throw badFile(
        checkpoint.path,
        `has tensor ${quoted(name)}, which the architecture in its config does not have`,
      )
    }
  }
  return planned
}

function storedNames(origin: TensorOrigin, checkpoint: Checkpoint): readonly string[] {
  if (origin.kind === 'computed') return []
  if (origin.kind === 'stacked') return isFused(origin, checkpoint) ? [origin.fused.name] : origin.names
  if (origin.kind === 'mxfp4') return [origin.blocks, origin.scales]
  const isInt8 = checkpoint.tensors.get(origin.name)?.dtype === 'I8'
  return isInt8 ? [origin.name, scalesName(origin.name)] : [origin.name]
}

function planTensor(
  { name, shape, origin, isF32 = false }: TensorPlan,
  checkpoint: Checkpoint,
  tensorType: TensorType,
): PlannedTensor {
  const ggufShape = shape.toReversed()
  if (origin.kind === 'computed') {
    return { name, shape: ggufShape, type: 'F32', data: { kind: 'computed', values: origin.values } }
  }
  const matrixTypeOf = (dtype: FloatType) => (tensorType === 'source' ? dtype : FLOAT_TYPES[tensorType])
  if (origin.kind === 'stacked') {
    const tensors = isFused(origin, checkpoint)
      ? fusedExperts(origin, checkpoint, shape)
      : origin.names.map((part) => findTensor(checkpoint, part, shape.slice(1)))
    const parts = tensors.map((tensor): StoredData => ({
      ...{ kind: 'stored', tensor, dtype: floatType(tensor) },
      change: { kind: 'copy' },
    }))
    return {
      name,
      shape: ggufShape,
      type: matrixTypeOf(parts[0]?.dtype ?? 'F32'),
      data: { kind: 'stacked', parts },
    }
  }
  if (origin.kind === 'mxfp4') {
    return { name, shape: ggufShape, type: 'MXFP4', data: mxfp4Data(origin, checkpoint, shape) }
  }
  const skippedRows = origin.kind === 'skip-rows' ? origin.rows : 0
  const tensor = withoutRows(findTensor(checkpoint, origin.name, storedShape(origin, shape)), skippedRows)
  const isWhole = origin.kind === 'copy' || origin.kind === 'interleave-heads'
  const scales = isWhole ? findScales(checkpoint, tensor) : null
  const stored = scales === null ? floatType(tensor) : 'F16'
  const type = shape.length > 1 && !isF32 ? matrixTypeOf(stored) : 'F32'
  const dtype = scales === null ? stored : type
  const segmentTypes = origin.kind === 'both-segments' ? checkpoint.tensors.get(origin.types) : undefined
  return {
    name,
    shape: ggufShape,
    type,
    data: {
      ...{ kind: 'stored', tensor, dtype, change: origin },
      ...(scales !== null && { scales }),
      ...(segmentTypes !== undefined && { segmentTypes }),
    },
  }
}

/** Of a tensor that becomes one of this shape. */
function storedShape(change: TensorChange, shape: readonly number[]): readonly number[] {
  const [rows = 0, ...columns] = shape
  const [last = 0] = shape.slice(-1)
  switch (change.kind) {
    case 'skip-rows':
      return [rows + change.rows, ...columns]
    case 'both-segments':
      return [rows / 2, ...columns]
    case 'pick-numbers':
      return [...shape.slice(0, -1), 2 * last]
    case 'transpose': {
      const [outputs = 0] = columns
      return [rows, last, outputs * matricesIn(change.picks)]
    }
    case 'copy':
    case 'add-one':
    case 'interleave-heads':
      return shape
  }
}

/** How many matrices are one where these of its rows are picked. */
function matricesIn(picks: RowPick): number {
  return picks === 'all' ? 1 : 2
}

function isFused({ names, fused }: StackedOrigin, { tensors }: Checkpoint): boolean {
  const [first = ''] = names
  return !tensors.has(first) && tensors.has(fused.name)
}

/** Of each expert its own rows. */
function fusedExperts(
  { fused }: StackedOrigin,
  checkpoint: Checkpoint,
  [count = 0, rows = 0, columns = 0]: readonly number[],
): SafetensorsTensor[] {
  const { name, part, parts } = fused
  const all = findTensor(checkpoint, name, [count, rows * parts, columns])
  const sizeBytes = all.sizeBytes / (count * parts)
  return Array.from({ length: count }, (_, expert) => ({
    ...all,
    shape: [rows, columns],
    offsetBytes: all.offsetBytes + (expert * parts + part) * sizeBytes,
    sizeBytes,
  }))
}

function mxfp4Data(
  { blocks, scales, picks }: Mxfp4Origin,
  checkpoint: Checkpoint,
  [count = 0, rows = 0, columns = 0]: readonly number[],
): Mxfp4Data {
  const { blockElements } = GGML_TYPES.MXFP4
  const scaleShape = [count, rows * matricesIn(picks), columns / blockElements]
  return {
    blocks: bytesOnly(findTensor(checkpoint, blocks, [...scaleShape, blockElements / 2])),
    scales: bytesOnly(findTensor(checkpoint, scales, scaleShape)),
    picks,
  }
}

function bytesOnly(tensor: SafetensorsTensor): SafetensorsTensor {
  if (tensor.dtype === 'U8') return tensor
  throw badFile(tensor.filePath, `has tensor ${quoted(tensor.name)} of type ${tensor.dtype}, not of U8`)
}

function floatType({ name, filePath, dtype }: SafetensorsTensor): FloatType {
  if (isFloatType(dtype)) return dtype
  throw badFile(filePath, `has tensor ${quoted(name)} of type ${dtype}; F32, F16 and BF16 are converted`)
}

function withoutRows(tensor: SafetensorsTensor, rows: number): SafetensorsTensor {
  if (rows === 0) return tensor
  const [all = 0, ...columns] = tensor.shape
  const skippedBytes = (tensor.sizeBytes / all) * rows
  return {
    ...tensor,
    shape: [all - rows, ...columns],
    offsetBytes: tensor.offsetBytes + skippedBytes,
    sizeBytes: tensor.sizeBytes - skippedBytes,
  }
}

function findTensor(checkpoint: Checkpoint, name: string, shape: readonly number[]): SafetensorsTensor {
  const tensor = checkpoint.tensors.get(name)
  if (tensor === undefined) throw badFile(checkpoint.path, `lacks tensor ${quoted(name)}`)
  if (tensor.shape.join() !== shape.join()) {
    const shapes = `[${tensor.shape.join(', ')}], but should be [${shape.join(', ')}] by its config`
    throw badFile(tensor.filePath, `has tensor ${quoted(name)} of shape ${shapes}`)
  }
  return tensor
}
