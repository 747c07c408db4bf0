/**
 * Weights in 8 bits with a scale for each row, or one for all, as compressed-tensors stores them ("int-quantized"): back to
 * floats, so that the model is converted, and quantized otherwise, like any other.
 */
import { quoted, badFile } from '../files/file-errors.ts'
import { convertFloats, type FloatType, isFloatType } from '../gguf/float-conversion.ts'
import { elementCount } from '../gguf/gguf-format.ts'
import { readWholeFloats } from './whole-floats.ts'
import type { Checkpoint, SafetensorsTensor } from '../safetensors/safetensors-file.ts'

/** Where the scales of a matrix are. */
export function scalesName(weightName: string): string {
  return `${weightName}_scale`
}

/** The scales of a matrix of 8-bit integers; null for other types. @throws StartError where they are missing or do not fit */
export function findScales({ tensors }: Checkpoint, weight: SafetensorsTensor): SafetensorsTensor | null {
  if (weight.dtype !== 'I8') return null
  const [rows = 0] = weight.shape
  const scales = tensors.get(scalesName(weight.name))
  if (scales === undefined) throw badFile(weight.filePath, `lacks tensor ${quoted(scalesName(weight.name))}`)
  const count = elementCount(scales.shape)
  if (!isFloatType(scales.dtype) || (count !== rows && count !== 1)) {
    const found = `${scales.dtype} and shape [${scales.shape.join(', ')}]`
    throw badFile(
      scales.filePath,
      `has tensor ${quoted(scales.name)} of type ${found}; ${rows} floats are wanted, or one`,
    )
  }
  return scales
}

/** One for each of so many rows. */
export async function readScales(tensor: SafetensorsTensor, rows: number): Promise<Float32Array> {
  const scales = await readWholeFloats(tensor)
  return scales.length === rows ? scales : new Float32Array(rows).fill(scales[0] ?? Number.NaN)
}

/** Whole rows of integers as floats, from row `first` on. A row holds 256 numbers at most, so each of those is rounded only once. */
export function scaleRows(
  integers: Uint8Array,
  scales: Float32Array,
  { first, columns, type }: { readonly first: number; readonly columns: number; readonly type: FloatType },
): Uint8Array {
  const numbers = new Int8Array(integers.buffer, integers.byteOffset, integers.length)
  const products = new Float32Array(256)
  const words = type === 'F32' ? new Uint32Array(numbers.length) : new Uint16Array(numbers.length)
  for (let begin = 0, row = first; begin < numbers.length; begin += columns, row++) {
    const scale = scales[row] ?? Number.NaN
    for (let i = 0; i < 256; i++) products[i] = (i - 128) * scale
    const { buffer } = convertFloats(new Uint8Array(products.buffer), 'F32', type)
    const rounded = type === 'F32' ? new Uint32Array(buffer) : new Uint16Array(buffer)
    for (let i = begin; i < begin + columns; i++) words[i] = rounded[(numbers[i] ?? 0) + 128] ?? 0
  }
  return new Uint8Array(words.buffer)
}
