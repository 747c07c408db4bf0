/** Reads the data of a GGUF model's tensors, of all its files, in chunks of whole rows. */
import { open } from 'node:fs/promises'
import { badFile, fileError, quoted } from '../file-errors.ts'
import { convertFloats, findNonFinite, isFloatType } from './float-conversion.ts'
import { type GgufModel, readGgufFile } from './gguf-file.ts'
import { readExactly } from '../open-file.ts'
import { elementCount, type GgufTensor, type GgufTensorInfo } from './gguf-format.ts'

const CHUNK_BYTES = 4 * 2 ** 20

export interface StoredTensor extends GgufTensor {
  readonly stored: {
    readonly path: string
    readonly type: GgufTensor['type']
    readonly startBytes: number
    readonly sizeBytes: number
  }
}

export async function storedTensors({ filePaths }: Pick<GgufModel, 'filePaths'>): Promise<StoredTensor[]> {
  const tensors: StoredTensor[] = []
  for (const path of filePaths) {
    const { header } = await readGgufFile(path)
    tensors.push(
      ...header.tensors.map((tensor) => locate(tensor, { path, dataBytes: header.dataOffsetBytes })),
    )
  }
  return tensors
}

/** As stored. @throws StartError naming the tensor when one of its floats is NaN or infinite. */
export async function* readTensorData(tensor: StoredTensor): AsyncGenerator<Buffer> {
  const { path, startBytes, sizeBytes } = tensor.stored
  const rowBytes = sizeBytes / rowCount(tensor)
  const chunkBytes = Math.max(1, Math.floor(CHUNK_BYTES / rowBytes)) * rowBytes
  await using handle = await open(path, 'r').catch((error: unknown) => {
    throw fileError('read', path, error)
  })
  for (let done = 0; done < sizeBytes; done += chunkBytes) {
    const chunk = Buffer.alloc(Math.min(chunkBytes, sizeBytes - done))
    await readExactly(handle, { path, bytes: chunk, position: startBytes + done })
    checkFinite(tensor, chunk)
    yield chunk
  }
}

/** As F32; a tensor of floats. */
export async function* readFloats(tensor: StoredTensor): AsyncGenerator<Float32Array> {
  const { type, path } = tensor.stored
  if (!isFloatType(type))
    throw badFile(path, `has tensor ${quoted(tensor.name)} of type ${type}, not of floats`)
  for await (const chunk of readTensorData(tensor)) {
    const bytes = convertFloats(chunk, type, 'F32')
    yield new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
  }
}

function locate(tensor: GgufTensorInfo, file: { path: string; dataBytes: number }): StoredTensor {
  const { name, shape, type, offsetBytes, sizeBytes } = tensor
  return {
    name,
    shape,
    type,
    stored: { path: file.path, type, startBytes: file.dataBytes + offsetBytes, sizeBytes },
  }
}

function checkFinite({ name, stored: { path, type } }: StoredTensor, chunk: Uint8Array): void {
  if (!isFloatType(type) || findNonFinite(chunk, type) === null) return
  throw badFile(path, `holds a NaN or an Infinity in tensor ${quoted(name)} and so cannot be quantized`)
}

function rowCount({ shape }: GgufTensor): number {
  return elementCount(shape.slice(1))
}
