/**
 * The Hugging Face architectures that can be converted, by class name. Adding one adds a row to the table and a planning
 * function, here or in a file of its family.
 */
import type { ArchitecturePlan } from './architecture-plan.ts'
import { slidingWindow, withinWindow } from './attention-window.ts'
import { planBert, planBertReranker, planRoberta, planRobertaReranker } from './bert-architecture.ts'
import { type DecoderTraits, readDecoderConfig } from './decoder-config.ts'
import { layerNorms, planDecoder } from './decoder-plan.ts'
import { badFile, quoted } from '../files/file-errors.ts'
import { planGemma2, planGemma3 } from './gemma-architecture.ts'
import { planGptOss } from './gpt-oss-architecture.ts'
import type { JsonObject } from '../files/json-file.ts'
import {
  LLAMA_TRAITS,
  planGranite,
  planLlama,
  planMinistral3,
  planMistral,
  planSmolLm3,
} from './llama-architecture.ts'
import { planQwen2, planQwen3, planQwen3Moe } from './qwen-architecture.ts'
import { planGemma3Text, planMistral3Text } from './text-half.ts'

const PHI3: DecoderTraits = {
  ...LLAMA_TRAITS,
  ggufName: 'phi3',
  ropeScalings: ['none', 'longrope'],
  hasFreeHeadSize: false,
  rotatesPartly: true,
  requiredFlags: { attention_bias: false },
  defaults: { ...LLAMA_TRAITS.defaults, rmsEpsilon: 1e-5 },
}
export const HF_ARCHITECTURES: ReadonlyMap<unknown, (config: JsonObject) => ArchitecturePlan> = new Map([
  ['LlamaForCausalLM', planLlama],
  ['MistralForCausalLM', planMistral],
  ['GraniteForCausalLM', planGranite],
  ['SmolLM3ForCausalLM', planSmolLm3],
  ['Qwen2ForCausalLM', planQwen2],
  ['Qwen3ForCausalLM', planQwen3],
  ['Qwen3MoeForCausalLM', planQwen3Moe],
  ['Gemma2ForCausalLM', planGemma2],
  ['Gemma3ForCausalLM', planGemma3],
  ['Gemma3ForConditionalGeneration', planGemma3Text],
  ['Mistral3ForConditionalGeneration', planMistral3Text],
  ['Ministral3ForCausalLM', planMinistral3],
  ['GptOssForCausalLM', planGptOss],
  ['Phi3ForCausalLM', planPhi3],
  ['BertModel', planBert],
  ['BertForSequenceClassification', planBertReranker],
  ['RobertaModel', planRoberta],
  ['RobertaForSequenceClassification', planRobertaReranker],
  ['XLMRobertaModel', planRoberta],
  ['XLMRobertaForSequenceClassification', planRobertaReranker],
])

/** @throws StartError when the architecture is not in the table or its config cannot be converted. */
export function planArchitecture(config: JsonObject): ArchitecturePlan {
  const { architectures } = config.fields
  const name: unknown = Array.isArray(architectures) ? architectures[0] : undefined
  const plan = HF_ARCHITECTURES.get(name)
  if (plan !== undefined) return plan(config)
  const given = typeof name === 'string' ? `has the architecture ${quoted(name)}` : 'names no architecture'
  const known = [...HF_ARCHITECTURES.keys()].join(', ')
  throw badFile(config.path, `${given}; safetensors are converted for ${known}, others need a GGUF file`)
}

/**
 * Q, K and V are one matrix, gate and up another; llama.cpp takes both as they are. The rotary factors come in two sets:
 * llama.cpp takes the long ones when the context is longer than the original one, whatever the length of the text, so
 * that cached keys stay valid as a text grows.
 */
function planPhi3(config: JsonObject): ArchitecturePlan {
  const decoder = withinWindow(readDecoderConfig(config, PHI3), slidingWindow(config, null))
  const { hiddenSize, feedForwardSize, heads, kvHeads, headSize } = decoder
  const fusedRows = (heads + 2 * kvHeads) * headSize
  return planDecoder(decoder, {
    layer: [
      ...layerNorms(decoder),
      { gguf: 'attn_qkv', hf: 'self_attn.qkv_proj', shape: [fusedRows, hiddenSize] },
      { gguf: 'attn_output', hf: 'self_attn.o_proj', shape: [hiddenSize, heads * headSize] },
      { gguf: 'ffn_up', hf: 'mlp.gate_up_proj', shape: [2 * feedForwardSize, hiddenSize] },
      { gguf: 'ffn_down', hf: 'mlp.down_proj', shape: [hiddenSize, feedForwardSize] },
    ],
  })
}
