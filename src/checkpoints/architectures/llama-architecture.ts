/**
 * `LlamaForCausalLM` and `MistralForCausalLM` → llama.cpp's `llama`. Hugging Face stores the rows of Q and K for
 * rotating halves of a head; this one of llama.cpp's graphs rotates neighbouring pairs.
 */
import type { ArchitecturePlan } from './architecture-plan.ts'
import { slidingWindow, withinWindow } from './attention-window.ts'
import { type DecoderConfig, type DecoderTraits, readDecoderConfig } from './decoder-config.ts'
import { attentionTensors, feedForwardTensors, layerNorms, planDecoder } from './decoder-plan.ts'
import { flagField, type JsonObject } from '../json-file.ts'

const LLAMA: DecoderTraits = {
  ggufName: 'llama',
  activation: { field: 'hidden_act', value: 'silu' },
  ropeScalings: ['none', 'linear', 'llama3', 'yarn'],
  hasFreeHeadSize: true,
  rotatesPartly: false,
  requiredFlags: {},
  defaults: { rmsEpsilon: 1e-6, ropeTheta: 10_000, hasTiedEmbeddings: false },
}
const MISTRAL_WINDOW = 4096

export function planLlama(config: JsonObject): ArchitecturePlan {
  return planFor(config, readDecoderConfig(config, LLAMA))
}

export function planMistral(config: JsonObject): ArchitecturePlan {
  const decoder = readDecoderConfig(config, LLAMA)
  return planFor(config, withinWindow(decoder, slidingWindow(config, MISTRAL_WINDOW)))
}

function planFor(config: JsonObject, decoder: DecoderConfig): ArchitecturePlan {
  const hasBias = flagField(config, 'attention_bias', false)
  return planDecoder({
    ggufName: LLAMA.ggufName,
    decoder,
    layer: [
      ...layerNorms(decoder),
      ...attentionTensors(decoder, { hasBias, hasOutputBias: hasBias, change: 'interleave-heads' }),
      ...feedForwardTensors(decoder, flagField(config, 'mlp_bias', false)),
    ],
  })
}
