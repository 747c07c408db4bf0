/**
 * Reads the fields of config.json that decoder-only transformers share: sizes, heads, norms, rotary positions. What an
 * architecture allows and assumes is passed as `DecoderTraits`; what llama.cpp would compute differently is refused.
 */
import { badFile, quoted, shown, unconvertible } from '../files/file-errors.ts'
import { isInt8ByRows } from './int8-config.ts'
import {
  flagField,
  isRecord,
  type JsonObject,
  positiveNumberField,
  wholeNumberField,
} from '../files/json-file.ts'
import { readRope, type Rope, type RopeScalingKind } from './rope-scaling.ts'

const MAX_SIZE = 2 ** 24
/** llama.cpp's LLAMA_MAX_LAYERS. */
const MAX_LAYERS = 512
/** llama.cpp's LLAMA_MAX_EXPERTS. */
const MAX_EXPERTS = 512

/** What llama.cpp's graph of an architecture implements. */
export interface DecoderTraits {
  /** As `general.architecture` names it, and the prefix of its metadata. */
  readonly ggufName: string
  readonly activation: { readonly field: string; readonly value: string }
  /** Rotary scalings that the graph computes. */
  readonly ropeScalings: readonly RopeScalingKind[]
  /** Whether heads may be of another size than their share of `hidden_size`. */
  readonly hasFreeHeadSize: boolean
  /** Whether a part of each head may go without rotation. */
  readonly rotatesPartly: boolean
  /** Flags of the config that must have these values: the graph does not implement the others. */
  readonly requiredFlags: Readonly<Record<string, boolean>>
  /** The one `quant_method` of weights that are quantized already and are taken as they are. @default none */
  readonly quantMethod?: string
  /** Whether llama.cpp's rounding of YaRN's borders is accepted where the config has none. @default false */
  readonly roundsYarnBorders?: boolean
  /** transformers' values for fields that the config lacks. */
  readonly defaults: {
    readonly rmsEpsilon: number
    readonly ropeTheta: number
    readonly hasTiedEmbeddings: boolean
    readonly headSize?: number
  }
}

export interface DecoderConfig {
  readonly ggufName: string
  readonly vocabSize: number
  readonly contextLength: number
  readonly hiddenSize: number
  readonly feedForwardSize: number
  readonly layers: number
  readonly heads: number
  readonly kvHeads: number
  readonly headSize: number
  /** Numbers of each head that are rotated. */
  readonly rotatedSize: number
  readonly rmsEpsilon: number
  readonly rope: Rope
  readonly hasTiedEmbeddings: boolean
}

export function readDecoderConfig(config: JsonObject, traits: DecoderTraits): DecoderConfig {
  checkSupported(config, traits)
  const { defaults } = traits
  const size = (name: string, defaultValue?: number) =>
    wholeNumberField(config, name, { min: 1, max: MAX_SIZE, default: defaultValue })
  const heads = size('num_attention_heads')
  const hiddenSize = size('hidden_size')
  const headSize = size('head_dim', defaults.headSize ?? Math.floor(hiddenSize / heads))
  const contextLength = size('max_position_embeddings')
  const sizes = {
    vocabSize: size('vocab_size'),
    contextLength,
    hiddenSize,
    feedForwardSize: size('intermediate_size'),
    layers: wholeNumberField(config, 'num_hidden_layers', { min: 1, max: MAX_LAYERS }),
    heads,
    kvHeads: size('num_key_value_heads', heads),
    headSize,
    rotatedSize: rotatedSize(config, headSize),
  }
  checkHeads(config, sizes, traits)
  return {
    ...sizes,
    ggufName: traits.ggufName,
    rmsEpsilon: positiveNumberField(config, 'rms_norm_eps', defaults.rmsEpsilon),
    rope: readRope(config, {
      kinds: traits.ropeScalings,
      defaultTheta: defaults.ropeTheta,
      contextLength,
      rotatedSize: sizes.rotatedSize,
      roundsYarnBorders: traits.roundsYarnBorders ?? false,
    }),
    hasTiedEmbeddings: flagField(config, 'tie_word_embeddings', defaults.hasTiedEmbeddings),
  }
}

/** Refuses settings that change the result and that llama.cpp's graph does not implement. */
function checkSupported(config: JsonObject, traits: DecoderTraits): void {
  const { activation, requiredFlags, quantMethod } = traits
  const { [activation.field]: named, quantization_config: quantization } = config.fields
  const given = named ?? activation.value
  if (given !== activation.value) {
    throw unconvertible(
      config,
      `${quoted(activation.field)} must be ${quoted(activation.value)}, but is ${shown(given)}`,
    )
  }
  const method = isRecord(quantization) ? quantization['quant_method'] : undefined
  const isTaken = (quantMethod !== undefined && method === quantMethod) || isInt8ByRows(quantization)
  if (quantization !== undefined && quantization !== null && !isTaken) {
    throw unconvertible(config, 'its weights are already quantized; give the full-precision checkpoint')
  }
  // Some models that make vectors let a token see those behind it.
  for (const [name, required] of Object.entries({ is_causal: true, ...requiredFlags })) {
    if (flagField(config, name, required) !== required) {
      throw unconvertible(config, `${quoted(name)} must be ${required}`)
    }
  }
}

/** Of a layer. Its name differs between releases of transformers. */
export function readExpertCount(config: JsonObject): number {
  const name = config.fields['num_local_experts'] === undefined ? 'num_experts' : 'num_local_experts'
  return wholeNumberField(config, name, { min: 1, max: MAX_EXPERTS, default: 128 })
}

/** transformers moved the setting into `rope_parameters`. */
function rotatedSize(config: JsonObject, headSize: number): number {
  const { rope_parameters: rope, partial_rotary_factor: direct } = config.fields
  const nested = isRecord(rope) ? rope['partial_rotary_factor'] : undefined
  const fields = { partial_rotary_factor: direct ?? nested ?? 1 }
  const factor = positiveNumberField({ path: config.path, fields }, 'partial_rotary_factor')
  return Math.floor(headSize * factor)
}

type HeadSizes = Pick<DecoderConfig, 'heads' | 'kvHeads' | 'headSize' | 'hiddenSize' | 'rotatedSize'>

function checkHeads({ path }: JsonObject, sizes: HeadSizes, traits: DecoderTraits): void {
  const { heads, kvHeads, headSize, hiddenSize, rotatedSize: rotated } = sizes
  if (heads % kvHeads !== 0) {
    throw badFile(
      path,
      `is not usable: ${heads} attention heads do not share ${kvHeads} key-value heads evenly`,
    )
  }
  if (headSize % 2 !== 0) {
    throw badFile(path, `is not usable: "head_dim" must be even, but is ${headSize}`)
  }
  if (!traits.hasFreeHeadSize && headSize * heads !== hiddenSize) {
    throw badFile(
      path,
      `cannot be converted: ${heads} heads of "head_dim" ${headSize} must make "hidden_size" ${hiddenSize}`,
    )
  }
  if (rotated !== headSize && !traits.rotatesPartly) {
    throw badFile(path, 'cannot be converted: "partial_rotary_factor" must be 1')
  }
  if (rotated > headSize || rotated % 2 !== 0 || rotated === 0) {
    throw badFile(path, `is not usable: ${rotated} of the ${headSize} numbers of a head would be rotated`)
  }
}
