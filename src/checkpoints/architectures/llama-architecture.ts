/**
 * `LlamaForCausalLM` and those that are built like it: `MistralForCausalLM`, and `GraniteForCausalLM`, which multiplies by
 * four numbers of its config where Llama does not.
 */
import type { ArchitecturePlan, MetadataEntry } from './architecture-plan.ts'
import { slidingWindow, withinWindow } from './attention-window.ts'
import { type DecoderConfig, type DecoderTraits, readDecoderConfig } from './decoder-config.ts'
import { attentionTensors, feedForwardTensors, layerNorms, planDecoder } from './decoder-plan.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { flagField, type JsonObject, positiveNumberField } from '../json-file.ts'

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
const MISTRAL_WINDOW = 4096

export function planLlama(config: JsonObject): ArchitecturePlan {
  return planLikeLlama(config, readDecoderConfig(config, LLAMA_TRAITS))
}

export function planMistral(config: JsonObject): ArchitecturePlan {
  const decoder = readDecoderConfig(config, LLAMA_TRAITS)
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
