/**
 * Rotary position settings of a Hugging Face config: the base, and the scaling kinds that llama.cpp computes the
 * same way. Reads the spellings of all versions: `rope_theta` with `rope_scaling`, `rope_parameters`, and the latter
 * by kind of layer.
 */
import type { MetadataEntry, TensorPlan } from './architecture-plan.ts'
import { badFile, shown, unconvertible } from '../files/file-errors.ts'
import { gguf, type GgufValue } from '../gguf/gguf-format.ts'
import {
  flagField,
  type JsonObject,
  listField,
  objectField,
  positiveNumberField,
} from '../files/json-file.ts'

type RopeScaling =
  | { readonly kind: 'none' }
  | { readonly kind: 'linear'; readonly factor: number }
  | {
      readonly kind: 'llama3'
      readonly factor: number
      readonly lowFrequencyFactor: number
      readonly highFrequencyFactor: number
      readonly originalContextLength: number
    }
  | {
      readonly kind: 'yarn'
      readonly factor: number
      readonly originalContextLength: number
      readonly betaFast: number
      readonly betaSlow: number
      /** What cosines and sines are multiplied by, over what the paper would multiply them by. */
      readonly attentionFactor: number
    }
  | {
      readonly kind: 'longrope'
      readonly longFactors: readonly number[]
      readonly shortFactors: readonly number[]
      readonly originalContextLength: number
      /** What cosines and sines are multiplied by. */
      readonly attentionFactor: number
    }

export type RopeScalingKind = RopeScaling['kind']

export interface Rope {
  readonly theta: number
  readonly scaling: RopeScaling
}

export interface RopeOptions {
  readonly kinds: readonly RopeScalingKind[]
  readonly defaultTheta: number
  readonly contextLength: number
  readonly rotatedSize: number
  /** Whether llama.cpp's rounding of YaRN's borders is accepted where the config has none. */
  readonly roundsYarnBorders: boolean
}

/** Names of old versions. */
const KIND_NAMES: Readonly<Record<string, string>> = { default: 'none', su: 'longrope' }

export function readRope(config: JsonObject, options: RopeOptions): Rope {
  const outer = objectField(config, 'rope_parameters')
  const parameters = outer === null ? null : (objectField(outer, 'full_attention') ?? outer)
  const scaling = parameters ?? objectField(config, 'rope_scaling')
  return {
    theta: positiveNumberField(
      parameters?.fields['rope_theta'] === undefined ? config : parameters,
      'rope_theta',
      options.defaultTheta,
    ),
    scaling: scaling === null ? { kind: 'none' } : readScaling(config, scaling, options),
  }
}

function readScaling(config: JsonObject, scaling: JsonObject, options: RopeOptions): RopeScaling {
  const name = scaling.fields['rope_type'] ?? scaling.fields['type'] ?? 'default'
  const canonical = typeof name === 'string' ? (KIND_NAMES[name] ?? name) : null
  const kind = options.kinds.find((known) => known === canonical)
  switch (kind) {
    case 'none':
      return { kind }
    case 'linear':
      return { kind, factor: positiveNumberField(scaling, 'factor') }
    case 'llama3':
      return readLlama3Scaling(scaling)
    case 'yarn':
      return readYarnScaling(scaling, options)
    case 'longrope':
      return readLongScaling(config, scaling, options)
    case undefined: {
      const known = options.kinds.map((each) => (each === 'none' ? 'default' : each))
      const names = `${known.slice(0, -1).join(', ')} or ${known.at(-1)}`
      throw unconvertible(
        scaling,
        `the rope scaling must be ${names} for its architecture, but is ${shown(name)}`,
      )
    }
  }
}

function readLlama3Scaling(scaling: JsonObject): RopeScaling {
  const lowFrequencyFactor = positiveNumberField(scaling, 'low_freq_factor')
  const highFrequencyFactor = positiveNumberField(scaling, 'high_freq_factor')
  if (highFrequencyFactor <= lowFrequencyFactor) {
    throw badFile(scaling.path, 'is not usable: "high_freq_factor" must be above "low_freq_factor"')
  }
  return {
    kind: 'llama3',
    factor: positiveNumberField(scaling, 'factor'),
    lowFrequencyFactor,
    highFrequencyFactor,
    originalContextLength: positiveNumberField(scaling, 'original_max_position_embeddings'),
  }
}

/** YaRN's temperature of attention for a factor. */
function yarnScale(factor: number, multiplier = 1): number {
  return factor <= 1 ? 1 : 0.1 * multiplier * Math.log(factor) + 1
}

function readYarnScaling(scaling: JsonObject, options: RopeOptions): RopeScaling {
  const { contextLength, roundsYarnBorders } = options
  const factor = positiveNumberField(scaling, 'factor')
  if (factor < 1)
    throw badFile(scaling.path, `is not usable: the "factor" of YaRN must be at least 1, but is ${factor}`)
  if (!flagField(scaling, 'truncate', true) && !roundsYarnBorders) {
    throw unconvertible(scaling, 'YaRN must round its borders ("truncate" true)')
  }
  const { attention_factor: given, mscale, mscale_all_dim: mscaleAll } = scaling.fields
  const hasScales =
    typeof mscale === 'number' && typeof mscaleAll === 'number' && mscale !== 0 && mscaleAll !== 0
  const derived = hasScales ? yarnScale(factor, mscale) / yarnScale(factor, mscaleAll) : yarnScale(factor)
  const wanted = (given ?? null) === null ? derived : positiveNumberField(scaling, 'attention_factor')
  return {
    kind: 'yarn',
    factor,
    originalContextLength: positiveNumberField(scaling, 'original_max_position_embeddings', contextLength),
    betaFast: positiveNumberField(scaling, 'beta_fast', 32),
    betaSlow: positiveNumberField(scaling, 'beta_slow', 1),
    attentionFactor: wanted / yarnScale(factor),
  }
}

function readLongScaling(config: JsonObject, scaling: JsonObject, options: RopeOptions): RopeScaling {
  const { contextLength } = options
  const originalContextLength = positiveNumberField(
    scaling.fields['original_max_position_embeddings'] === undefined ? config : scaling,
    'original_max_position_embeddings',
    contextLength,
  )
  const factor = contextLength / originalContextLength
  const derived = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(originalContextLength))
  const isGiven = (scaling.fields['attention_factor'] ?? null) !== null
  return {
    kind: 'longrope',
    longFactors: readFactors(scaling, 'long_factor', options.rotatedSize / 2),
    shortFactors: readFactors(scaling, 'short_factor', options.rotatedSize / 2),
    originalContextLength,
    attentionFactor: isGiven ? positiveNumberField(scaling, 'attention_factor') : derived,
  }
}

function readFactors(scaling: JsonObject, name: string, count: number): number[] {
  const factors = listField(scaling, name).filter((value) => typeof value === 'number' && value > 0)
  if (factors.length === count && listField(scaling, name).length === count) return factors as number[]
  throw badFile(scaling.path, `is not usable: "${name}" must be ${count} numbers above 0`)
}

/** Without the architecture's prefix. */
export function ropeMetadata({ theta, scaling }: Rope): MetadataEntry[] {
  const entries: MetadataEntry[] = [['rope.freq_base', gguf.float32(theta)]]
  // The factors of Llama 3 are a tensor.
  if (scaling.kind === 'none' || scaling.kind === 'llama3') return entries
  const add = (name: string, value: GgufValue) => entries.push([`rope.scaling.${name}`, value])
  add('type', gguf.string(scaling.kind))
  if (scaling.kind !== 'longrope') add('factor', gguf.float32(scaling.factor))
  if (scaling.kind === 'linear') return entries
  add('original_context_length', gguf.uint32(scaling.originalContextLength))
  if (scaling.kind === 'yarn') {
    add('yarn_beta_fast', gguf.float32(scaling.betaFast))
    add('yarn_beta_slow', gguf.float32(scaling.betaSlow))
  }
  add('attn_factor', gguf.float32(scaling.attentionFactor))
  return entries
}

/** The factors that each frequency is divided by, where the scaling has such factors. */
export function ropeTensors(rope: Rope, rotatedSize: number): TensorPlan[] {
  const { scaling } = rope
  const tensor = (name: string, values: Float32Array): TensorPlan => ({
    name,
    shape: [values.length],
    origin: { kind: 'computed', values },
  })
  if (scaling.kind === 'longrope') {
    return [
      tensor('rope_factors_long.weight', Float32Array.from(scaling.longFactors)),
      tensor('rope_factors_short.weight', Float32Array.from(scaling.shortFactors)),
    ]
  }
  const factors = ropeFrequencyFactors(rope, rotatedSize)
  return factors === null ? [] : [tensor('rope_freqs.weight', factors)]
}

/**
 * Llama 3: what each rotation frequency is divided by: nothing for fast ones, the whole factor for slow ones, and a
 * blend between. Null for other scalings.
 */
export function ropeFrequencyFactors({ theta, scaling }: Rope, headSize: number): Float32Array | null {
  if (scaling.kind !== 'llama3') return null
  const { factor, lowFrequencyFactor, highFrequencyFactor, originalContextLength } = scaling
  return Float32Array.from({ length: headSize / 2 }, (_, index) => {
    const wavelength = 2 * Math.PI * theta ** ((2 * index) / headSize)
    const turns = originalContextLength / wavelength
    if (turns > highFrequencyFactor) return 1
    if (turns < lowFrequencyFactor) return factor
    const smooth = (turns - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor)
    return 1 / ((1 - smooth) / factor + smooth)
  })
}
