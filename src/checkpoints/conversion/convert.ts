/**
 * Converts a Hugging Face checkpoint to GGUF, streamed: at most one attention head, one expert's matrix or one chunk of a
 * tensor is in memory. Called in the conversion's worker thread; writes only to the path it is given.
 */
import { dirname } from 'node:path'
import {
  type LeftOutTensors,
  planConversion,
  type PlannedTensor,
  type StoredData,
  type TensorType,
} from './conversion-plan.ts'
import { pickNumbers, transposeMatrix } from './expert-matrices.ts'
import { readScales, scaleRows } from './int8-rows.ts'
import { mxfp4Chunks } from './mxfp4.ts'
import { readWholeFloats, toFloat32 } from './whole-floats.ts'
import { readFileChunks } from '../files/open-file.ts'
import { requireRoom } from '../files/disk-room.ts'
import type { TensorChange } from '../architectures/architecture-plan.ts'
import { badFile, quoted } from '../files/file-errors.ts'
import { interleaveHeadRows } from '../gguf/head-rows.ts'
import { convertFloats, findNonFinite, FLOAT_BYTES, type FloatType } from '../gguf/float-conversion.ts'
import { elementCount } from '../gguf/gguf-format.ts'
import type { SafetensorsTensor } from '../safetensors/safetensors-file.ts'
import { writeGguf } from '../gguf/gguf-writer.ts'
import type { HfFiles } from '../checkpoint-files.ts'

const CHUNK_BYTES = 4 * 2 ** 20

export interface ConvertOptions {
  readonly source: HfFiles
  readonly tensorType: TensorType
  /** Must not exist yet; on failure the caller removes what was written. */
  readonly outputPath: string
  /** Called with the share that is written, 0 to 1. */
  readonly onProgress?: ((fraction: number) => void) | undefined
  /** Called where a part of the checkpoint is not converted. */
  readonly onLeftOut?: ((leftOut: LeftOutTensors) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** @throws StartError naming what is wrong with the checkpoint or the disk. */
export async function convertCheckpoint(options: ConvertOptions): Promise<void> {
  const { source, tensorType, outputPath, onProgress, onLeftOut, signal } = options
  const layout = await planConversion(source, tensorType)
  if (layout.leftOut !== null) onLeftOut?.(layout.leftOut)
  await requireRoom({ folder: dirname(outputPath), neededBytes: layout.fileSizeBytes })
  let writtenBytes = layout.headerBytes.length
  await writeGguf(outputPath, layout, async function* (tensor) {
    for await (const chunk of tensorChunks(tensor)) {
      signal?.throwIfAborted()
      yield chunk
      writtenBytes += chunk.length
      onProgress?.(writtenBytes / layout.fileSizeBytes)
    }
  })
}

function tensorChunks(tensor: PlannedTensor): AsyncGenerator<Uint8Array> {
  return tensor.type === 'MXFP4' ? mxfp4Chunks(tensor.name, tensor.data) : floatChunks(tensor)
}

type FloatTensor = Exclude<PlannedTensor, { readonly type: 'MXFP4' }>

async function* floatChunks({
  data,
  type,
  name,
}: Pick<FloatTensor, 'data' | 'type' | 'name'>): AsyncGenerator<Uint8Array> {
  if (data.kind === 'computed') {
    yield new Uint8Array(data.values.buffer, data.values.byteOffset, data.values.byteLength)
    return
  }
  if (data.kind === 'stacked') {
    for (const part of data.parts) yield* floatChunks({ name, type, data: part })
    return
  }
  const { tensor, dtype, change, scales } = data
  const notFinite = `holds a NaN or an Infinity in tensor ${quoted(tensor.name)}`
  const tooLarge = `holds a number in tensor ${quoted(tensor.name)} that is too large for ${type}`
  const factors = scales === undefined ? null : await readScales(scales, tensor.shape[0] ?? 1)
  if (factors !== null) checkFinite(findNonFinite(new Uint8Array(factors.buffer), 'F32'), notFinite)
  // As floats, where it is stored as integers.
  const floats = { ...tensor, sizeBytes: elementCount(tensor.shape) * FLOAT_BYTES[dtype] }
  for await (const chunk of storedChunks(data, factors)) {
    checkFinite(findNonFinite(chunk, dtype), factors === null ? notFinite : tooLarge)
    const converted = convertFloats(reordered(chunk, floats, change), dtype, type)
    // Widening cannot overflow; narrowing can.
    if (FLOAT_BYTES[type] === 2 && dtype !== type) {
      checkFinite(findNonFinite(converted, type), tooLarge)
    }
    yield change.kind === 'add-one' ? plusOne(converted) : converted
  }
  if (data.segmentTypes !== undefined) yield* secondSegment(data, data.segmentTypes, type)

  function checkFinite(position: number | null, problem: string): void {
    if (position !== null) throw badFile(tensor.filePath, `${problem} (${name})`)
  }
}

/** What is stored, as floats; of integers whole rows, by the factor of each. */
async function* storedChunks(
  { tensor, dtype, change }: Pick<StoredData, 'tensor' | 'dtype' | 'change'>,
  factors: Float32Array | null,
): AsyncGenerator<Uint8Array> {
  if (factors === null) {
    yield* readFileChunks(tensor, chunkBytes(tensor, change))
    return
  }
  const [rows = 1] = tensor.shape
  const columns = tensor.sizeBytes / rows
  const whole = change.kind === 'copy' ? wholePieces(columns) : chunkBytes(tensor, change)
  let first = 0
  for await (const chunk of readFileChunks(tensor, whole)) {
    yield scaleRows(chunk, factors, { first, columns, type: dtype })
    first += chunk.length / columns
  }
}

/** The rows once more, with the difference of the two segments added. */
async function* secondSegment(
  { tensor, dtype }: { readonly tensor: SafetensorsTensor; readonly dtype: FloatType },
  types: SafetensorsTensor,
  type: FloatType,
): AsyncGenerator<Uint8Array> {
  const difference = await segmentDifference(types)
  const rowBytes = tensor.sizeBytes / (tensor.shape[0] ?? 1)
  const chunkBytes = Math.max(1, Math.floor(CHUNK_BYTES / rowBytes)) * rowBytes
  for await (const chunk of readFileChunks(tensor, chunkBytes)) {
    const values = toFloat32(chunk, dtype)
    for (let i = 0; i < values.length; i++) {
      values[i] = (values[i] ?? 0) + (difference[i % difference.length] ?? 0)
    }
    yield convertFloats(new Uint8Array(values.buffer), 'F32', type)
  }
}

async function segmentDifference(types: SafetensorsTensor): Promise<Float32Array> {
  const [, columns = 0] = types.shape
  const values = await readWholeFloats(types)
  return Float32Array.from({ length: columns }, (_, i) => (values[columns + i] ?? 0) - (values[i] ?? 0))
}

/** Of F32, which vectors always become. */
function plusOne(bytes: Uint8Array): Uint8Array {
  const values = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  return new Uint8Array(values.map((value) => value + 1).buffer)
}

/** What is reordered in one piece. */
function chunkBytes({ sizeBytes, shape }: SafetensorsTensor, change: TensorChange): number {
  const firstBytes = sizeBytes / (shape[0] ?? 1)
  if (change.kind === 'interleave-heads') return wholePieces(change.headRows * firstBytes)
  return change.kind === 'transpose' ? firstBytes : CHUNK_BYTES
}

function reordered(
  chunk: Uint8Array,
  { sizeBytes, shape }: SafetensorsTensor,
  change: TensorChange,
): Uint8Array {
  const numberBytes = sizeBytes / elementCount(shape)
  switch (change.kind) {
    case 'interleave-heads':
      return interleaveHeadRows(chunk, change.headRows, sizeBytes / (shape[0] ?? 1))
    case 'transpose':
      return transposeMatrix(chunk, { columns: shape.at(-1) ?? 1, numberBytes, picks: change.picks })
    case 'pick-numbers':
      return pickNumbers(chunk, numberBytes, change.picks)
    case 'copy':
    case 'add-one':
    case 'skip-rows':
    case 'both-segments':
      return chunk
  }
}

/** As many whole heads, or rows, as fit a chunk, at least one. */
function wholePieces(bytes: number): number {
  return Math.max(1, Math.floor(CHUNK_BYTES / bytes)) * bytes
}
