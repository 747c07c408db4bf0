/** Reads the data of a GGUF model's tensors, of all its files, in chunks of whole rows. */
import { badFile, quoted } from '../files/file-errors.ts'
import { convertFloats, findNonFinite, isFloatType } from './float-conversion.ts'
import { type GgufModel, readGgufFile } from './gguf-file.ts'
import { type FileRange, readFileChunks } from '../files/open-file.ts'
import { elementCount, type GgufTensor } from './gguf-format.ts'

const CHUNK_BYTES = 4 * 2 ** 20

export interface StoredTensor extends GgufTensor {
  readonly stored: FileRange & Pick<GgufTensor, 'type'>
}

export async function storedTensors({ filePaths }: Pick<GgufModel, 'filePaths'>): Promise<StoredTensor[]> {
  const tensors: StoredTensor[] = []
  for (const filePath of filePaths) {
    const { header } = await readGgufFile(filePath)
    for (const { name, shape, type, sizeBytes, offsetBytes: offset } of header.tensors) {
      const offsetBytes = header.dataOffsetBytes + offset
      tensors.push({ name, shape, type, stored: { filePath, type, offsetBytes, sizeBytes } })
    }
  }
  return tensors
}

/** As stored; a chunk is overwritten by the next. @throws StartError naming a tensor with a NaN or an Infinity. */
export async function* readTensorData({ name, shape, stored }: StoredTensor): AsyncGenerator<Uint8Array> {
  const { filePath, type, sizeBytes } = stored
  const rowBytes = sizeBytes / elementCount(shape.slice(1))
  const chunkBytes = Math.max(1, Math.floor(CHUNK_BYTES / rowBytes)) * rowBytes
  for await (const chunk of readFileChunks(stored, chunkBytes)) {
    if (isFloatType(type) && findNonFinite(chunk, type) !== null) {
      throw badFile(
        filePath,
        `holds a NaN or an Infinity in tensor ${quoted(name)} and so cannot be quantized`,
      )
    }
    yield chunk
  }
}

/** @throws StartError naming a tensor with a NaN or an Infinity; the signal's reason when it aborts */
export async function requireFinite(filePath: string, signal: AbortSignal): Promise<void> {
  for (const { name, stored } of await storedTensors({ filePaths: [filePath] })) {
    const { type } = stored
    if (!isFloatType(type)) continue
    for await (const chunk of readFileChunks(stored, CHUNK_BYTES)) {
      signal.throwIfAborted()
      if (findNonFinite(chunk, type) !== null)
        throw badFile(filePath, `holds a NaN or an Infinity in tensor ${quoted(name)}`)
    }
  }
}

/** As F32; a tensor of floats. */
export async function* readFloats(tensor: StoredTensor): AsyncGenerator<Float32Array> {
  const { type, filePath } = tensor.stored
  if (!isFloatType(type))
    throw badFile(filePath, `has tensor ${quoted(tensor.name)} of type ${type}, not of floats`)
  for await (const chunk of readTensorData(tensor)) {
    const bytes = convertFloats(chunk, type, 'F32')
    yield new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
  }
}
