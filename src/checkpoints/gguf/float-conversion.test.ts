import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../test/support/length-of.ts'
import { convertFloats, findNonFinite } from './float-conversion.ts'

const bytesOf = (values: Float32Array | Uint16Array) => new Uint8Array(values.buffer)
const f32Of = (bytes: Uint8Array) => new Float32Array(bytes.slice().buffer)
const halvesOf = (bytes: Uint8Array) => new Uint16Array(bytes.slice().buffer)

/** The nearest of all finite F16 values, ties to the even one; written without any bit tricks. */
function nearestF16(value: number): number {
  const magnitude = Math.abs(value)
  const step = magnitude < 2 ** -14 ? 2 ** -24 : 2 ** (Math.floor(Math.log2(magnitude)) - 10)
  const lower = Math.floor(magnitude / step)
  const distance = magnitude / step - lower
  const rounded = distance > 0.5 || (distance === 0.5 && lower % 2 === 1) ? lower + 1 : lower
  return Math.sign(value) * rounded * step
}

describe('convertFloats', () => {
  it('widens every finite F16 and narrows it back to the same bits', () => {
    const halves = Uint16Array.from({ length: 2 ** 16 }, (_, half) => half).filter(
      (half) => (half & 0x7c00) !== 0x7c00,
    )
    expect(halvesOf(convertFloats(convertFloats(bytesOf(halves), 'F16', 'F32'), 'F32', 'F16'))).toEqual(
      halves,
    )
  })

  it('knows what F16 bits stand for', () => {
    const halves = Uint16Array.of(0x3c00, 0xc000, 0x7bff, 0x0001, 0x0400, 0x3555)
    expect(Array.from(f32Of(convertFloats(bytesOf(halves), 'F16', 'F32')))).toEqual([
      1,
      -2,
      65504,
      2 ** -24,
      2 ** -14,
      0.333251953125,
    ])
  })

  it('rounds F32 to the nearest F16, ties to even', () => {
    const anyFloat = fc.oneof(
      fc.float({ min: -65000, max: 65000, noNaN: true }),
      fc.float({ min: Math.fround(-1e-4), max: Math.fround(1e-4), noNaN: true }),
      fc.integer({ min: -4096, max: 4096 }).map((steps) => steps * 2 ** -25),
    )
    fc.assert(
      fc.property(anyFloat, (value) => {
        const [result = Number.NaN] = f32Of(
          convertFloats(convertFloats(bytesOf(Float32Array.of(value)), 'F32', 'F16'), 'F16', 'F32'),
        )
        expect(result).toBeCloseTo(nearestF16(value), 30)
      }),
      { numRuns: lengthOf({ test: 1000, soak: 40_000 }) },
    )
  })

  it('rounds F32 to the nearest BF16, ties to even, and widens BF16 exactly', () => {
    const tie = Float32Array.of(1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -8 + 2 ** -20, -3.25)
    const narrowed = convertFloats(bytesOf(tie), 'F32', 'BF16')
    expect(Array.from(f32Of(convertFloats(narrowed, 'BF16', 'F32')))).toEqual([
      1,
      1 + 2 ** -6,
      1 + 2 ** -7,
      -3.25,
    ])
  })

  it('turns a number too large for the target into Infinity, which is then found', () => {
    const large = convertFloats(bytesOf(Float32Array.of(1, 65520)), 'F32', 'F16')
    expect(findNonFinite(large, 'F16')).toBe(1)
    expect(findNonFinite(convertFloats(bytesOf(Float32Array.of(3.4028235e38)), 'F32', 'BF16'), 'BF16')).toBe(
      0,
    )
  })
})

describe('findNonFinite', () => {
  it('finds NaN and Infinity in each type', () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(findNonFinite(bytesOf(Float32Array.of(0, 1, bad)), 'F32')).toBe(2)
    }
    expect(findNonFinite(bytesOf(Uint16Array.of(0x7bff, 0xfc00)), 'F16')).toBe(1)
    expect(findNonFinite(bytesOf(Uint16Array.of(0x7f7f, 0x7fc0)), 'BF16')).toBe(1)
    expect(findNonFinite(bytesOf(Uint16Array.of(0x7f7f, 0xff7f)), 'BF16')).toBeNull()
  })
})
