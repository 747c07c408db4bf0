import { describe, expect, it } from 'vitest'
import { readRope, ropeFrequencyFactors } from './rope-scaling.ts'

const config = (fields: Record<string, unknown>) => ({ path: 'config.json', fields })
const llama31 = {
  rope_type: 'llama3',
  factor: 8,
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 8192,
}

describe('readRope', () => {
  it('reads both spellings of the base', () => {
    expect(readRope(config({ rope_theta: 500_000 })).theta).toBe(500_000)
    expect(readRope(config({ rope_parameters: { rope_theta: 250_000, rope_type: 'default' } })).theta).toBe(
      250_000,
    )
    expect(readRope(config({})).theta).toBe(10_000)
  })

  it('reads linear scaling under its old and its new name', () => {
    for (const name of ['type', 'rope_type']) {
      const { scaling } = readRope(config({ rope_scaling: { [name]: 'linear', factor: 4 } }))
      expect(scaling).toEqual({ kind: 'linear', factor: 4 })
    }
  })

  it('refuses a scaling it cannot convert', () => {
    expect(() => readRope(config({ rope_scaling: { rope_type: 'yarn', factor: 4 } }))).toThrow(
      'config.json cannot be converted: the rope scaling must be default, linear or llama3, but is "yarn".',
    )
    expect(() => readRope(config({ rope_scaling: { ...llama31, high_freq_factor: 1 } }))).toThrow(
      '"high_freq_factor"',
    )
    expect(() => readRope(config({ rope_scaling: { type: 'linear' } }))).toThrow(
      '"factor" must be a number above 0',
    )
  })
})

describe('ropeFrequencyFactors', () => {
  it('leaves fast frequencies alone, slows slow ones by the factor, and blends between', () => {
    const rope = readRope(config({ rope_theta: 500_000, rope_scaling: llama31 }))
    const factors = Array.from(ropeFrequencyFactors(rope, 128) ?? [])
    expect(factors).toHaveLength(64)
    expect(factors[0]).toBe(1)
    expect(factors.at(-1)).toBe(8)
    expect(factors.every((factor, index) => factor >= (factors[index - 1] ?? 1))).toBe(true)
    // Frequency 32: a wavelength of 2π·500000^0.5 = 4442.9 tokens, 1.8438 turns in 8192.
    const smooth = (8192 / (2 * Math.PI * Math.sqrt(500_000)) - 1) / 3
    expect(factors[32]).toBeCloseTo(1 / ((1 - smooth) / 8 + smooth), 5)
  })

  it('has nothing to say without llama3 scaling', () => {
    expect(ropeFrequencyFactors(readRope(config({})), 128)).toBeNull()
  })
})
