import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { planArchitecture } from '../architectures/hf-architectures.ts'
import { hasRotatedHeads, LORA_ARCHITECTURES, tensorOfModule } from './lora-modules.ts'

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
        expect(tensorOfModule(origin.name.replace(/\.weight$/, '')), origin.name).toBe(gguf)
        const isReordered = LORA_ARCHITECTURES.get(name)?.interleavesHeads === true && hasRotatedHeads(gguf)
        expect(origin.kind, gguf).toBe(isReordered ? 'interleave-heads' : 'copy')
      }
    },
  )

  it('has every architecture that is converted', () => {
    expect([...LORA_ARCHITECTURES.keys()].sort()).toEqual(Object.keys({ ...PARTS, ...OTHERS }).sort())
  })

  it('knows the layers of models that take images too, and no other layers', () => {
    expect(tensorOfModule('model.language_model.layers.3.mlp.down_proj')).toBe('blk.3.ffn_down.weight')
    expect(tensorOfModule('lm_head')).toBe('output.weight')
    for (const module of [
      'model.embed_tokens',
      'model.layers.0.input_layernorm',
      'vision_tower.layers.0.q_proj',
    ])
      expect(tensorOfModule(module), module).toBeNull()
  })
})
