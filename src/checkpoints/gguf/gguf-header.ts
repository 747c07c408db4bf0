/**
 * Parses the header of a GGUF file: metadata and tensor list, checked as llama.cpp checks them. The bytes may be only the
 * beginning of the file: reading past them throws `MoreBytesNeeded`, reading past the file is a truncated file. Every
 * length is checked against the file's size before anything is read or allocated, so a corrupted one costs nothing, and so
 * is the tensor data that the header lists. Pure; `gguf-file.ts` reads the file.
 */
import { badFile, quoted } from '../files/file-errors.ts'
import {
  alignUp,
  GGML_TYPES,
  GGUF_DEFAULT_ALIGNMENT,
  GGUF_MAGIC,
  GGUF_NUMBERS,
  GGUF_VALUE_TYPES,
  type GgufArray,
  type GgufMetadata,
  type GgufScalar,
  type GgufTensorInfo,
  type GgufValue,
  type GgufValueType,
  type Texts,
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
 * @throws MoreBytesNeeded when the header is longer than the bytes passed.
 */
export function parseGgufHeader(source: HeaderSource): GgufHeader {
  const cursor = new GgufCursor(source)
  if (source.fileSizeBytes < 4 || cursor.uint32() !== GGUF_MAGIC) throw cursor.bad('is not a GGUF file')
  const version = cursor.uint32()
  if (version !== 2 && version !== 3) {
    throw cursor.bad(`is a GGUF file of version ${version}; versions 2 and 3, little-endian, can be read`)
  }
  const tensorCount = cursor.size()
  const keyCount = cursor.size()
  if (tensorCount > MAX_ENTRIES || keyCount > MAX_ENTRIES) {
    throw cursor.bad(`is corrupted: it claims ${tensorCount} tensors and ${keyCount} metadata keys`)
  }
  const metadata = readMetadata(cursor, keyCount)
  const tensors = readTensorInfos(cursor, tensorCount)
  const alignment = readAlignment(cursor, metadata)
  const dataOffsetBytes = alignUp(cursor.offset, alignment)
  checkTensorData(cursor, tensors, { fileSizeBytes: source.fileSizeBytes, alignment, dataOffsetBytes })
  return { version, metadata, tensors, dataOffsetBytes }
}

function readMetadata(cursor: GgufCursor, count: number): GgufMetadata {
  const metadata = new Map<string, GgufValue>()
  for (let index = 0; index < count; index++) {
    const key = cursor.string()
    if (key === '' || metadata.has(key))
      throw cursor.bad(`is corrupted: metadata key ${quoted(key)} is empty or twice`)
    const type = readValueType(cursor, key)
    metadata.set(key, type === 'array' ? readArray(cursor, key) : readScalar(cursor, type))
  }
  return metadata
}

function readValueType(cursor: GgufCursor, key: string): GgufValueType {
  const id = cursor.uint32()
  const type = GGUF_VALUE_TYPES[id]
  if (type === undefined)
    throw cursor.bad(`is corrupted: metadata key ${quoted(key)} has the unknown type ${id}`)
  return type
}

function readScalar(cursor: GgufCursor, type: Exclude<GgufValueType, 'array'>): GgufScalar {
  if (type === 'string') return { type, value: cursor.string() }
  if (type === 'bool') return { type, value: cursor.number('uint8') !== 0 }
  return { type, value: cursor.number(type) } as GgufScalar
}

function readArray(cursor: GgufCursor, key: string): GgufArray {
  const itemType = readValueType(cursor, key)
  const count = cursor.size()
  if (itemType === 'array') {
    throw cursor.bad(`cannot be read: metadata key ${quoted(key)} is a list of lists`)
  }
  if (itemType === 'string') return { type: 'array', itemType, items: cursor.texts(count) }
  if (itemType === 'bool') return { type: 'array', itemType, items: new Uint8Array(cursor.copy(count)) }
  const { List } = GGUF_NUMBERS[itemType]
  const items = new List(cursor.copy(count * List.BYTES_PER_ELEMENT))
  return { type: 'array', itemType, items } as GgufArray
}

function readTensorInfos(cursor: GgufCursor, count: number): GgufTensorInfo[] {
  const tensors: GgufTensorInfo[] = []
  const names = new Set<string>()
  for (let index = 0; index < count; index++) {
    const tensor = readTensorInfo(cursor)
    if (names.has(tensor.name))
      throw cursor.bad(`is corrupted: tensor ${quoted(tensor.name)} is listed twice`)
    names.add(tensor.name)
    tensors.push(tensor)
  }
  return tensors
}

function readTensorInfo(cursor: GgufCursor): GgufTensorInfo {
  const name = cursor.string()
  const dimensions = cursor.uint32()
  if (name === '' || Buffer.byteLength(name) > MAX_TENSOR_NAME_BYTES || dimensions > MAX_DIMENSIONS) {
    throw cursor.bad(`is corrupted: tensor ${quoted(name)} has no usable name or ${dimensions} dimensions`)
  }
  const shape = Array.from({ length: dimensions }, () => cursor.size())
  const typeId = cursor.uint32()
  const type = ggmlTypeName(typeId)
  if (type === null)
    throw cursor.bad(`has tensor ${quoted(name)} of the type ${typeId}, which llama.cpp does not know`)
  if ((shape[0] ?? 1) % GGML_TYPES[type].blockElements !== 0) {
    throw cursor.bad(`is corrupted: the rows of tensor ${quoted(name)} are no whole blocks of ${type}`)
  }
  const offsetBytes = cursor.size()
  return { name, shape, type, offsetBytes, sizeBytes: tensorSizeBytes({ type, shape }) }
}

function readAlignment(cursor: GgufCursor, metadata: GgufMetadata): number {
  const value = metadata.get('general.alignment')
  if (value === undefined) return GGUF_DEFAULT_ALIGNMENT
  const isPowerOfTwo = value.type === 'uint32' && value.value > 0 && Number.isInteger(Math.log2(value.value))
  if (!isPowerOfTwo) throw cursor.bad('is corrupted: its alignment is not a power of two')
  return value.value
}

interface DataSection {
  readonly fileSizeBytes: number
  readonly alignment: number
  readonly dataOffsetBytes: number
}

/** Tensors lie one behind the other, and the last ends within the file. */
function checkTensorData(
  cursor: GgufCursor,
  tensors: readonly GgufTensorInfo[],
  { fileSizeBytes, alignment, dataOffsetBytes }: DataSection,
): void {
  let expectedOffset = 0
  for (const { name, offsetBytes, sizeBytes } of tensors) {
    if (offsetBytes !== expectedOffset) {
      throw cursor.bad(
        `is corrupted: tensor ${quoted(name)} lies at ${offsetBytes}, not at ${expectedOffset}`,
      )
    }
    const endBytes = dataOffsetBytes + offsetBytes + sizeBytes
    if (endBytes > fileSizeBytes) {
      throw cursor.bad(
        `is truncated: tensor ${quoted(name)} ends at byte ${endBytes}, but the file has ${fileSizeBytes}`,
      )
    }
    expectedOffset = alignUp(offsetBytes + sizeBytes, alignment)
  }
}

/** The header is longer than the bytes that were passed. Only the reader of the file catches this. */
export class MoreBytesNeeded extends Error {
  readonly neededBytes: number

  constructor(neededBytes: number) {
    super(`${neededBytes} bytes are needed`)
    this.neededBytes = neededBytes
  }
}

interface HeaderSource {
  readonly path: string
  /** The first bytes of the file. */
  readonly bytes: Buffer
  readonly fileSizeBytes: number
}

class GgufCursor {
  readonly #source: HeaderSource
  readonly #view: DataView
  #offset = 0

  constructor(source: HeaderSource) {
    this.#source = source
    const { buffer, byteOffset, byteLength } = source.bytes
    this.#view = new DataView(buffer, byteOffset, byteLength)
  }

  get offset(): number {
    return this.#offset
  }

  bad(problem: string): Error {
    return badFile(this.#source.path, problem)
  }

  /** Advances by `size` bytes and returns their offset. Throws unless the file and the bytes passed hold them. */
  take(size: number): number {
    const start = this.#offset
    const end = start + size
    if (end > this.#source.fileSizeBytes) {
      const { fileSizeBytes } = this.#source
      throw this.bad(
        `is truncated or corrupted: its header goes on to byte ${end}, but the file has ${fileSizeBytes}`,
      )
    }
    if (end > this.#source.bytes.length) throw new MoreBytesNeeded(end)
    this.#offset = end
    return start
  }

  number(type: keyof typeof GGUF_NUMBERS): number | bigint {
    const { read, List } = GGUF_NUMBERS[type]
    return read(this.#view, this.take(List.BYTES_PER_ELEMENT))
  }

  uint32(): number {
    return this.#view.getUint32(this.take(4), true)
  }

  /** A count or a size; one that does not fit a double exactly cannot be right. */
  size(): number {
    const start = this.take(8)
    // Two halves, since a vocabulary has hundreds of thousands of these, and big integers are slow.
    const value = this.#view.getUint32(start, true) + this.#view.getUint32(start + 4, true) * 2 ** 32
    return Math.min(value, Number.MAX_SAFE_INTEGER)
  }

  string(): string {
    const size = this.size()
    const start = this.take(size)
    return this.#source.bytes.toString('utf8', start, start + size)
  }

  /** Checks the lengths at once; decodes the strings at each iteration. */
  texts(count: number): Texts {
    const start = this.#offset
    for (let index = 0; index < count; index++) this.take(this.size())
    const source = { ...this.#source, bytes: this.#source.bytes.subarray(0, this.#offset) }
    return {
      length: count,
      *[Symbol.iterator]() {
        const cursor = new GgufCursor(source)
        cursor.take(start)
        for (let index = 0; index < count; index++) yield cursor.string()
      },
    }
  }

  /** A copy of the next bytes, aligned for any typed array. */
  copy(size: number): ArrayBuffer {
    const start = this.take(size)
    const copied = new ArrayBuffer(size)
    new Uint8Array(copied).set(this.#source.bytes.subarray(start, start + size))
    return copied
  }
}
