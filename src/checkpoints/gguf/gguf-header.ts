/**
 * Parses the header of a GGUF file: metadata and tensor list, checked as llama.cpp checks them, and that the tensor
 * data the header promises lies within the file. Pure; `gguf-file.ts` brings the bytes.
 */
import { badFile, quoted } from '../file-errors.ts'
import { GgufCursor, type HeaderSource } from './gguf-cursor.ts'
import {
  alignUp,
  GGML_TYPES,
  GGUF_DEFAULT_ALIGNMENT,
  GGUF_MAGIC,
  GGUF_NUMBERS,
  GGUF_READABLE_VERSIONS,
  GGUF_VALUE_TYPES,
  type GgufArray,
  type GgufMetadata,
  type GgufScalar,
  type GgufTensorInfo,
  type GgufValue,
  type GgufValueType,
  ggmlTypeName,
  tensorSizeBytes,
} from './gguf-format.ts'

/** Far above any model; keeps a crafted header from filling the memory with tiny entries. */
const MAX_ENTRIES = 100_000
/** llama.cpp's GGML_MAX_DIMS and GGML_MAX_NAME. */
const MAX_DIMENSIONS = 4
const MAX_TENSOR_NAME_BYTES = 63

export interface GgufHeader {
  readonly version: number
  readonly metadata: GgufMetadata
  readonly tensors: readonly GgufTensorInfo[]
  /** Where the tensor data begins in the file. */
  readonly dataOffsetBytes: number
}

/**
 * @throws StartError when this is no usable GGUF file.
 * @throws MoreBytesNeeded when the header goes on behind the bytes given.
 */
export function parseGgufHeader(source: HeaderSource): GgufHeader {
  const cursor = new GgufCursor(source)
  const { path } = source
  if (source.fileSizeBytes < 4 || cursor.uint32() !== GGUF_MAGIC) throw badFile(path, 'is not a GGUF file')
  const version = cursor.uint32()
  if (!GGUF_READABLE_VERSIONS.includes(version)) {
    throw badFile(path, `is a GGUF file of version ${version}; versions 2 and 3, little-endian, can be read`)
  }
  const tensorCount = cursor.size()
  const keyCount = cursor.size()
  if (tensorCount > MAX_ENTRIES || keyCount > MAX_ENTRIES) {
    throw badFile(path, `is corrupted: it claims ${tensorCount} tensors and ${keyCount} metadata keys`)
  }
  const metadata = readMetadata(cursor, path, keyCount)
  const tensors = readTensorInfos(cursor, path, tensorCount)
  const alignment = readAlignment(metadata, path)
  const dataOffsetBytes = alignUp(cursor.offset, alignment)
  checkTensorData(tensors, { source, alignment, dataOffsetBytes })
  return { version, metadata, tensors, dataOffsetBytes }
}

function readMetadata(cursor: GgufCursor, path: string, count: number): GgufMetadata {
  const metadata = new Map<string, GgufValue>()
  for (let index = 0; index < count; index++) {
    const key = cursor.string()
    if (key === '' || metadata.has(key))
      throw badFile(path, `is corrupted: metadata key ${quoted(key)} is empty or twice`)
    const type = readValueType(cursor, path, key)
    metadata.set(key, type === 'array' ? readArray(cursor, path, key) : readScalar(cursor, type))
  }
  return metadata
}

function readValueType(cursor: GgufCursor, path: string, key: string): GgufValueType {
  const id = cursor.uint32()
  const type = GGUF_VALUE_TYPES[id]
  if (type === undefined)
    throw badFile(path, `is corrupted: metadata key ${quoted(key)} has the unknown type ${id}`)
  return type
}

function readScalar(cursor: GgufCursor, type: Exclude<GgufValueType, 'array'>): GgufScalar {
  if (type === 'string') return { type, value: cursor.string() }
  if (type === 'bool') return { type, value: cursor.number('uint8') !== 0 }
  return { type, value: cursor.number(type) } as GgufScalar
}

function readArray(cursor: GgufCursor, path: string, key: string): GgufArray {
  const itemType = readValueType(cursor, path, key)
  const count = cursor.size()
  if (itemType === 'array') {
    throw badFile(path, `cannot be read: metadata key ${quoted(key)} is a list of lists`)
  }
  if (itemType === 'string') return { type: 'array', itemType, items: cursor.texts(count) }
  if (itemType === 'bool') return { type: 'array', itemType, items: new Uint8Array(cursor.copy(count)) }
  const { List } = GGUF_NUMBERS[itemType]
  const items = new List(cursor.copy(count * List.BYTES_PER_ELEMENT))
  return { type: 'array', itemType, items } as GgufArray
}

function readTensorInfos(cursor: GgufCursor, path: string, count: number): GgufTensorInfo[] {
  const tensors: GgufTensorInfo[] = []
  const names = new Set<string>()
  for (let index = 0; index < count; index++) {
    const tensor = readTensorInfo(cursor, path)
    if (names.has(tensor.name))
      throw badFile(path, `is corrupted: tensor ${quoted(tensor.name)} is listed twice`)
    names.add(tensor.name)
    tensors.push(tensor)
  }
  return tensors
}

function readTensorInfo(cursor: GgufCursor, path: string): GgufTensorInfo {
  const name = cursor.string()
  const dimensions = cursor.uint32()
  if (name === '' || Buffer.byteLength(name) > MAX_TENSOR_NAME_BYTES || dimensions > MAX_DIMENSIONS) {
    throw badFile(path, `is corrupted: tensor ${quoted(name)} has no usable name or ${dimensions} dimensions`)
  }
  const shape = Array.from({ length: dimensions }, () => cursor.size())
  const typeId = cursor.uint32()
  const type = ggmlTypeName(typeId)
  if (type === null)
    throw badFile(path, `has tensor ${quoted(name)} of the type ${typeId}, which llama.cpp does not know`)
  if ((shape[0] ?? 1) % GGML_TYPES[type].blockElements !== 0) {
    throw badFile(path, `is corrupted: the rows of tensor ${quoted(name)} are no whole blocks of ${type}`)
  }
  const offsetBytes = cursor.size()
  return { name, shape, type, offsetBytes, sizeBytes: tensorSizeBytes({ type, shape }) }
}

function readAlignment(metadata: GgufMetadata, path: string): number {
  const value = metadata.get('general.alignment')
  if (value === undefined) return GGUF_DEFAULT_ALIGNMENT
  const isPowerOfTwo = value.type === 'uint32' && value.value > 0 && Number.isInteger(Math.log2(value.value))
  if (!isPowerOfTwo) throw badFile(path, 'is corrupted: its alignment is not a power of two')
  return value.value
}

interface DataSection {
  readonly source: HeaderSource
  readonly alignment: number
  readonly dataOffsetBytes: number
}

/** Tensors lie one behind the other, and the last ends within the file. */
function checkTensorData(tensors: readonly GgufTensorInfo[], section: DataSection): void {
  const { path, fileSizeBytes } = section.source
  let expectedOffset = 0
  let endBytes = section.dataOffsetBytes
  for (const { name, offsetBytes, sizeBytes } of tensors) {
    if (offsetBytes !== expectedOffset) {
      throw badFile(
        path,
        `is corrupted: tensor ${quoted(name)} lies at ${offsetBytes}, not at ${expectedOffset}`,
      )
    }
    endBytes = section.dataOffsetBytes + offsetBytes + sizeBytes
    if (endBytes > fileSizeBytes) {
      throw badFile(
        path,
        `is truncated: tensor ${quoted(name)} ends at byte ${endBytes}, but the file has ${fileSizeBytes}`,
      )
    }
    expectedOffset = alignUp(offsetBytes + sizeBytes, section.alignment)
  }
}
