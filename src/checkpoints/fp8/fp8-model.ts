/**
 * Writes a copy of a model's GGUF file with its weight matrices as fp8, streamed. llama.cpp reads them as Q8_0. Called in
 * the quantizer's process; writes only to the path it is given.
 */
import { badFile, quoted } from '../files/file-errors.ts'
import { encodeFp8Rows, type Fp8Rows } from './fp8-rows.ts'
import type { GgufModel } from '../gguf/gguf-file.ts'
import { elementCount, gguf, type GgufMetadata } from '../gguf/gguf-format.ts'
import { readFloats, readTensorData, type StoredTensor, storedTensors } from '../gguf/gguf-tensor-data.ts'
import { layoutGguf, writeGguf } from '../gguf/gguf-writer.ts'
import { fitsSmallBlocks, isWeightMatrix } from '../quantization/quantization-plan.ts'

/** llama.cpp's file type "mostly Q8_0". */
const FILE_TYPE_Q8_0 = 7
const QUANTIZATION_VERSION = 2

export interface Fp8Options {
  readonly model: GgufModel
  /** Must not exist yet; on failure the caller removes what was written. */
  readonly outputPath: string
  /** Called with the share that is written, 0 to 1. */
  readonly onProgress: (fraction: number) => void
}

export interface Fp8Result {
  /** Of the weights that were rounded, those stored as exactly their E4M3 number; 1 when there were none. */
  readonly exactShare: number
}

/** @throws StartError naming what is wrong with the weights or the disk. */
export async function writeFp8Model({ model, outputPath, onProgress }: Fp8Options): Promise<Fp8Result> {
  const tensors = (await storedTensors(model)).map((tensor) =>
    isRounded(tensor) ? { ...tensor, type: 'Q8_0' as const } : tensor,
  )
  const layout = layoutGguf(fp8Metadata(model.metadata), tensors)
  const count = { weights: 0, exact: 0, writtenBytes: layout.headerBytes.length }
  await writeGguf(outputPath, layout, async function* (tensor) {
    for await (const chunk of isRounded(tensor) ? roundTensor(tensor, count) : readTensorData(tensor)) {
      yield chunk
      count.writtenBytes += chunk.length
      onProgress(count.writtenBytes / layout.fileSizeBytes)
    }
  })
  return { exactShare: count.weights === 0 ? 1 : count.exact / count.weights }
}

function isRounded(tensor: StoredTensor): boolean {
  return isWeightMatrix(tensor) && fitsSmallBlocks(tensor)
}

interface Count {
  weights: number
  exact: number
}

async function* roundTensor(tensor: StoredTensor, count: Count): AsyncGenerator<Uint8Array> {
  const [rowElements = elementCount(tensor.shape)] = tensor.shape
  for await (const values of readFloats(tensor)) {
    const { bytes, exactWeights } = encode(tensor, values, rowElements)
    count.weights += values.length
    count.exact += exactWeights
    yield bytes
  }
}

function encode(tensor: StoredTensor, values: Float32Array, rowElements: number): Fp8Rows {
  try {
    return encodeFp8Rows(values, rowElements)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw badFile(tensor.stored.filePath, `holds a weight in tensor ${quoted(tensor.name)} too large for fp8`)
  }
}

/** The model's metadata for a single Q8_0 file with the writer's alignment. */
function fp8Metadata(metadata: GgufMetadata): GgufMetadata {
  const kept = Array.from(metadata).filter(
    ([key]) => !key.startsWith('split.') && key !== 'general.alignment',
  )
  return new Map([
    ...kept,
    ['general.file_type', gguf.uint32(FILE_TYPE_Q8_0)],
    ['general.quantization_version', gguf.uint32(QUANTIZATION_VERSION)],
  ])
}
