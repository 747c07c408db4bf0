import { describe, expect, it } from 'vitest'
import type { ArchitecturePlan } from './architecture-plan.ts'
import { HF_ARCHITECTURES, planArchitecture } from './hf-architectures.ts'

type Fields = Record<string, unknown>

const SIZES = {
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 4,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  vocab_size: 6,
  max_position_embeddings: 64,
}
const OWN: Readonly<Record<string, Fields>> = {
  Qwen3Moe: { num_experts: 4, num_experts_per_tok: 2, moe_intermediate_size: 6, norm_topk_prob: true },
  Gemma2: { head_dim: 4, query_pre_attn_scalar: 4, sliding_window: 16 },
  Gemma3: { head_dim: 4, query_pre_attn_scalar: 4, sliding_window: 16 },
}

function plan(family: string, changes: Fields = {}): ArchitecturePlan {
  const fields = { architectures: [`${family}ForCausalLM`], ...SIZES, ...OWN[family], ...changes }
  return planArchitecture({ path: 'config.json', fields })
}

function metadataOf(made: ArchitecturePlan): Fields {
  return Object.fromEntries(
    made.metadata.map(([key, value]) => [
      key.slice(made.ggufName.length + 1),
      value.type === 'array' ? Array.from<unknown>(value.items) : value.value,
    ]),
  )
}

const namesOf = (made: ArchitecturePlan) => made.tensors.map(({ name }) => name)

it('reads how many experts Qwen3 MoE has by the name that transformers 5 writes', () => {
  const { num_experts, ...others } = OWN['Qwen3Moe'] ?? {}
  const fields = { ...SIZES, ...others, num_local_experts: num_experts }
  const made = planArchitecture({
    path: 'config.json',
    fields: { architectures: ['Qwen3MoeForCausalLM'], ...fields },
  })
  expect(metadataOf(made)).toEqual(metadataOf(plan('Qwen3Moe')))
})

it('names those that are converted when another is asked for', () => {
  expect(() => plan('Falcon')).toThrow(
    'config.json has the architecture "FalconForCausalLM"; safetensors are converted for LlamaForCausalLM, ' +
      'MistralForCausalLM, GraniteForCausalLM, SmolLM3ForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM, ' +
      'Qwen3MoeForCausalLM, Gemma2ForCausalLM, Gemma3ForCausalLM, Gemma3ForConditionalGeneration, ' +
      'Mistral3ForConditionalGeneration, Ministral3ForCausalLM, GptOssForCausalLM, Phi3ForCausalLM, BertModel, ' +
      'BertForSequenceClassification, RobertaModel, RobertaForSequenceClassification, XLMRobertaModel, XLMRobertaForSequenceClassification, ' +
      'others need a GGUF file.',
  )
  expect(HF_ARCHITECTURES.size).toBe(20)
})

describe('the rows of Q and K', () => {
  it.each([
    ['Llama', true],
    ['Mistral', true],
    ['Granite', true],
    ['SmolLM3', true],
    ['Qwen2', false],
    ['Qwen3', false],
    ['Qwen3Moe', false],
    ['Gemma2', false],
    ['Gemma3', false],
    ['Phi3', false],
  ])('of %s are reordered: %s', (family, isReordered) => {
    const changed = plan(family, { head_dim: 4 }).tensors.filter(
      ({ origin }) => origin.kind === 'interleave-heads',
    )
    expect(changed.map(({ name }) => name)).toEqual(
      isReordered
        ? [0, 1, 2, 3].flatMap((layer) => [`blk.${layer}.attn_q.weight`, `blk.${layer}.attn_k.weight`])
        : [],
    )
  })
})

describe('a sliding window that the graph does not have', () => {
  const contextOf = (family: string, changes: Fields) =>
    metadataOf(plan(family, { head_dim: 4, ...changes }))['context_length']

  it('bounds the context of Mistral and Phi-3', () => {
    expect(contextOf('Mistral', { sliding_window: 16 })).toBe(16)
    expect(contextOf('Mistral', { sliding_window: 4096 })).toBe(64)
    expect(contextOf('Mistral', { sliding_window: null })).toBe(64)
    expect(contextOf('Mistral', { max_position_embeddings: 32_768 })).toBe(4096)
    expect(contextOf('Phi3', { sliding_window: 16 })).toBe(16)
    expect(contextOf('Phi3', {})).toBe(64)
    expect(contextOf('Llama', { sliding_window: 16 })).toBe(64)
    expect(() => contextOf('Mistral', { sliding_window: 0 })).toThrow(
      '"sliding_window" must be a whole number',
    )
  })

  it.each(['Qwen2', 'Qwen3'])('bounds that of %s when its switch is on and some layer slides', (family) => {
    const window = { sliding_window: 16, max_window_layers: 2 }
    expect(contextOf(family, { ...window })).toBe(64)
    expect(contextOf(family, { ...window, use_sliding_window: true })).toBe(16)
    expect(contextOf(family, { ...window, use_sliding_window: true, max_window_layers: 4 })).toBe(64)
    const layer_types = Array<string>(4).fill('full_attention')
    expect(contextOf(family, { ...window, use_sliding_window: true, layer_types })).toBe(64)
  })
})

describe('Gemma', () => {
  it('has its sliding layers by rule, or as they are listed', () => {
    const pattern = (family: string, changes: Fields = {}) =>
      metadataOf(plan(family, changes))['attention.sliding_window_pattern']
    expect(pattern('Gemma2')).toEqual([true, false, true, false])
    expect(pattern('Gemma3')).toEqual([true, true, true, true])
    expect(pattern('Gemma3', { sliding_window_pattern: 3 })).toEqual([true, true, false, true])
    expect(pattern('Gemma3', { _sliding_window_pattern: 2 })).toEqual([true, false, true, false])
    const layer_types = ['full_attention', 'full_attention', 'sliding_attention', 'full_attention']
    expect(pattern('Gemma2', { layer_types })).toEqual([false, false, true, false])
    expect(() => pattern('Gemma2', { layer_types: ['full_attention'] })).toThrow('must name 4 layers')
    expect(() => pattern('Gemma2', { layer_types: Array(4).fill('full_attention') })).toThrow(
      'a Gemma without sliding layers is not known',
    )
  })

  it('has a rotary base of its own for the sliding layers of Gemma 3', () => {
    expect(metadataOf(plan('Gemma3'))).toMatchObject({ 'rope.freq_base': 1e6, 'rope.freq_base_swa': 10_000 })
    const rope_parameters = {
      full_attention: { rope_theta: 5e5, rope_type: 'default' },
      sliding_attention: { rope_theta: 5000, rope_type: 'default' },
    }
    expect(metadataOf(plan('Gemma3', { rope_parameters }))).toMatchObject({
      'rope.freq_base': 5e5,
      'rope.freq_base_swa': 5000,
    })
  })

  it('has its embeddings tied when nothing is said', () => {
    expect(namesOf(plan('Gemma2'))).not.toContain('output.weight')
    expect(namesOf(plan('Gemma3', { tie_word_embeddings: false }))).toContain('output.weight')
    expect(() => plan('Gemma2', { tie_word_embeddings: false })).toThrow('"tie_word_embeddings" must be true')
  })

  it('adds one to every norm and to nothing else', () => {
    const changed = plan('Gemma3', { num_hidden_layers: 1 }).tensors.filter(
      ({ origin }) => origin.kind === 'add-one',
    )
    expect(changed.map(({ name }) => name.replace('blk.0.', ''))).toEqual([
      'attn_norm.weight',
      'post_attention_norm.weight',
      'ffn_norm.weight',
      'post_ffw_norm.weight',
      'attn_q_norm.weight',
      'attn_k_norm.weight',
      'output_norm.weight',
    ])
  })
})

describe('what llama.cpp would compute differently is refused', () => {
  const refusals: [family: string, changes: Fields, words: string][] = [
    ['Llama', { hidden_act: 'gelu' }, '"hidden_act" must be "silu", but is "gelu"'],
    [
      'Gemma2',
      { hidden_activation: 'gelu' },
      '"hidden_activation" must be "gelu_pytorch_tanh", but is "gelu"',
    ],
    ['Llama', { partial_rotary_factor: 0.5 }, '"partial_rotary_factor" must be 1'],
    ['Llama', { rope_parameters: { partial_rotary_factor: 0.5 } }, '"partial_rotary_factor" must be 1'],
    ['Phi3', { partial_rotary_factor: 2 }, '8 of the 4 numbers of a head would be rotated'],
    ['Granite', { logits_scaling: 0 }, '"logits_scaling" must be a number above 0, but is 0'],
    [
      'SmolLM3',
      { num_hidden_layers: 4, no_rope_layers: [1, 1, 1, 1] },
      'rotary positions in all but every fourth',
    ],
    [
      'SmolLM3',
      { num_hidden_layers: 4, no_rope_layer_interval: 2 },
      'rotary positions in all but every fourth',
    ],
    ['SmolLM3', { use_sliding_window: true }, '"use_sliding_window" must be false'],
    ['Qwen3Moe', { norm_topk_prob: undefined }, '"norm_topk_prob" must be true'],
    ['Qwen3Moe', { mlp_only_layers: [0] }, 'each of its layers must have experts'],
    ['Qwen3Moe', { decoder_sparse_step: 2 }, 'each of its layers must have experts'],
    [
      'Qwen3Moe',
      { num_experts_per_tok: 5 },
      '"num_experts_per_tok" must be a whole number from 1 to 4, but is 5',
    ],
    ['Qwen2', { head_dim: 8 }, '2 heads of "head_dim" 8 must make "hidden_size" 8'],
    ['Qwen2', { rope_scaling: { type: 'dynamic', factor: 2 } }, 'must be default, linear or yarn'],
    ['Qwen3', { rope_scaling: { rope_type: 'llama3', factor: 2 } }, 'but is "llama3"'],
    ['Qwen3', { attention_bias: true }, '"attention_bias" must be false'],
    ['Phi3', { attention_bias: true }, '"attention_bias" must be false'],
    ['Qwen2', { is_causal: false }, '"is_causal" must be true'],
    ['Llama', { is_causal: false }, '"is_causal" must be true'],
    ['Gemma3', { use_bidirectional_attention: true }, '"use_bidirectional_attention" must be false'],
    ['Gemma3', { attn_logit_softcapping: 50 }, '"attn_logit_softcapping" is not known'],
    ['Gemma2', { attn_logit_softcapping: null }, '"attn_logit_softcapping" must be a number above 0'],
    ['Gemma2', { query_pre_attn_scalar: 8 }, '"query_pre_attn_scalar" must be 4 for 4 layers, but is 8'],
    ['Gemma2', { rope_scaling: { type: 'yarn', factor: 2 } }, 'must be default or linear'],
    ['Phi3', { rope_scaling: { type: 'linear', factor: 2 } }, 'must be default or longrope'],
    ['Llama', { num_hidden_layers: 513 }, 'a whole number from 1 to 512, but is 513'],
    ['Llama', { head_dim: 3 }, '"head_dim" must be even, but is 3'],
    ['Mistral', { quantization_config: {} }, 'already quantized'],
  ]
  it.each(refusals)('%s with %j', (family, changes, words) => {
    expect(() => plan(family, changes)).toThrow(words)
  })
})

describe('configs as they are published', () => {
  const llama31 = {
    rope_type: 'llama3',
    factor: 32,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 8192,
  }
  const factors = (count: number) => Array<number>(count).fill(1.5)
  const sizes = (hidden: number, feed: number, [layers, heads, kvHeads]: readonly number[]) => ({
    hidden_size: hidden,
    intermediate_size: feed,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
  })
  const configs: [model: string, family: string, published: { config: Fields; expected: Fields }][] = [
    [
      'Llama 3.2 1B',
      'Llama',
      {
        config: {
          ...sizes(2048, 8192, [16, 32, 8]),
          ...{ head_dim: 64, max_position_embeddings: 131_072, rms_norm_eps: 1e-5, vocab_size: 128_256 },
          ...{ rope_scaling: llama31, rope_theta: 5e5, tie_word_embeddings: true, attention_bias: false },
        },
        expected: { context_length: 131_072, 'rope.freq_base': 5e5, 'attention.key_length': 64 },
      },
    ],
    [
      'Mistral 7B v0.3',
      'Mistral',
      {
        config: {
          ...sizes(4096, 14_336, [32, 32, 8]),
          ...{ head_dim: null, max_position_embeddings: 32_768, sliding_window: null, rope_theta: 1e6 },
        },
        expected: { context_length: 32_768, 'attention.key_length': 128 },
      },
    ],
    [
      'Qwen2.5 0.5B',
      'Qwen2',
      {
        config: {
          ...sizes(896, 4864, [24, 14, 2]),
          ...{ max_position_embeddings: 32_768, max_window_layers: 21, sliding_window: 32_768 },
          ...{ use_sliding_window: false, rope_theta: 1e6, tie_word_embeddings: true },
        },
        expected: { context_length: 32_768, 'rope.dimension_count': 64 },
      },
    ],
    [
      'Qwen3 0.6B',
      'Qwen3',
      {
        config: {
          ...sizes(1024, 3072, [28, 16, 8]),
          ...{ head_dim: 128, max_position_embeddings: 40_960, max_window_layers: 28, sliding_window: null },
          ...{ use_sliding_window: false, rope_scaling: null, attention_bias: false },
        },
        expected: { context_length: 40_960, 'attention.key_length': 128 },
      },
    ],
    [
      'Gemma 2 27B',
      'Gemma2',
      {
        config: {
          ...sizes(4608, 36_864, [46, 32, 16]),
          ...{
            head_dim: 128,
            max_position_embeddings: 8192,
            query_pre_attn_scalar: 144,
            sliding_window: 4096,
          },
          ...{ attn_logit_softcapping: 50, final_logit_softcapping: 30, hidden_activation: null },
        },
        expected: { attn_logit_softcapping: 50, 'attention.sliding_window': 4096 },
      },
    ],
    [
      'Gemma 3 1B',
      'Gemma3',
      {
        config: {
          ...sizes(1152, 6912, [26, 4, 1]),
          ...{
            head_dim: 256,
            max_position_embeddings: 32_768,
            query_pre_attn_scalar: 256,
            sliding_window: 512,
          },
          ...{ sliding_window_pattern: 6, attn_logit_softcapping: null, final_logit_softcapping: null },
          ...{ rope_local_base_freq: 10_000, rope_theta: 1e6, rope_scaling: null },
        },
        expected: { 'rope.freq_base_swa': 10_000, 'attention.key_length': 256, context_length: 32_768 },
      },
    ],
    [
      'Phi-3 mini 128k',
      'Phi3',
      {
        config: {
          ...sizes(3072, 8192, [32, 32, 32]),
          ...{
            max_position_embeddings: 131_072,
            original_max_position_embeddings: 4096,
            sliding_window: 262_144,
          },
          rope_scaling: { type: 'longrope', long_factor: factors(48), short_factor: factors(48) },
        },
        expected: { context_length: 131_072, 'rope.scaling.original_context_length': 4096 },
      },
    ],
  ]
  it.each(configs)('%s', (_, family, { config, expected }) => {
    expect(metadataOf(plan(family, config))).toMatchObject(expected)
  })
})
