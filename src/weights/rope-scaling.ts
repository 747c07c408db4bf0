/**
 * Rotary position settings of a Hugging Face config: the base, and the scaling kinds that llama.cpp computes the
 * same way. Reads both spellings: `rope_theta` with `rope_scaling`, and the newer `rope_parameters`.
 */
import { badFile, shown } from './file-errors.ts'
import { type JsonObject, nestedObject, positiveNumber } from './json-file.ts'

export type RopeScaling =
  | { readonly kind: 'none' }
  | { readonly kind: 'linear'; readonly factor: number }
  | {
      readonly kind: 'llama3'
      readonly factor: number
      readonly lowFrequencyFactor: number
      readonly highFrequencyFactor: number
      readonly originalContextLength: number
    }

export interface Rope {
  readonly theta: number
  readonly scaling: RopeScaling
}

export function readRope(config: JsonObject): Rope {
  const parameters = nestedObject(config, 'rope_parameters')
  const scaling = parameters ?? nestedObject(config, 'rope_scaling')
  return {
    theta: positiveNumber(
      parameters?.fields['rope_theta'] === undefined ? config : parameters,
      'rope_theta',
      10_000,
    ),
    scaling: scaling === null ? { kind: 'none' } : readScaling(scaling),
  }
}

function readScaling(scaling: JsonObject): RopeScaling {
  const kind = scaling.fields['rope_type'] ?? scaling.fields['type'] ?? 'default'
  switch (kind) {
    case 'default':
      return { kind: 'none' }
    case 'linear':
      return { kind: 'linear', factor: positiveNumber(scaling, 'factor') }
    case 'llama3':
      return readLlama3Scaling(scaling)
    default:
      throw badFile(
        scaling.path,
        `cannot be converted: the rope scaling must be default, linear or llama3, but is ${shown(kind)}`,
      )
  }
}

function readLlama3Scaling(scaling: JsonObject): RopeScaling {
  const lowFrequencyFactor = positiveNumber(scaling, 'low_freq_factor')
  const highFrequencyFactor = positiveNumber(scaling, 'high_freq_factor')
  if (highFrequencyFactor <= lowFrequencyFactor) {
    throw badFile(scaling.path, 'is not usable: "high_freq_factor" must be above "low_freq_factor"')
  }
  return {
    kind: 'llama3',
    factor: positiveNumber(scaling, 'factor'),
    lowFrequencyFactor,
    highFrequencyFactor,
    originalContextLength: positiveNumber(scaling, 'original_max_position_embeddings'),
  }
}

/**
 * What each rotation frequency is divided by: nothing for fast ones, the whole factor for slow ones, and a blend
 * between. Null when the scaling is no matter of single frequencies.
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
