/** The halves of LoRA pairs as PEFT stores them, and the parts of an adapter in GGUF that are made of them. */
import { badFile, quoted } from '../files/file-errors.ts'
import { convertFloats, findNonFinite, isFloatType } from '../gguf/float-conversion.ts'
import type { GgufTensor } from '../gguf/gguf-format.ts'
import { readFileChunks } from '../files/open-file.ts'
import type { SafetensorsTensor } from '../safetensors/safetensors-file.ts'
import type { PeftConfig } from './peft-config.ts'

const PREFIX = 'base_model.model.'
const PART = /^(?<module>.+)\.lora_(?<part>[AB])\.weight$/

export interface LoraHalf {
  readonly source: SafetensorsTensor
  /** As the base model names it. */
  readonly module: string
  readonly part: 'A' | 'B'
  readonly rows: number
  readonly columns: number
}

/** One half of one pair of the adapter in GGUF. */
export interface LoraPart extends GgufTensor {
  readonly type: 'F32'
  /** Its numbers, row by row. */
  readonly data: () => AsyncIterable<Uint8Array>
}

/** @throws StartError naming the tensor that is no such half */
export function readLoraHalf(source: SafetensorsTensor): LoraHalf {
  const { name, filePath, shape } = source
  const { module, part } = PART.exec(name)?.groups ?? {}
  if (module === undefined)
    throw badFile(filePath, `has tensor ${quoted(name)}, which is not half of a LoRA pair of a linear layer`)
  if (shape.length !== 2)
    throw badFile(filePath, `has tensor ${quoted(name)} with ${shape.length} dimensions, not 2`)
  const [rows = 0, columns = 0] = shape
  const own = module.startsWith(PREFIX) ? module.slice(PREFIX.length) : module
  return { source, module: own, part: part === 'B' ? 'B' : 'A', rows, columns }
}

/** Its numbers times the scale, row by row. @throws StartError naming a type that is not converted, or a number that is none */
export async function numbersOf({ source }: LoraHalf, scale = 1): Promise<Float32Array> {
  const { name, dtype, filePath, sizeBytes } = source
  if (!isFloatType(dtype))
    throw badFile(filePath, `has tensor ${quoted(name)} of type ${dtype}; F32, F16 and BF16 are converted`)
  let stored: Uint8Array = new Uint8Array()
  for await (const chunk of readFileChunks(source, Math.max(1, sizeBytes))) stored = chunk
  if (findNonFinite(stored, dtype) !== null)
    throw badFile(filePath, `holds a NaN or an Infinity in tensor ${quoted(name)}`)
  const { buffer, byteOffset, byteLength } = convertFloats(stored, dtype, 'F32')
  const numbers = new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT)
  return scale === 1 ? numbers : numbers.map((number) => number * scale)
}

/** What B of a pair is multiplied by, since an adapter in GGUF has one alpha for all of them. */
export function scaleOf({ module, part, columns }: LoraHalf, { alpha, alphaOf }: PeftConfig): number {
  return part === 'B' ? alphaOf(module, columns) / alpha : 1
}

export function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
