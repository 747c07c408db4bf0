import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { planArchitecture } from '../architectures/hf-architectures.ts'
import { hasRotatedHeads, LORA_ARCHITECTURES, placeOfModule } from './lora-modules.ts'

const SMALL_LLAMA = path.resolve(import.meta.dirname, '../../../test/data/small-llama/config.json')
const PARTS = { llama: 'LlamaForCausalLM', granite: 'GraniteForCausalLM', qwen2: 'Qwen2ForCausalLM' } as const
const OTHERS = {
  smollm3: 'SmolLM3ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
  gemma2: 'Gemma2ForCausalLM',
  gemma3: 'Gemma3ForCausalLM',
  phi3: 'Phi3ForCausalLM',
  qwen3moe: 'Qwen3MoeForCausalLM',
  'gpt-oss': 'GptOssForCausalLM',
  mistral3: 'Mistral3ForConditionalGeneration',
} as const

/** Of a small model of each class; what its config must have beside a Llama's. */
function planOf(architecture: string) {
  const llama = JSON.parse(readFileSync(SMALL_LLAMA, 'utf8')) as Record<string, unknown>
  const fields = {
    ...llama,
    ...{ architectures: [architecture], hidden_activation: 'gelu_pytorch_tanh', sliding_window: 64 },
    ...{
      norm_topk_prob: true,
      num_experts: 4,
      num_experts_per_tok: 2,
      text_config: { ...llama, model_type: 'mistral' },
    },
    ...(architecture.startsWith('GptOss') && { attention_bias: true, tie_word_embeddings: false }),
    ...{ query_pre_attn_scalar: 64, attn_logit_softcapping: 50, final_logit_softcapping: 30 },
  }
  const { attn_logit_softcapping: _cap, final_logit_softcapping: _last, ...withoutCaps } = fields
  return planArchitecture({
    path: SMALL_LLAMA,
    fields: architecture.startsWith('Gemma3') ? withoutCaps : fields,
  })
}

const moduleOf = (weight: string) => weight.replace(/\.weight$/, '')

describe('the table of linear layers', () => {
  it.each(Object.entries({ ...PARTS, ...OTHERS }))(
    'of %s is that of its conversion',
    (name, architecture) => {
      const plan = planOf(architecture)

      expect(plan.ggufName).toBe(name)
      const matrices = plan.tensors.flatMap(({ name: gguf, shape, origin }) => {
        if (!('name' in origin)) return []
        return shape.length === 2 && !/^token_embd|_exps/.test(gguf) ? [{ gguf, origin }] : []
      })
      expect(matrices.length).toBeGreaterThanOrEqual(4 * 4)
      for (const { gguf, origin } of matrices) {
        expect(placeOfModule(moduleOf(origin.name)), origin.name).toEqual({ tensor: gguf, expert: null })
        const isReordered = LORA_ARCHITECTURES.get(name)?.interleavesHeads === true && hasRotatedHeads(gguf)
        expect(origin.kind, gguf).toBe(isReordered ? 'interleave-heads' : 'copy')
      }
    },
  )

  it('of experts is that of their conversion, one by one', () => {
    const stacked = planOf('Qwen3MoeForCausalLM').tensors.flatMap(({ name: tensor, origin }) =>
      origin.kind === 'stacked' ? [{ tensor, names: origin.names }] : [],
    )
    expect(stacked).toHaveLength(4 * 3)
    for (const { tensor, names } of stacked) {
      expect(names).toHaveLength(4)
      for (const [expert, name] of names.entries())
        expect(placeOfModule(moduleOf(name)), name).toEqual({ tensor, expert })
    }
  })

  it('has every architecture that is converted', () => {
    expect([...LORA_ARCHITECTURES.keys()].sort()).toEqual(Object.keys({ ...PARTS, ...OTHERS }).sort())
  })

  it('knows the layers of models that take images too, and no other layers', () => {
    expect(placeOfModule('model.language_model.layers.3.mlp.down_proj')?.tensor).toBe('blk.3.ffn_down.weight')
    expect(placeOfModule('lm_head')?.tensor).toBe('output.weight')
    for (const module of [
      'model.embed_tokens',
      'model.layers.0.input_layernorm',
      'vision_tower.layers.0.q_proj',
      'model.layers.0.mlp.experts.gate_up_proj',
      'model.layers.0.mlp.experts.1.router',
    ])
      expect(placeOfModule(module), module).toBeNull()
  })
})
