/**
 * The 8-bit float OCP E4M3: one sign bit, four of exponent (bias 7), three of significand; subnormals below 2^-6, no
 * infinity, one NaN of each sign. Rounds to nearest, ties to even, and saturates at ±448. Pure.
 */
export const E4M3_MAX = 448
const SMALLEST_NORMAL_EXPONENT = -6
const FRACTION_BITS = 3

const scratch = new DataView(new ArrayBuffer(8))

/** Exponent of a positive number that is normal as a double; every F32 is. */
export function floorLog2(value: number): number {
  scratch.setFloat64(0, value)
  return ((scratch.getUint32(0) >>> 20) & 0x7ff) - 1023
}

/** To the nearest multiple of a power of two, ties to the even one; for values below 2^51 steps. */
export function roundToStep(value: number, step: number): number {
  // Next to the anchor a double's own spacing is one step, so the addition does the rounding.
  const anchor = step * 1.5 * 2 ** 52
  return value + anchor - anchor
}

/** The nearest E4M3 number; NaN stays NaN. */
export function roundToE4m3(value: number): number {
  const magnitude = Math.abs(value)
  if (magnitude >= E4M3_MAX) return value < 0 ? -E4M3_MAX : E4M3_MAX
  const exponent = magnitude === 0 ? SMALLEST_NORMAL_EXPONENT : floorLog2(magnitude)
  return roundToStep(value, 2 ** (Math.max(exponent, SMALLEST_NORMAL_EXPONENT) - FRACTION_BITS))
}
