/**
 * `Phi3ForCausalLM`: Q, K and V in one matrix, gate and up in another, which llama.cpp takes as they are. Its rotary
 * factors come in two sets; llama.cpp takes the long ones when the context is longer than the original one, whatever
 * the length of the text, so that cached keys stay valid as a text grows.
 */
import type { ArchitecturePlan } from './architecture-plan.ts'
import { slidingWindow, withinWindow } from './attention-window.ts'
import { type DecoderTraits, readDecoderConfig } from './decoder-config.ts'
import { layerNorms, planDecoder } from './decoder-plan.ts'
import type { JsonObject } from '../json-file.ts'

const PHI3: DecoderTraits = {
  ggufName: 'phi3',
  activation: { field: 'hidden_act', value: 'silu' },
  ropeScalings: ['none', 'longrope'],
  hasFreeHeadSize: false,
  rotatesPartly: true,
  requiredFlags: { attention_bias: false },
  defaults: { rmsEpsilon: 1e-5, ropeTheta: 10_000, hasTiedEmbeddings: false },
}

export function planPhi3(config: JsonObject): ArchitecturePlan {
  const decoder = withinWindow(readDecoderConfig(config, PHI3), slidingWindow(config, null))
  const { hiddenSize, feedForwardSize, heads, kvHeads, headSize } = decoder
  const fusedRows = (heads + 2 * kvHeads) * headSize
  return planDecoder({
    ggufName: PHI3.ggufName,
    decoder,
    layer: [
      ...layerNorms(decoder),
      { gguf: 'attn_qkv', hf: 'self_attn.qkv_proj', shape: [fusedRows, hiddenSize] },
      { gguf: 'attn_output', hf: 'self_attn.o_proj', shape: [hiddenSize, heads * headSize] },
      { gguf: 'ffn_up', hf: 'mlp.gate_up_proj', shape: [2 * feedForwardSize, hiddenSize] },
      { gguf: 'ffn_down', hf: 'mlp.down_proj', shape: [hiddenSize, feedForwardSize] },
    ],
  })
}
