/**
 * `LlamaForCausalLM` and those that are built like it: `MistralForCausalLM`; `GraniteForCausalLM`, which multiplies by
 * four numbers of its config where Llama does not; `Ministral3ForCausalLM`, which attends by position; and `SmolLM3ForCausalLM`, every fourth layer of which rotates nothing.
 */
import type { ArchitecturePlan, MetadataEntry } from './architecture-plan.ts'
import { slidingWindow, withinWindow } from './attention-window.ts'
import { type DecoderConfig, type DecoderTraits, readDecoderConfig } from './decoder-config.ts'
import { attentionTensors, feedForwardTensors, layerNorms, planDecoder } from './decoder-plan.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { unconvertible } from '../files/file-errors.ts'
import {
  flagField,
  type JsonObject,
  listField,
  objectField,
  positiveNumberField,
  wholeNumberField,
} from '../files/json-file.ts'

export const LLAMA_TRAITS: DecoderTraits = {
  ggufName: 'llama',
  activation: { field: 'hidden_act', value: 'silu' },
  ropeScalings: ['none', 'linear', 'llama3', 'yarn'],
  hasFreeHeadSize: true,
  rotatesPartly: false,
  requiredFlags: {},
  defaults: { rmsEpsilon: 1e-6, ropeTheta: 10_000, hasTiedEmbeddings: false },
}
const GRANITE: DecoderTraits = { ...LLAMA_TRAITS, ggufName: 'granite' }
const MISTRAL3: DecoderTraits = { ...LLAMA_TRAITS, ggufName: 'mistral3' }
const SMOLLM3: DecoderTraits = {
  ...LLAMA_TRAITS,
  ggufName: 'smollm3',
  // Its graph reads no factors of Llama 3, and no biases behind attention.
  ropeScalings: ['none', 'linear', 'yarn'],
  requiredFlags: { attention_bias: false, mlp_bias: false, use_sliding_window: false },
  defaults: { ...LLAMA_TRAITS.defaults, ropeTheta: 2_000_000, hasTiedEmbeddings: true },
}
/** llama.cpp rotates in all layers but every fourth. */
const LAYERS_TO_NO_ROTATION = 4
const MISTRAL_WINDOW = 4096

export function planLlama(config: JsonObject): ArchitecturePlan {
  return planLikeLlama(config, readDecoderConfig(config, LLAMA_TRAITS))
}

export function planMistral(config: JsonObject): ArchitecturePlan {
  return planWindowed(config, LLAMA_TRAITS)
}

/** The text half of Mistral Small 3.1 and later. */
export function planMistral3(config: JsonObject): ArchitecturePlan {
  return planWindowed(config, MISTRAL3)
}

/** Multiplies queries by a number that grows with their position, in steps of the original context. */
export function planMinistral3(config: JsonObject): ArchitecturePlan {
  const decoder = readDecoderConfig(config, MISTRAL3)
  const rope = objectField(config, 'rope_parameters') ?? objectField(config, 'rope_scaling')
  if (rope === null) throw unconvertible(config, 'it must have "rope_parameters"')
  const metadata: MetadataEntry[] = []
  if ((rope.fields['llama_4_scaling_beta'] ?? 0) !== 0) {
    if (decoder.rope.scaling.kind !== 'yarn') {
      throw unconvertible(config, 'with "llama_4_scaling_beta" the rope scaling must be yarn')
    }
    const scale = positiveNumberField(rope, 'llama_4_scaling_beta')
    metadata.push(['attention.temperature_scale', gguf.float32(scale)])
  }
  return planLikeLlama(config, withinWindow(decoder, slidingWindow(config, null)), metadata)
}

function planWindowed(config: JsonObject, traits: DecoderTraits): ArchitecturePlan {
  const decoder = readDecoderConfig(config, traits)
  return planLikeLlama(config, withinWindow(decoder, slidingWindow(config, MISTRAL_WINDOW)))
}

export function planGranite(config: JsonObject): ArchitecturePlan {
  const scale = (key: string, field: string): MetadataEntry => [
    key,
    gguf.float32(positiveNumberField(config, field, 1)),
  ]
  return planLikeLlama(config, readDecoderConfig(config, GRANITE), [
    scale('attention.scale', 'attention_multiplier'),
    scale('embedding_scale', 'embedding_multiplier'),
    scale('residual_scale', 'residual_multiplier'),
    // llama.cpp divides by it, as Granite does.
    scale('logit_scale', 'logits_scaling'),
  ])
}

export function planSmolLm3(config: JsonObject): ArchitecturePlan {
  const decoder = readDecoderConfig(config, SMOLLM3)
  const interval = wholeNumberField(config, 'no_rope_layer_interval', { min: 1, max: 512, default: 4 })
  const given = listField(config, 'no_rope_layers')
  const rotates = Array.from({ length: decoder.layers }, (_, layer) =>
    given.length === 0 ? (layer + 1) % interval !== 0 : given[layer] === 1 || given[layer] === true,
  )
  if (rotates.some((does, layer) => does !== ((layer + 1) % LAYERS_TO_NO_ROTATION !== 0))) {
    throw unconvertible(config, 'its layers must have rotary positions in all but every fourth')
  }
  return planLikeLlama(config, decoder)
}

/** Hugging Face stores the rows of Q and K for rotating halves of a head; llama.cpp rotates neighbours here. */
function planLikeLlama(
  config: JsonObject,
  decoder: DecoderConfig,
  metadata: readonly MetadataEntry[] = [],
): ArchitecturePlan {
  const hasBias = flagField(config, 'attention_bias', false)
  return planDecoder(decoder, {
    metadata,
    layer: [
      ...layerNorms(decoder),
      ...attentionTensors(decoder, { hasBias, hasOutputBias: hasBias, interleavesHeads: true }),
      ...feedForwardTensors(decoder, flagField(config, 'mlp_bias', false)),
    ],
  })
}
