import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../test/support/length-of.ts'
import { E4M3_MAX, roundToE4m3, roundToStep } from './fp8-rows.ts'

/** The positive finite codes 0x00 to 0x7e, row by exponent, written out by hand from the OCP specification. */
const POSITIVE_CODES = [
  '0 0.001953125 0.00390625 0.005859375 0.0078125 0.009765625 0.01171875 0.013671875',
  '0.015625 0.017578125 0.01953125 0.021484375 0.0234375 0.025390625 0.02734375 0.029296875',
  '0.03125 0.03515625 0.0390625 0.04296875 0.046875 0.05078125 0.0546875 0.05859375',
  '0.0625 0.0703125 0.078125 0.0859375 0.09375 0.1015625 0.109375 0.1171875',
  '0.125 0.140625 0.15625 0.171875 0.1875 0.203125 0.21875 0.234375',
  '0.25 0.28125 0.3125 0.34375 0.375 0.40625 0.4375 0.46875',
  '0.5 0.5625 0.625 0.6875 0.75 0.8125 0.875 0.9375',
  '1 1.125 1.25 1.375 1.5 1.625 1.75 1.875',
  '2 2.25 2.5 2.75 3 3.25 3.5 3.75',
  '4 4.5 5 5.5 6 6.5 7 7.5',
  '8 9 10 11 12 13 14 15',
  '16 18 20 22 24 26 28 30',
  '32 36 40 44 48 52 56 60',
  '64 72 80 88 96 104 112 120',
  '128 144 160 176 192 208 224 240',
  '256 288 320 352 384 416 448',
].flatMap((row) => row.split(' ').map(Number))

/** The nearest table entry, of two equally near the one with the even code: the definition, spelled out. */
function nearestByTable(value: number): number {
  const magnitude = Math.min(Math.abs(value), E4M3_MAX)
  let best = 0
  for (let code = 1; code < POSITIVE_CODES.length; code++) {
    const distance = Math.abs((POSITIVE_CODES[code] ?? 0) - magnitude)
    const bestDistance = Math.abs((POSITIVE_CODES[best] ?? 0) - magnitude)
    if (distance < bestDistance || (distance === bestDistance && code % 2 === 0)) best = code
  }
  return Math.sign(value) * (POSITIVE_CODES[best] ?? 0)
}

describe('E4M3', () => {
  it('keeps each number of the table, and minus it', () => {
    expect(POSITIVE_CODES).toHaveLength(127)
    for (const value of [...POSITIVE_CODES, ...POSITIVE_CODES.map((one) => -one)]) {
      expect(roundToE4m3(value) + 0).toBe(value + 0)
    }
    expect(roundToE4m3(Number.NaN)).toBeNaN()
  })

  it('rounds half-way between two neighbours to the even code', () => {
    for (let code = 0; code < POSITIVE_CODES.length - 1; code++) {
      const [low = 0, high = 0] = POSITIVE_CODES.slice(code, code + 2)
      const even = code % 2 === 0 ? low : high
      expect(roundToE4m3((low + high) / 2), `between codes ${code} and ${code + 1}`).toBe(even)
      expect(roundToE4m3(-(low + high) / 2) + 0).toBe(0 - even)
    }
  })

  it('rounds below and above half-way to the nearer neighbour', () => {
    for (let code = 0; code < POSITIVE_CODES.length - 1; code++) {
      const [low = 0, high = 0] = POSITIVE_CODES.slice(code, code + 2)
      const half = (low + high) / 2
      expect(roundToE4m3(half - (high - low) / 1024)).toBe(low)
      expect(roundToE4m3(half + (high - low) / 1024)).toBe(high)
    }
  })

  it('keeps subnormals and rounds what is below half the smallest one to zero', () => {
    expect(roundToE4m3(2 ** -9)).toBe(2 ** -9)
    expect(roundToE4m3(2 ** -10)).toBe(0)
    expect(roundToE4m3(2 ** -10 * 1.001)).toBe(2 ** -9)
    expect(roundToE4m3(2 ** -149)).toBe(0)
  })

  it('saturates at 448', () => {
    for (const value of [448, 448.1, 464, 480, 1e30, Number.POSITIVE_INFINITY]) {
      expect(roundToE4m3(value)).toBe(448)
      expect(roundToE4m3(-value)).toBe(-448)
    }
  })

  it('agrees with the nearest entry of the table for any float', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, min: -600, max: 600 }), (value) => {
        expect(roundToE4m3(value) + 0).toBe(nearestByTable(value) + 0)
      }),
      { numRuns: lengthOf({ test: 1000, soak: 40_000 }) },
    )
  })
})

describe('roundToStep', () => {
  it('rounds to multiples, ties to the even one', () => {
    expect([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, 2.6].map((value) => roundToStep(value, 1))).toEqual([
      0, 2, 2, 0, -2, 2, 3,
    ])
    expect(roundToStep(0.375, 0.25)).toBe(0.5)
  })
})
