/**
 * `Qwen2ForCausalLM`, which has biases on Q, K and V; `Qwen3ForCausalLM`, which has norms on the heads of Q and K instead; and
 * `Qwen3MoeForCausalLM`, which has experts in the place of the feed-forward network.
 */
import type { ArchitecturePlan } from './architecture-plan.ts'
import { qwenSlidingWindow, withinWindow } from './attention-window.ts'
import {
  type DecoderConfig,
  type DecoderTraits,
  readDecoderConfig,
  readExpertCount,
} from './decoder-config.ts'
import {
  attentionTensors,
  feedForwardTensors,
  headNorms,
  layerNorms,
  type LayerTensor,
  planDecoder,
} from './decoder-plan.ts'
import { unconvertible } from '../files/file-errors.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { flagField, type JsonObject, listField, wholeNumberField } from '../files/json-file.ts'
import { LLAMA_TRAITS } from './llama-architecture.ts'

const QWEN2: DecoderTraits = {
  ...LLAMA_TRAITS,
  ggufName: 'qwen2',
  ropeScalings: ['none', 'linear', 'yarn'],
  hasFreeHeadSize: false,
}
const QWEN3: DecoderTraits = {
  ...QWEN2,
  ggufName: 'qwen3',
  hasFreeHeadSize: true,
  requiredFlags: { attention_bias: false },
  defaults: { ...LLAMA_TRAITS.defaults, headSize: 128 },
}
const QWEN3_MOE: DecoderTraits = {
  ...QWEN3,
  ggufName: 'qwen3moe',
  // Without `head_dim` it is a share of the hidden size.
  defaults: LLAMA_TRAITS.defaults,
}

export function planQwen2(config: JsonObject): ArchitecturePlan {
  const decoder = readQwen(config, QWEN2)
  return planDecoder(decoder, {
    layer: [
      ...layerNorms(decoder),
      ...attentionTensors(decoder, { hasBias: true }),
      ...feedForwardTensors(decoder),
    ],
  })
}

export function planQwen3(config: JsonObject): ArchitecturePlan {
  const decoder = readQwen(config, QWEN3)
  return planDecoder(decoder, { layer: [...qwen3Attention(decoder), ...feedForwardTensors(decoder)] })
}

export function planQwen3Moe(config: JsonObject): ArchitecturePlan {
  const decoder = readQwen(config, QWEN3_MOE)
  // llama.cpp has experts in every layer, and lets the shares of those that are chosen sum to 1.
  const isSparse = wholeNumberField(config, 'decoder_sparse_step', { min: 0, max: 512, default: 1 }) === 1
  if (!isSparse || listField(config, 'mlp_only_layers').length > 0) {
    throw unconvertible(config, 'each of its layers must have experts')
  }
  if (!flagField(config, 'norm_topk_prob', false)) {
    throw unconvertible(config, '"norm_topk_prob" must be true')
  }
  const experts = readExpertCount(config)
  const used = wholeNumberField(config, 'num_experts_per_tok', { min: 1, max: experts, default: 8 })
  const size = wholeNumberField(config, 'moe_intermediate_size', { min: 1, max: 2 ** 24, default: 768 })
  return planDecoder(decoder, {
    metadata: [
      ['expert_count', gguf.uint32(experts)],
      ['expert_used_count', gguf.uint32(used)],
      ['expert_feed_forward_length', gguf.uint32(size)],
    ],
    layer: [...qwen3Attention(decoder), ...expertTensors(decoder, experts, size)],
  })
}

function readQwen(config: JsonObject, traits: DecoderTraits): DecoderConfig {
  const decoder = readDecoderConfig(config, traits)
  return withinWindow(decoder, qwenSlidingWindow(config, decoder.layers))
}

function qwen3Attention(decoder: DecoderConfig): LayerTensor[] {
  return [...layerNorms(decoder), ...attentionTensors(decoder), ...headNorms(decoder)]
}

function expertTensors({ hiddenSize }: DecoderConfig, experts: number, size: number): LayerTensor[] {
  // Newer releases of transformers have the experts of a layer in one tensor, gate above up.
  const expert = (name: string, shape: readonly number[]): LayerTensor => ({
    gguf: `ffn_${name}_exps`,
    hf: `mlp.experts.{}.${name}_proj`,
    shape,
    experts: {
      count: experts,
      fused:
        name === 'down'
          ? { name: 'down_proj', part: 0, parts: 1 }
          : { name: 'gate_up_proj', part: name === 'gate' ? 0 : 1, parts: 2 },
    },
  })
  return [
    { gguf: 'ffn_gate_inp', hf: 'mlp.gate', shape: [experts, hiddenSize], isF32: true },
    expert('gate', [size, hiddenSize]),
    expert('up', [size, hiddenSize]),
    expert('down', [hiddenSize, size]),
  ]
}
