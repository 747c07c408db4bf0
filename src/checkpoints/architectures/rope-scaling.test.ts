import { describe, expect, it } from 'vitest'
import {
  readRope as readRopeOf,
  ropeFrequencyFactors,
  ropeMetadata,
  type RopeOptions,
  ropeTensors,
} from './rope-scaling.ts'

const config = (fields: Record<string, unknown>) => ({ path: 'config.json', fields })
const OPTIONS: RopeOptions = {
  kinds: ['none', 'linear', 'llama3', 'yarn', 'longrope'],
  defaultTheta: 10_000,
  contextLength: 64,
  rotatedSize: 4,
  roundsYarnBorders: false,
}
const readRope = (object: ReturnType<typeof config>, changes: Partial<RopeOptions> = {}) =>
  readRopeOf(object, { ...OPTIONS, ...changes })
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
    const linearOnly: Partial<RopeOptions> = { kinds: ['none', 'linear'] }
    for (const kind of ['yarn', 'dynamic', 'constructor']) {
      expect(() => readRope(config({ rope_scaling: { rope_type: kind, factor: 4 } }), linearOnly)).toThrow(
        `config.json cannot be converted: the rope scaling must be default or linear for its architecture, but is "${kind}".`,
      )
    }
    const yarn = { rope_type: 'yarn', factor: 4 }
    expect(() => readRope(config({ rope_scaling: { ...yarn, truncate: false } }))).toThrow('"truncate" true')
    expect(() => readRope(config({ rope_scaling: { ...yarn, factor: 0.5 } }))).toThrow(
      'at least 1, but is 0.5',
    )
    const longrope = { rope_type: 'longrope', short_factor: [1, 1] }
    expect(() => readRope(config({ rope_scaling: { ...longrope, long_factor: [1] } }))).toThrow(
      '"long_factor" must be 2 numbers above 0',
    )
    expect(() => readRope(config({ rope_scaling: { ...longrope, long_factor: [1, -1] } }))).toThrow(
      '"long_factor" must be 2 numbers above 0',
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

describe('YaRN', () => {
  it('counts its own temperature as the rule, and any other as a multiple of it', () => {
    const attentionFactor = (fields: Record<string, unknown>) => {
      const { scaling } = readRope(config({ rope_scaling: { type: 'yarn', factor: 4, ...fields } }))
      return scaling.kind === 'yarn' ? scaling.attentionFactor : null
    }
    const rule = 0.1 * Math.log(4) + 1
    expect(attentionFactor({})).toBe(1)
    expect(attentionFactor({ attention_factor: 2 })).toBeCloseTo(2 / rule, 12)
    expect(attentionFactor({ mscale: 1, mscale_all_dim: 1 })).toBeCloseTo(1 / rule, 12)
  })

  it('takes the context length for the original one when none is named', () => {
    const entries = ropeMetadata(readRope(config({ rope_scaling: { type: 'yarn', factor: 4 } })))
    expect(Object.fromEntries(entries)).toMatchObject({
      'rope.scaling.type': { value: 'yarn' },
      'rope.scaling.original_context_length': { value: 64 },
      'rope.scaling.yarn_beta_fast': { value: 32 },
    })
  })
})

describe('long and short factors', () => {
  const scaling = { type: 'su', long_factor: [2, 3], short_factor: [1, 1.5] }
  const rope = readRope(config({ original_max_position_embeddings: 16, rope_scaling: scaling }))

  it('become two tensors', () => {
    expect(ropeTensors(rope, 4).map(({ name, origin }) => [name, origin])).toEqual([
      ['rope_factors_long.weight', { kind: 'computed', values: Float32Array.of(2, 3) }],
      ['rope_factors_short.weight', { kind: 'computed', values: Float32Array.of(1, 1.5) }],
    ])
  })

  it('come with the temperature of the context over the original one', () => {
    expect(Object.fromEntries(ropeMetadata(rope))).toMatchObject({
      'rope.scaling.type': { value: 'longrope' },
      'rope.scaling.original_context_length': { value: 16 },
      'rope.scaling.attn_factor': { value: Math.sqrt(1 + Math.log(4) / Math.log(16)) },
    })
  })
})

it('reads the settings of full attention where they are given by kind of layer', () => {
  const rope_parameters = {
    full_attention: { rope_type: 'linear', factor: 8, rope_theta: 1_000_000 },
    sliding_attention: { rope_type: 'default', rope_theta: 10_000 },
  }
  expect(readRope(config({ rope_parameters }))).toEqual({
    theta: 1_000_000,
    scaling: { kind: 'linear', factor: 8 },
  })
})
