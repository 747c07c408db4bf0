/**
 * Rows of weights as fp8: each is rounded to E4M3 under a power-of-two scale of its own, then stored in the layout of
 * llama.cpp's Q8_0 (blocks of 32: a half-precision scale and 32 signed bytes) with the block scale
 * 2^(floor(log2 max) - 6). A weight within 8x of its block's largest is stored exactly; a smaller one rounds once more,
 * to a multiple of the block scale. Pure, on a chunk of rows in memory.
 */
export const E4M3_MAX = 448
const SMALLEST_NORMAL_EXPONENT = -6
const FRACTION_BITS = 3

export const FP8_BLOCK_ELEMENTS = 32
export const FP8_BLOCK_BYTES = 34

const E4M3_MAX_EXPONENT = 8
/** Above half-way between the largest E4M3 number and what would follow it. */
const SATURATES_ABOVE = E4M3_MAX + 16
/** A block's largest weight becomes 64 to 120 steps of its scale. */
const STEPS_EXPONENT = 6
const HALF_MIN_EXPONENT = -24
const HALF_MIN_NORMAL_EXPONENT = -14
const HALF_MAX_EXPONENT = 15

export interface Fp8Rows {
  readonly bytes: Uint8Array
  /** Weights whose stored value is exactly the E4M3 number they were rounded to. */
  readonly exactWeights: number
}

/**
 * Finite values, whole rows of whole blocks.
 * @throws RangeError for a weight that no block scale reaches.
 */
export function encodeFp8Rows(values: Float32Array, rowElements: number): Fp8Rows {
  const bytes = new Uint8Array((values.length / FP8_BLOCK_ELEMENTS) * FP8_BLOCK_BYTES)
  let exactWeights = 0
  for (let row = 0; row < values.length; row += rowElements) {
    const scale = rowScale(values.subarray(row, row + rowElements))
    for (let block = row; block < row + rowElements; block += FP8_BLOCK_ELEMENTS) {
      const target = bytes.subarray((block / FP8_BLOCK_ELEMENTS) * FP8_BLOCK_BYTES)
      exactWeights += encodeBlock(values.subarray(block, block + FP8_BLOCK_ELEMENTS), scale, target)
    }
  }
  return { bytes, exactWeights }
}

/** The power of two that brings the row's largest weight under E4M3's largest number. */
export function rowScale(row: Float32Array): number {
  const max = largest(row)
  if (max === 0) return 1
  const scale = 2 ** (floorLog2(max) - E4M3_MAX_EXPONENT)
  return max / scale > SATURATES_ABOVE ? scale * 2 : scale
}

const rounded = new Float64Array(FP8_BLOCK_ELEMENTS)

/** Returns the number of weights that are stored exactly. */
function encodeBlock(block: Float32Array, scale: number, target: Uint8Array): number {
  let max = 0
  for (let index = 0; index < FP8_BLOCK_ELEMENTS; index++) {
    const value = roundToE4m3((block[index] ?? 0) / scale) * scale
    rounded[index] = value
    max = Math.max(max, Math.abs(value))
  }
  if (max === 0) {
    target.fill(0, 0, FP8_BLOCK_BYTES)
    return FP8_BLOCK_ELEMENTS
  }
  const exponent = Math.max(floorLog2(max) - STEPS_EXPONENT, HALF_MIN_EXPONENT)
  const step = 2 ** exponent
  const half = halfOfPower(exponent)
  target[0] = half & 0xff
  target[1] = half >>> 8
  let exact = 0
  for (let index = 0; index < FP8_BLOCK_ELEMENTS; index++) {
    const value = rounded[index] ?? 0
    const steps = roundToStep(value / step, 1)
    target[2 + index] = steps
    if (steps * step === value) exact++
  }
  return exact
}

/** A power of two in half precision. */
function halfOfPower(exponent: number): number {
  if (exponent > HALF_MAX_EXPONENT) throw new RangeError('a weight is too large for fp8')
  if (exponent >= HALF_MIN_NORMAL_EXPONENT) return (exponent + 15) << 10
  return 1 << (exponent - HALF_MIN_EXPONENT)
}

function largest(values: Float32Array): number {
  let max = 0
  for (let index = 0; index < values.length; index++) max = Math.max(max, Math.abs(values[index] ?? 0))
  return max
}

const scratch = new DataView(new ArrayBuffer(8))

/** Exponent of a positive number that is normal as a double; every F32 is. */
function floorLog2(value: number): number {
  scratch.setFloat64(0, value)
  return ((scratch.getUint32(0) >>> 20) & 0x7ff) - 1023
}

/** To the nearest multiple of a power of two, ties to the even one; for values below 2^51 steps. */
export function roundToStep(value: number, step: number): number {
  // Next to the anchor a double's own spacing is one step, so the addition does the rounding.
  const anchor = step * 1.5 * 2 ** 52
  return value + anchor - anchor
}

/**
 * The nearest number in OCP E4M3: one sign bit, four of exponent (bias 7), three of significand; subnormals below 2^-6, no
 * infinity. Ties go to the even one, and values beyond the largest become it; NaN stays NaN.
 */
export function roundToE4m3(value: number): number {
  const magnitude = Math.abs(value)
  if (magnitude >= E4M3_MAX) return value < 0 ? -E4M3_MAX : E4M3_MAX
  const exponent = magnitude === 0 ? SMALLEST_NORMAL_EXPONENT : floorLog2(magnitude)
  return roundToStep(value, 2 ** (Math.max(exponent, SMALLEST_NORMAL_EXPONENT) - FRACTION_BITS))
}
