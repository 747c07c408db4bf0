/**
 * Conversion between the float types of stored weights, rounding to nearest even as PyTorch does, and the search for NaN
 * and Infinity in every tensor. Works on chunks, in typed arrays, on a little-endian machine (the only kind that llama.cpp
 * has prebuilt libraries for).
 */
export type FloatType = 'F32' | 'F16' | 'BF16'

export const FLOAT_BYTES: Readonly<Record<FloatType, number>> = { F32: 4, F16: 2, BF16: 2 }

export function isFloatType(dtype: string): dtype is FloatType {
  return Object.hasOwn(FLOAT_BYTES, dtype)
}

/** Index of the first NaN or Infinity; null when all numbers are finite. */
export function findNonFinite(bytes: Uint8Array, type: FloatType): number | null {
  if (type === 'F32') return findAllOnes(asUint32(bytes), 0x7f80_0000)
  return findAllOnes(asUint16(bytes), type === 'F16' ? 0x7c00 : 0x7f80)
}

/** Converts whole elements; returns `bytes` itself when the types are equal. */
export function convertFloats(bytes: Uint8Array, from: FloatType, to: FloatType): Uint8Array {
  if (from === to) return bytes
  if (to === 'F32') return asBytes(from === 'F16' ? f16ToF32(asUint16(bytes)) : bf16ToF32(asUint16(bytes)))
  if (from === 'F32') return asBytes(fromF32(asUint32(bytes), to))
  return convertFloats(convertFloats(bytes, from, 'F32'), 'F32', to)
}

function findAllOnes(bits: Uint16Array | Uint32Array, exponentMask: number): number | null {
  for (let index = 0; index < bits.length; index++) {
    if (((bits[index] ?? 0) & exponentMask) === exponentMask) return index
  }
  return null
}

function bf16ToF32(bits: Uint16Array): Uint32Array {
  const words = new Uint32Array(bits.length)
  for (let index = 0; index < bits.length; index++) words[index] = (bits[index] ?? 0) << 16
  return words
}

function f16ToF32(bits: Uint16Array): Float32Array {
  const table = (f16Table ??= Float32Array.from({ length: 2 ** 16 }, (_, half) => f16Value(half)))
  const values = new Float32Array(bits.length)
  for (let index = 0; index < bits.length; index++) values[index] = table[bits[index] ?? 0] ?? 0
  return values
}

/** Made on first use: 256 KiB that most processes never need. */
let f16Table: Float32Array | undefined

function f16Value(half: number): number {
  const sign = half & 0x8000 ? -1 : 1
  const exponent = (half >>> 10) & 0x1f
  const fraction = half & 0x3ff
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25)
}

function fromF32(bits: Uint32Array, to: 'F16' | 'BF16'): Uint16Array {
  const round = to === 'F16' ? f32BitsToF16 : f32BitsToBf16
  const halves = new Uint16Array(bits.length)
  for (let index = 0; index < bits.length; index++) halves[index] = round(bits[index] ?? 0)
  return halves
}

/** Finite input only; a number too large becomes Infinity. */
function f32BitsToBf16(bits: number): number {
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16
}

/** Finite input only; a number too large becomes Infinity. */
function f32BitsToF16(bits: number): number {
  const sign = (bits >>> 16) & 0x8000
  const magnitude = bits & 0x7fff_ffff
  if (magnitude >= 0x4780_0000) return sign | 0x7c00
  if (magnitude >= 0x3880_0000) {
    // Normal in both: rebias the exponent by 127 - 15, drop 13 bits; a carry runs into the exponent as it should.
    return sign | ((magnitude - 0x3800_0000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13)
  }
  if (magnitude < 0x3300_0000) return sign
  // Subnormal in F16: the significand as a multiple of 2^-24.
  const significand = (magnitude & 0x7f_ffff) | 0x80_0000
  const shift = 126 - (magnitude >>> 23)
  const half = 2 ** (shift - 1)
  const quotient = significand >>> shift
  const remainder = significand & (2 ** shift - 1)
  const roundsUp = remainder > half || (remainder === half && (quotient & 1) === 1)
  return sign | (quotient + (roundsUp ? 1 : 0))
}

function asUint16(bytes: Uint8Array): Uint16Array {
  return new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2)
}

function asUint32(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
}

function asBytes(values: Uint16Array | Uint32Array | Float32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}
