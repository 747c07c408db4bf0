import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { roundToE4m3 } from './fp8-rows.ts'
import { convertFloats } from '../gguf/float-conversion.ts'
import { encodeFp8Rows, FP8_BLOCK_BYTES, FP8_BLOCK_ELEMENTS, rowScale } from './fp8-rows.ts'

/** What llama.cpp reads in Q8_0 blocks. */
function decode(bytes: Uint8Array): number[] {
  const values: number[] = []
  for (let block = 0; block < bytes.length; block += FP8_BLOCK_BYTES) {
    const half = convertFloats(bytes.slice(block, block + 2), 'F16', 'F32')
    const [scale = 0] = new Float32Array(half.buffer, half.byteOffset, 1)
    const steps = new Int8Array(bytes.slice(block + 2, block + FP8_BLOCK_BYTES).buffer)
    values.push(...Array.from(steps, (step) => step * scale))
  }
  return values
}

const row = (values: number[]) =>
  Float32Array.from({ length: FP8_BLOCK_ELEMENTS }, (_, index) => values[index] ?? 0)

const floatRows = fc
  .array(fc.float({ noNaN: true, min: -8, max: 8 }), { minLength: 64, maxLength: 64 })
  .map((values) => Float32Array.from(values))

describe('encodeFp8Rows', () => {
  it('stores weights within 8x of their block exactly as the E4M3 numbers of the row', () => {
    fc.assert(
      fc.property(floatRows, (values) => {
        const scale = rowScale(values)
        const decoded = decode(encodeFp8Rows(values, values.length).bytes)
        for (let block = 0; block < values.length; block += FP8_BLOCK_ELEMENTS) {
          const targets = Array.from(
            values.subarray(block, block + FP8_BLOCK_ELEMENTS),
            (value) => roundToE4m3(value / scale) * scale,
          )
          const max = Math.max(...targets.map(Math.abs))
          targets.forEach((target, index) => {
            const stored = decoded[block + index] ?? Number.NaN
            if (Math.abs(target) * 8 > max && max >= 2 ** -18) expect(stored + 0).toBe(target + 0)
            else expect(Math.abs(stored - target)).toBeLessThanOrEqual(max / 128 + 2 ** -25)
          })
        }
      }),
    )
  })

  it('counts the weights it stored exactly', () => {
    // 0.04 becomes 0.0390625 under a scale of 2^-8, which the block's step of 2^-6 cannot hold.
    const { bytes, exactWeights } = encodeFp8Rows(row([1, 0.5, 0.04]), FP8_BLOCK_ELEMENTS)
    expect(decode(bytes).slice(0, 4)).toEqual([1, 0.5, 0.03125, 0])
    expect(exactWeights).toBe(FP8_BLOCK_ELEMENTS - 1)
  })

  it('gives a block the scale 2^(floor(log2 max) - 6)', () => {
    const { bytes } = encodeFp8Rows(row([1.75, -0.25]), FP8_BLOCK_ELEMENTS)
    // 2^-6 in half precision, then 1.75 and -0.25 in steps of it.
    expect([...bytes.subarray(0, 4)]).toEqual([0x00, 0x24, 112, 256 - 16])
  })

  it('scales each row by itself, and never lets its largest weight saturate', () => {
    const rows = Float32Array.from([...row([1.9, 0.1]), ...row([1.9e-3, 1e-4])])
    const decoded = decode(encodeFp8Rows(rows, FP8_BLOCK_ELEMENTS).bytes)
    expect(decoded[0]).toBe(1.875)
    expect((decoded[FP8_BLOCK_ELEMENTS] ?? 0) / 1.9e-3).toBeCloseTo(1, 1)
    fc.assert(
      fc.property(fc.float({ noNaN: true, min: Math.fround(1e-20), max: Math.fround(1e20) }), (max) => {
        expect(
          Math.abs(roundToE4m3(max / rowScale(row([max]))) - max / rowScale(row([max]))),
        ).toBeLessThanOrEqual(16)
      }),
    )
  })

  it('stores zeros as zeros', () => {
    expect(encodeFp8Rows(row([]), FP8_BLOCK_ELEMENTS)).toEqual({
      bytes: new Uint8Array(FP8_BLOCK_BYTES),
      exactWeights: FP8_BLOCK_ELEMENTS,
    })
  })

  it('refuses a weight that no half-precision block scale reaches', () => {
    expect(() => encodeFp8Rows(row([2 ** 22]), FP8_BLOCK_ELEMENTS)).toThrow(RangeError)
    expect(decode(encodeFp8Rows(row([2 ** 21]), FP8_BLOCK_ELEMENTS).bytes)[0]).toBe(2 ** 21)
  })
})
