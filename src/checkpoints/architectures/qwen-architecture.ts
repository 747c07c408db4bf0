/**
 * `Qwen2ForCausalLM` (biases on Q, K and V) and `Qwen3ForCausalLM` (norms on the heads of Q and K instead).
 */
import type { ArchitecturePlan } from './architecture-plan.ts'
import { qwenSlidingWindow, withinWindow } from './attention-window.ts'
import { type DecoderTraits, readDecoderConfig } from './decoder-config.ts'
import { attentionTensors, feedForwardTensors, headNorms, layerNorms, planDecoder } from './decoder-plan.ts'
import type { JsonObject } from '../json-file.ts'

const QWEN2: DecoderTraits = {
  ggufName: 'qwen2',
  activation: { field: 'hidden_act', value: 'silu' },
  ropeScalings: ['none', 'linear', 'yarn'],
  hasFreeHeadSize: false,
  rotatesPartly: false,
  requiredFlags: {},
  defaults: { rmsEpsilon: 1e-6, ropeTheta: 10_000, hasTiedEmbeddings: false },
}
const QWEN3: DecoderTraits = {
  ...QWEN2,
  ggufName: 'qwen3',
  hasFreeHeadSize: true,
  requiredFlags: { attention_bias: false },
  defaults: { ...QWEN2.defaults, headSize: 128 },
}

export function planQwen2(config: JsonObject): ArchitecturePlan {
  return planFor(config, QWEN2)
}

export function planQwen3(config: JsonObject): ArchitecturePlan {
  return planFor(config, QWEN3)
}

function planFor(config: JsonObject, traits: DecoderTraits): ArchitecturePlan {
  const read = readDecoderConfig(config, traits)
  const decoder = withinWindow(read, qwenSlidingWindow(config, read.layers))
  return planDecoder({
    ggufName: traits.ggufName,
    decoder,
    layer: [
      ...layerNorms(decoder),
      ...attentionTensors(decoder, { hasBias: traits === QWEN2 }),
      ...(traits === QWEN3 ? headNorms(decoder) : []),
      ...feedForwardTensors(decoder),
    ],
  })
}
