/**
 * Parses the header of a safetensors file: 8 bytes of length, then JSON with each tensor's type, shape and place.
 * Every place is checked against the file: no tensor outside it, none overlapping, no gap. Pure.
 */
import { badFile, quoted, shown } from '../file-errors.ts'
import { elementCount } from '../gguf/gguf-format.ts'
import { isRecord, parseJson, toJsonObject } from '../json-file.ts'

export const LENGTH_BYTES = 8
/** The bound of the format's own reference reader. */
const MAX_HEADER_BYTES = 100_000_000

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

export interface SafetensorsTensor {
  readonly name: string
  /** As the file names it: `F16`, `BF16`, ... */
  readonly dtype: string
  /** PyTorch's order: rows before columns. */
  readonly shape: readonly number[]
  readonly filePath: string
  /** From the start of the file. */
  readonly offsetBytes: number
  readonly sizeBytes: number
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
    .map(([name, entry]) => parseTensor(path, { name, entry, dataOffsetBytes }))
    .sort((a, b) => a.offsetBytes - b.offsetBytes || a.sizeBytes - b.sizeBytes)
  checkPlaces(path, { tensors, dataOffsetBytes, fileSizeBytes })
  return tensors
}

interface TensorEntry {
  readonly name: string
  readonly entry: unknown
  readonly dataOffsetBytes: number
}

function parseTensor(path: string, { name, entry, dataOffsetBytes }: TensorEntry): SafetensorsTensor {
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
  return { name, dtype, shape, filePath: path, offsetBytes: dataOffsetBytes + begin, sizeBytes }
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0)
}

interface Places {
  readonly tensors: readonly SafetensorsTensor[]
  readonly dataOffsetBytes: number
  readonly fileSizeBytes: number
}

function checkPlaces(path: string, { tensors, dataOffsetBytes, fileSizeBytes }: Places): void {
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
