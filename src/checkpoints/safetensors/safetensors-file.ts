/**
 * Reads the headers of safetensors files: one, or the shards that a `model.safetensors.index.json` names. A header is
 * 8 bytes of length, then JSON with each tensor's type, shape and range, which are checked against the file: none
 * outside it, no overlap, no gap. A `Checkpoint` is plain data; no file stays open.
 */
import { basename, dirname, join } from 'node:path'
import { badFile, fileError, quoted, shown } from '../files/file-errors.ts'
import { elementCount } from '../gguf/gguf-format.ts'
import { isRecord, objectField, parseJson, readJsonObject, toJsonObject } from '../files/json-file.ts'
import { type FileRange, openFile } from '../files/open-file.ts'

const LENGTH_BYTES = 8
/** The bound of the format's own reference reader. */
const MAX_HEADER_BYTES = 100_000_000
/** Ten times as large as those of the largest files; as JSON it may take thirty times as much memory. */
const MAX_READ_BYTES = 32 * 2 ** 20

const ELEMENT_BYTES: Readonly<Record<string, number>> = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E4M3: 1,
  F8_E5M2: 1,
  F8_E8M0: 1,
  U16: 2,
  I16: 2,
  F16: 2,
  BF16: 2,
  U32: 4,
  I32: 4,
  F32: 4,
  U64: 8,
  I64: 8,
  F64: 8,
  C64: 8,
}

export interface SafetensorsTensor extends FileRange {
  readonly name: string
  /** As the file names it: `F16`, `BF16`, ... */
  readonly dtype: string
  /** PyTorch's order: rows before columns. */
  readonly shape: readonly number[]
}

export interface Checkpoint {
  /** The safetensors file or the index that was opened; for messages. */
  readonly path: string
  readonly tensors: ReadonlyMap<string, SafetensorsTensor>
}

/** Opens a `.safetensors` file, or the `.json` index of a sharded checkpoint. */
export async function openCheckpoint(path: string, maxHeaderBytes = MAX_READ_BYTES): Promise<Checkpoint> {
  const tensors = new Map<string, SafetensorsTensor>()
  // One after the other: the headers of thousands of shards do not fit into memory together.
  for (const file of await weightFiles(path)) {
    for (const tensor of await readTensorList(file, maxHeaderBytes)) {
      if (tensors.has(tensor.name))
        throw badFile(path, `is unusable: tensor ${quoted(tensor.name)} is in two of its files`)
      tensors.set(tensor.name, tensor)
    }
  }
  return { path, tensors }
}

/** The safetensors files of a checkpoint: the path itself, or those that the index names. */
export async function weightFiles(path: string): Promise<readonly string[]> {
  return path.endsWith('.json') ? readShardPaths(path) : [path]
}

async function readShardPaths(indexPath: string): Promise<string[]> {
  const index = await readJsonObject(indexPath)
  const files = new Set(Object.values(objectField(index, 'weight_map')?.fields ?? {}))
  if (files.size === 0) throw badFile(indexPath, 'names no files in its "weight_map"')
  return Array.from(files, (file) => {
    // A shard lies beside its index; anything else would reach outside the folder.
    if (typeof file !== 'string' || basename(file) !== file || !file.endsWith('.safetensors')) {
      throw badFile(indexPath, `is unusable: ${shown(file)} is no file name of a shard`)
    }
    return join(dirname(indexPath), file)
  })
}

async function readTensorList(path: string, maxHeaderBytes: number): Promise<readonly SafetensorsTensor[]> {
  return await atStart(path, async ({ length, size, read }) => {
    if (length > maxHeaderBytes)
      throw badFile(
        path,
        `has a header of ${length} bytes, but one of its kind has at most ${maxHeaderBytes}`,
      )
    return parseSafetensorsHeader(path, await read(LENGTH_BYTES, length), size)
  })
}

/** How many bytes of a file are its header. @throws StartError where it has none */
export async function headerLength(path: string): Promise<number> {
  return await atStart(path, ({ length }) => length)
}

interface FileStart {
  /** Of the header. */
  readonly length: number
  /** Of the file. */
  readonly size: number
  readonly read: (offset: number, length: number) => Promise<Buffer>
}

async function atStart<Result>(
  path: string,
  use: (start: FileStart) => Result | Promise<Result>,
): Promise<Result> {
  try {
    await using handle = await openFile(path)
    const { size } = await handle.stat()
    const read = async (offset: number, length: number) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset)
      return buffer.subarray(0, bytesRead)
    }
    return await use({ length: parseHeaderLength(path, await read(0, LENGTH_BYTES), size), size, read })
  } catch (error) {
    throw fileError('read', path, error)
  }
}

/** Length of the JSON behind the first eight bytes. */
export function parseHeaderLength(path: string, firstBytes: Buffer, fileSizeBytes: number): number {
  if (firstBytes.length < LENGTH_BYTES)
    throw badFile(path, 'is no safetensors file: it is shorter than 8 bytes')
  const length = firstBytes.readBigUInt64LE(0)
  if (length > BigInt(MAX_HEADER_BYTES) || length < 2n) {
    throw badFile(path, `is no safetensors file: its header would be ${length} bytes long`)
  }
  if (LENGTH_BYTES + Number(length) > fileSizeBytes) {
    throw badFile(path, `is truncated: its header is ${length} bytes long, but the file has ${fileSizeBytes}`)
  }
  return Number(length)
}

/** The tensors in the order of their data. */
export function parseSafetensorsHeader(
  path: string,
  headerBytes: Buffer,
  fileSizeBytes: number,
): SafetensorsTensor[] {
  const header = toJsonObject(path, parseJson(path, headerBytes.toString('utf8')))
  const dataOffsetBytes = LENGTH_BYTES + headerBytes.length
  const tensors = Object.entries(header.fields)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, entry]) => parseTensor(path, name, entry))
    .map((tensor) => ({ ...tensor, offsetBytes: dataOffsetBytes + tensor.offsetBytes }))
    .sort((a, b) => a.offsetBytes - b.offsetBytes || a.sizeBytes - b.sizeBytes)
  checkRanges(path, tensors, { dataOffsetBytes, fileSizeBytes })
  return tensors
}

/** The tensor, with its offset in the data as the header has it. */
function parseTensor(path: string, name: string, entry: unknown): SafetensorsTensor {
  const { dtype, shape, data_offsets: offsets } = isRecord(entry) ? entry : {}
  const elementBytes =
    typeof dtype === 'string' && Object.hasOwn(ELEMENT_BYTES, dtype) ? ELEMENT_BYTES[dtype] : undefined
  if (typeof dtype !== 'string' || elementBytes === undefined) {
    throw badFile(path, `has tensor ${quoted(name)} of the type ${shown(dtype)}, which is not known`)
  }
  if (!isSizes(shape) || !isSizes(offsets))
    throw badFile(path, `is corrupted: tensor ${quoted(name)} has no usable shape`)
  const [begin = 0, end = 0] = offsets
  const sizeBytes = elementCount(shape) * elementBytes
  if (offsets.length !== 2 || end - begin !== sizeBytes) {
    throw badFile(
      path,
      `is corrupted: tensor ${quoted(name)} should be ${sizeBytes} bytes long, not ${end - begin}`,
    )
  }
  return { name, dtype, shape, filePath: path, offsetBytes: begin, sizeBytes }
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0)
}

function checkRanges(
  path: string,
  tensors: readonly SafetensorsTensor[],
  { dataOffsetBytes, fileSizeBytes }: { readonly dataOffsetBytes: number; readonly fileSizeBytes: number },
): void {
  let endBytes = dataOffsetBytes
  for (const { name, offsetBytes, sizeBytes } of tensors) {
    if (offsetBytes !== endBytes)
      throw badFile(path, `is corrupted: there is a gap or an overlap before tensor ${quoted(name)}`)
    endBytes = offsetBytes + sizeBytes
  }
  if (endBytes === fileSizeBytes) return
  const what = endBytes > fileSizeBytes ? 'truncated' : 'corrupted'
  throw badFile(path, `is ${what}: its tensors end at byte ${endBytes}, but the file has ${fileSizeBytes}`)
}
