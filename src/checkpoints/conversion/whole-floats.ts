/** Small tensors of floats, whole. */
import { convertFloats, isFloatType } from '../gguf/float-conversion.ts'
import { readFileChunks } from '../files/open-file.ts'
import type { SafetensorsTensor } from '../safetensors/safetensors-file.ts'

const CHUNK_BYTES = 4 * 2 ** 20

/** All numbers of a tensor whose type is one of floats. */
export async function readWholeFloats(tensor: SafetensorsTensor): Promise<Float32Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of readFileChunks(tensor, CHUNK_BYTES)) chunks.push(chunk.slice())
  return toFloat32(Buffer.concat(chunks), tensor.dtype)
}

export function toFloat32(bytes: Uint8Array, dtype: string): Float32Array {
  const converted = convertFloats(bytes, isFloatType(dtype) ? dtype : 'F32', 'F32')
  // A copy: a buffer may be part of one that others use.
  return new Float32Array(new Uint8Array(converted).buffer)
}
