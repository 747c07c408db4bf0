/**
 * The linear layers of a model as PEFT names them, and their tensors in GGUF, for the architectures whose safetensors are
 * converted. A test compares the table with the plans of those conversions. Pure.
 */

/** Of one layer. */
const LAYER_MODULES: ReadonlyMap<string, string> = new Map([
  ['self_attn.q_proj', 'attn_q'],
  ['self_attn.k_proj', 'attn_k'],
  ['self_attn.v_proj', 'attn_v'],
  ['self_attn.qkv_proj', 'attn_qkv'],
  ['self_attn.o_proj', 'attn_output'],
  ['mlp.gate_proj', 'ffn_gate'],
  ['mlp.up_proj', 'ffn_up'],
  // Gate and up are one matrix, which llama.cpp takes as it is.
  ['mlp.gate_up_proj', 'ffn_up'],
  ['mlp.down_proj', 'ffn_down'],
  // What chooses the experts of a layer: Qwen3 MoE's and gpt-oss's.
  ['mlp.gate', 'ffn_gate_inp'],
  ['mlp.router', 'ffn_gate_inp'],
])
/** Of one expert of a layer: in GGUF the matrices of all of them are one tensor. */
const EXPERT_MODULES: ReadonlyMap<string, string> = new Map([
  ['gate_proj', 'ffn_gate_exps'],
  ['up_proj', 'ffn_up_exps'],
  ['down_proj', 'ffn_down_exps'],
])
const LAYER = /^(?:(?:model|language_model)\.)+layers\.(?<layer>\d+)\.(?<module>.+)$/
const EXPERT = /^mlp\.experts\.(?<expert>\d+)\.(?<matrix>\w+)$/
/** Of two parts for one module PEFT puts one into the other, as its base layer. */
const ALL_EXPERTS = /^mlp\.experts(?:\.base_layer)?$/
const HEAD = /^(?:language_model\.)?lm_head$/

interface LoraArchitecture {
  /** Whether the rows of Q and K are interleaved in GGUF. */
  readonly interleavesHeads: boolean
  /** How gate and up of all experts are one parameter: gate's rows first, or in turns. */
  readonly gateUp?: 'halves' | 'turns'
}

/** By the name in GGUF. */
export const LORA_ARCHITECTURES: ReadonlyMap<string, LoraArchitecture> = new Map<string, LoraArchitecture>([
  ['llama', { interleavesHeads: true }],
  ['mistral3', { interleavesHeads: true }],
  ['granite', { interleavesHeads: true }],
  ['smollm3', { interleavesHeads: true }],
  ['qwen2', { interleavesHeads: false }],
  ['qwen3', { interleavesHeads: false }],
  ['qwen3moe', { interleavesHeads: false, gateUp: 'halves' }],
  ['gpt-oss', { interleavesHeads: false, gateUp: 'turns' }],
  ['gemma2', { interleavesHeads: false }],
  ['gemma3', { interleavesHeads: false }],
  ['phi3', { interleavesHeads: false }],
])

/** Where the weight of a module stands in GGUF. */
export interface ModulePlace {
  readonly tensor: string
  /** Its number, where the tensor holds the matrices of several experts. */
  readonly expert: number | null
}

/** Null where it is not a linear layer that is known. */
export function placeOfModule(module: string): ModulePlace | null {
  if (HEAD.test(module)) return { tensor: 'output.weight', expert: null }
  const { layer, module: own = '' } = LAYER.exec(module)?.groups ?? {}
  const { expert, matrix = '' } = EXPERT.exec(own)?.groups ?? {}
  const name = expert === undefined ? LAYER_MODULES.get(own) : EXPERT_MODULES.get(matrix)
  if (name === undefined || layer === undefined) return null
  return {
    tensor: `blk.${Number(layer)}.${name}.weight`,
    expert: expert === undefined ? null : Number(expert),
  }
}

/** The number of the layer whose experts a module holds, all of them in few parameters; null for any other module. */
export function layerOfAllExperts(module: string): number | null {
  const { layer, module: own = '' } = LAYER.exec(module)?.groups ?? {}
  return layer !== undefined && ALL_EXPERTS.test(own) ? Number(layer) : null
}

/** Whether the rows of this tensor are those of heads that llama.cpp rotates. */
export function hasRotatedHeads(tensor: string): boolean {
  return /\.attn_[qk]\.weight$/.test(tensor)
}
