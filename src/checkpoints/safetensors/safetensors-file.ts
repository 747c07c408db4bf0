/**
 * Reads safetensors files: one, or the shards that a `model.safetensors.index.json` names. A `Checkpoint` is plain
 * data about tensors and where they lie; no file stays open. Tensor data is read in chunks.
 */
import { basename, dirname, join } from 'node:path'
import { badFile, fileError, quoted } from '../file-errors.ts'
import { objectField, readJsonObject } from '../json-file.ts'
import { openFile, readExactly } from '../open-file.ts'
import {
  LENGTH_BYTES,
  parseHeaderLength,
  parseSafetensorsHeader,
  type SafetensorsTensor,
} from './safetensors-header.ts'

export interface Checkpoint {
  /** What was opened: the safetensors file or the index; for messages. */
  readonly path: string
  readonly tensors: ReadonlyMap<string, SafetensorsTensor>
}

/** Opens a `.safetensors` file, or the `.json` index of a sharded checkpoint. */
export async function openCheckpoint(path: string): Promise<Checkpoint> {
  const files = await weightFiles(path)
  return toCheckpoint(path, await Promise.all(files.map(readTensorList)))
}

/** The safetensors files of a checkpoint: the one given, or those that the index names. */
export async function weightFiles(path: string): Promise<readonly string[]> {
  return path.endsWith('.json') ? readShardPaths(path) : [path]
}

function toCheckpoint(path: string, files: readonly (readonly SafetensorsTensor[])[]): Checkpoint {
  const tensors = new Map<string, SafetensorsTensor>()
  for (const tensor of files.flat()) {
    if (tensors.has(tensor.name))
      throw badFile(path, `is unusable: tensor ${quoted(tensor.name)} is in two of its files`)
    tensors.set(tensor.name, tensor)
  }
  return { path, tensors }
}

async function readShardPaths(indexPath: string): Promise<string[]> {
  const index = await readJsonObject(indexPath)
  const files = new Set(Object.values(objectField(index, 'weight_map')?.fields ?? {}))
  if (files.size === 0) throw badFile(indexPath, 'names no files in its "weight_map"')
  return Array.from(files, (file) => {
    // A shard lies beside its index; anything else would reach outside the folder.
    if (typeof file !== 'string' || basename(file) !== file || !file.endsWith('.safetensors')) {
      throw badFile(indexPath, `is unusable: ${quoted(String(file))} is no file name of a shard`)
    }
    return join(dirname(indexPath), file)
  })
}

async function readTensorList(path: string): Promise<readonly SafetensorsTensor[]> {
  try {
    await using handle = await openFile(path)
    const { size } = await handle.stat()
    const readBytes = async (offset: number, length: number) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset)
      return buffer.subarray(0, bytesRead)
    }
    const headerLength = parseHeaderLength(path, await readBytes(0, LENGTH_BYTES), size)
    return parseSafetensorsHeader(path, await readBytes(LENGTH_BYTES, headerLength), size)
  } catch (error) {
    throw fileError('read', path, error)
  }
}

/**
 * A tensor's data in chunks of `chunkBytes`, the last one shorter. The chunk is overwritten by the next: use it
 * before asking again. It starts at offset 0 of its own memory, so any typed array may view it.
 */
export async function* readTensorChunks(
  tensor: SafetensorsTensor,
  chunkBytes: number,
): AsyncGenerator<Uint8Array> {
  const { filePath, offsetBytes, sizeBytes } = tensor
  try {
    await using handle = await openFile(filePath)
    const buffer = new Uint8Array(Math.min(chunkBytes, sizeBytes))
    for (let done = 0; done < sizeBytes; done += chunkBytes) {
      const bytes = buffer.subarray(0, Math.min(chunkBytes, sizeBytes - done))
      await readExactly(handle, { path: filePath, bytes, position: offsetBytes + done })
      yield bytes
    }
  } catch (error) {
    throw fileError('read', filePath, error)
  }
}
