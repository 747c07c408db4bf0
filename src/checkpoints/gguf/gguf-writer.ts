/**
 * Writes a GGUF file: the header first, then each tensor's data in order, streamed. `layoutGguf` is pure and computes
 * the size of the file beforehand; `writeGguf` needs no more memory than the chunks it receives.
 */
import { open } from 'node:fs/promises'
import { InvariantError } from '../../core/errors.ts'
import { fileError } from '../files/file-errors.ts'
import {
  alignUp,
  GGML_TYPES,
  GGUF_DEFAULT_ALIGNMENT,
  GGUF_MAGIC,
  GGUF_NUMBERS,
  GGUF_VALUE_TYPES,
  GGUF_VERSION,
  type GgufArray,
  type GgufMetadata,
  type GgufScalar,
  type GgufTensor,
  type GgufTensorInfo,
  type GgufValue,
  type GgufValueType,
  type Texts,
  tensorSizeBytes,
} from './gguf-format.ts'

export interface GgufLayout<Tensor extends GgufTensor = GgufTensor> {
  /** Padded, so that the data begins right behind it. */
  readonly headerBytes: Uint8Array
  readonly tensors: readonly (Tensor & GgufTensorInfo)[]
  readonly fileSizeBytes: number
}

export function layoutGguf<Tensor extends GgufTensor>(
  metadata: GgufMetadata,
  tensors: readonly Tensor[],
): GgufLayout<Tensor> {
  let nextOffset = 0
  const placed = tensors.map((tensor) => {
    const sizeBytes = tensorSizeBytes(tensor)
    const offsetBytes = nextOffset
    nextOffset = alignUp(offsetBytes + sizeBytes, GGUF_DEFAULT_ALIGNMENT)
    return { ...tensor, offsetBytes, sizeBytes }
  })
  const header = Buffer.concat([
    uint32(GGUF_MAGIC),
    uint32(GGUF_VERSION),
    uint64(placed.length),
    uint64(metadata.size),
    ...Array.from(metadata, ([key, value]) => Buffer.concat([string(key), encodeValue(value)])),
    ...placed.map(encodeTensorInfo),
  ])
  const headerBytes = Buffer.alloc(alignUp(header.length, GGUF_DEFAULT_ALIGNMENT))
  header.copy(headerBytes)
  return { headerBytes, tensors: placed, fileSizeBytes: headerBytes.length + nextOffset }
}

/**
 * Writes the file, which must not exist yet, and waits until it is on the disk.
 * `tensorData` is called once per tensor, in order; a chunk is written before the next is requested.
 */
export async function writeGguf<Tensor extends GgufTensor>(
  path: string,
  layout: GgufLayout<Tensor>,
  tensorData: (tensor: Tensor & GgufTensorInfo) => AsyncIterable<Uint8Array>,
): Promise<void> {
  try {
    await using handle = await open(path, 'wx')
    await handle.writeFile(layout.headerBytes)
    for (const tensor of layout.tensors) {
      let written = 0
      for await (const chunk of tensorData(tensor)) {
        // From the current position on, until all of it is written.
        await handle.writeFile(chunk)
        written += chunk.length
      }
      if (written !== tensor.sizeBytes) {
        throw new InvariantError(`${written} bytes came for tensor ${tensor.name} of ${tensor.sizeBytes}`)
      }
      await handle.writeFile(Buffer.alloc(alignUp(written, GGUF_DEFAULT_ALIGNMENT) - written))
    }
    await handle.datasync()
  } catch (error) {
    throw fileError('write', path, error)
  }
}

function encodeTensorInfo({ name, shape, type, offsetBytes }: GgufTensorInfo): Buffer {
  return Buffer.concat([
    string(name),
    uint32(shape.length),
    ...shape.map(uint64),
    uint32(GGML_TYPES[type].id),
    uint64(offsetBytes),
  ])
}

function encodeValue(value: GgufValue): Buffer {
  if (value.type !== 'array') return Buffer.concat([typeId(value.type), encodeScalar(value)])
  return Buffer.concat([
    typeId('array'),
    typeId(value.itemType),
    uint64(value.items.length),
    encodeItems(value),
  ])
}

function encodeItems(array: GgufArray): Buffer {
  if (array.itemType === 'string') return encodeStrings(array.items)
  const items = Array.from<number | bigint | boolean>(array.items)
  return Buffer.concat(items.map((value) => encodeScalar({ type: array.itemType, value } as GgufScalar)))
}

/** A vocabulary has hundreds of thousands of entries: one allocation for all of them. */
function encodeStrings(texts: Texts): Buffer {
  let totalBytes = 0
  for (const text of texts) totalBytes += 8 + Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(totalBytes)
  let offset = 0
  for (const text of texts) {
    const sizeBytes = bytes.write(text, offset + 8)
    bytes.writeBigUInt64LE(BigInt(sizeBytes), offset)
    offset += 8 + sizeBytes
  }
  return bytes
}

function encodeScalar({ type, value }: GgufScalar): Buffer {
  if (type === 'string') return string(value)
  if (type === 'bool') return Buffer.from([value ? 1 : 0])
  return number(type, value)
}

function number(type: keyof typeof GGUF_NUMBERS, value: number | bigint): Buffer {
  const { write, List } = GGUF_NUMBERS[type]
  const bytes = Buffer.alloc(List.BYTES_PER_ELEMENT)
  write(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, value as never)
  return bytes
}

function typeId(type: GgufValueType): Buffer {
  return uint32(GGUF_VALUE_TYPES.indexOf(type))
}

function uint32(value: number): Buffer {
  return number('uint32', value)
}

function uint64(value: number): Buffer {
  return number('uint64', BigInt(value))
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8')
  return Buffer.concat([uint64(bytes.length), bytes])
}
