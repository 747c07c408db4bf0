/**
 * The config.json of well-known releases, as published, with what is converted of them. Nothing but their shapes is
 * needed, so these are the models that people bring first.
 */
import { describe, expect, it } from 'vitest'
import { elementCount } from '../gguf/gguf-format.ts'
import { planArchitecture } from './hf-architectures.ts'

const COMMON = {
  attention_dropout: 0,
  initializer_range: 0.02,
  use_cache: true,
  transformers_version: '4.45.0',
}

const LLAMA_3_2_1B = {
  ...COMMON,
  architectures: ['LlamaForCausalLM'],
  attention_bias: false,
  bos_token_id: 128_000,
  eos_token_id: [128_001, 128_008, 128_009],
  head_dim: 64,
  hidden_act: 'silu',
  hidden_size: 2048,
  intermediate_size: 8192,
  max_position_embeddings: 131_072,
  mlp_bias: false,
  model_type: 'llama',
  num_attention_heads: 32,
  num_hidden_layers: 16,
  num_key_value_heads: 8,
  pretraining_tp: 1,
  rms_norm_eps: 1e-5,
  rope_scaling: {
    factor: 32,
    high_freq_factor: 4,
    low_freq_factor: 1,
    original_max_position_embeddings: 8192,
    rope_type: 'llama3',
  },
  rope_theta: 500_000,
  tie_word_embeddings: true,
  torch_dtype: 'bfloat16',
  vocab_size: 128_256,
}

const GPT_OSS_20B = {
  ...COMMON,
  architectures: ['GptOssForCausalLM'],
  attention_bias: true,
  eos_token_id: 200_002,
  experts_per_token: 4,
  head_dim: 64,
  hidden_act: 'silu',
  hidden_size: 2880,
  initial_context_length: 4096,
  intermediate_size: 2880,
  layer_types: Array.from({ length: 24 }, (_, layer) =>
    layer % 2 === 0 ? 'sliding_attention' : 'full_attention',
  ),
  max_position_embeddings: 131_072,
  model_type: 'gpt_oss',
  num_attention_heads: 64,
  num_experts_per_tok: 4,
  num_hidden_layers: 24,
  num_key_value_heads: 8,
  num_local_experts: 32,
  pad_token_id: 199_999,
  quantization_config: {
    modules_to_not_convert: ['model.layers.*.self_attn', 'model.layers.*.mlp.router', 'lm_head'],
    quant_method: 'mxfp4',
  },
  rms_norm_eps: 1e-5,
  rope_scaling: {
    beta_fast: 32,
    beta_slow: 1,
    factor: 32,
    original_max_position_embeddings: 4096,
    rope_type: 'yarn',
    truncate: false,
  },
  rope_theta: 150_000,
  sliding_window: 128,
  swiglu_limit: 7,
  tie_word_embeddings: false,
  vocab_size: 201_088,
}

const MISTRAL_7B_V0_3 = {
  ...COMMON,
  architectures: ['MistralForCausalLM'],
  bos_token_id: 1,
  eos_token_id: 2,
  hidden_act: 'silu',
  hidden_size: 4096,
  intermediate_size: 14_336,
  max_position_embeddings: 32_768,
  model_type: 'mistral',
  num_attention_heads: 32,
  num_hidden_layers: 32,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-5,
  rope_theta: 1_000_000,
  sliding_window: null,
  tie_word_embeddings: false,
  torch_dtype: 'bfloat16',
  vocab_size: 32_768,
}

const GRANITE_3_3_2B = {
  ...COMMON,
  architectures: ['GraniteForCausalLM'],
  attention_bias: false,
  attention_multiplier: 0.015_625,
  bos_token_id: 0,
  embedding_multiplier: 12,
  eos_token_id: 0,
  hidden_act: 'silu',
  hidden_size: 2048,
  intermediate_size: 8192,
  logits_scaling: 8,
  max_position_embeddings: 131_072,
  mlp_bias: false,
  model_type: 'granite',
  num_attention_heads: 32,
  num_hidden_layers: 40,
  num_key_value_heads: 8,
  pad_token_id: 0,
  residual_multiplier: 0.22,
  rms_norm_eps: 1e-5,
  rope_scaling: null,
  rope_theta: 10_000_000,
  tie_word_embeddings: true,
  torch_dtype: 'bfloat16',
  vocab_size: 49_159,
}

const QWEN_2_5_0_5B = {
  ...COMMON,
  architectures: ['Qwen2ForCausalLM'],
  bos_token_id: 151_643,
  eos_token_id: 151_645,
  hidden_act: 'silu',
  hidden_size: 896,
  intermediate_size: 4864,
  max_position_embeddings: 32_768,
  max_window_layers: 21,
  model_type: 'qwen2',
  num_attention_heads: 14,
  num_hidden_layers: 24,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  sliding_window: 32_768,
  tie_word_embeddings: true,
  torch_dtype: 'bfloat16',
  use_sliding_window: false,
  vocab_size: 151_936,
}

const QWEN_3_0_6B = {
  ...COMMON,
  architectures: ['Qwen3ForCausalLM'],
  attention_bias: false,
  bos_token_id: 151_643,
  eos_token_id: 151_645,
  head_dim: 128,
  hidden_act: 'silu',
  hidden_size: 1024,
  intermediate_size: 3072,
  max_position_embeddings: 40_960,
  max_window_layers: 28,
  model_type: 'qwen3',
  num_attention_heads: 16,
  num_hidden_layers: 28,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-6,
  rope_scaling: null,
  rope_theta: 1_000_000,
  sliding_window: null,
  tie_word_embeddings: true,
  torch_dtype: 'bfloat16',
  use_sliding_window: false,
  vocab_size: 151_936,
}

const GEMMA_2_2B = {
  ...COMMON,
  architectures: ['Gemma2ForCausalLM'],
  attention_bias: false,
  attn_logit_softcapping: 50,
  bos_token_id: 2,
  cache_implementation: 'hybrid',
  eos_token_id: [1, 107],
  final_logit_softcapping: 30,
  head_dim: 256,
  hidden_act: 'gelu_pytorch_tanh',
  hidden_activation: 'gelu_pytorch_tanh',
  hidden_size: 2304,
  intermediate_size: 9216,
  max_position_embeddings: 8192,
  model_type: 'gemma2',
  num_attention_heads: 8,
  num_hidden_layers: 26,
  num_key_value_heads: 4,
  pad_token_id: 0,
  query_pre_attn_scalar: 256,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  sliding_window: 4096,
  torch_dtype: 'bfloat16',
  vocab_size: 256_000,
}

const GEMMA_3_1B = {
  ...COMMON,
  architectures: ['Gemma3ForCausalLM'],
  attention_bias: false,
  attn_logit_softcapping: null,
  bos_token_id: 2,
  cache_implementation: 'hybrid',
  eos_token_id: [1, 106],
  final_logit_softcapping: null,
  head_dim: 256,
  hidden_activation: 'gelu_pytorch_tanh',
  hidden_size: 1152,
  intermediate_size: 6912,
  max_position_embeddings: 32_768,
  model_type: 'gemma3_text',
  num_attention_heads: 4,
  num_hidden_layers: 26,
  num_key_value_heads: 1,
  pad_token_id: 0,
  query_pre_attn_scalar: 256,
  rms_norm_eps: 1e-6,
  rope_local_base_freq: 10_000,
  rope_scaling: null,
  rope_theta: 1_000_000,
  sliding_window: 512,
  sliding_window_pattern: 6,
  torch_dtype: 'bfloat16',
  vocab_size: 262_144,
}

const GEMMA_3_4B = {
  architectures: ['Gemma3ForConditionalGeneration'],
  boi_token_index: 255_999,
  eoi_token_index: 256_000,
  eos_token_id: [1, 106],
  image_token_index: 262_144,
  initializer_range: 0.02,
  mm_tokens_per_image: 256,
  model_type: 'gemma3',
  text_config: {
    hidden_size: 2560,
    intermediate_size: 10_240,
    model_type: 'gemma3_text',
    num_hidden_layers: 34,
    rope_scaling: { factor: 8, rope_type: 'linear' },
    sliding_window: 1024,
  },
  torch_dtype: 'bfloat16',
  vision_config: { hidden_size: 1152, model_type: 'siglip_vision_model' },
}

const MISTRAL_SMALL_3_1 = {
  architectures: ['Mistral3ForConditionalGeneration'],
  image_token_index: 10,
  model_type: 'mistral3',
  text_config: {
    attention_dropout: 0,
    head_dim: 128,
    hidden_act: 'silu',
    hidden_size: 5120,
    initializer_range: 0.02,
    intermediate_size: 32_768,
    max_position_embeddings: 131_072,
    model_type: 'mistral',
    num_attention_heads: 32,
    num_hidden_layers: 40,
    num_key_value_heads: 8,
    rms_norm_eps: 1e-5,
    rope_theta: 1_000_000_000,
    sliding_window: null,
    vocab_size: 131_072,
  },
  torch_dtype: 'bfloat16',
  vision_config: { hidden_size: 1024, model_type: 'pixtral' },
}

const SMOLLM3_3B = {
  ...COMMON,
  architectures: ['SmolLM3ForCausalLM'],
  attention_bias: false,
  hidden_act: 'silu',
  hidden_size: 2048,
  intermediate_size: 11_008,
  layer_types: Array(36).fill('full_attention'),
  max_position_embeddings: 65_536,
  mlp_bias: false,
  model_type: 'smollm3',
  no_rope_layer_interval: 4,
  no_rope_layers: Array.from({ length: 36 }, (_, layer) => ((layer + 1) % 4 === 0 ? 0 : 1)),
  num_attention_heads: 16,
  num_hidden_layers: 36,
  num_key_value_heads: 4,
  rms_norm_eps: 1e-6,
  rope_scaling: null,
  rope_theta: 5_000_000,
  sliding_window: null,
  use_sliding_window: false,
  vocab_size: 128_256,
}

const QWEN_3_30B_A3B = {
  ...COMMON,
  architectures: ['Qwen3MoeForCausalLM'],
  attention_bias: false,
  decoder_sparse_step: 1,
  head_dim: 128,
  hidden_act: 'silu',
  hidden_size: 2048,
  intermediate_size: 6144,
  max_position_embeddings: 40_960,
  max_window_layers: 48,
  mlp_only_layers: [],
  model_type: 'qwen3_moe',
  moe_intermediate_size: 768,
  norm_topk_prob: true,
  num_attention_heads: 32,
  num_experts: 128,
  num_experts_per_tok: 8,
  num_hidden_layers: 48,
  num_key_value_heads: 4,
  rms_norm_eps: 1e-6,
  rope_scaling: null,
  rope_theta: 1_000_000,
  sliding_window: null,
  tie_word_embeddings: false,
  use_sliding_window: false,
  vocab_size: 151_936,
}

const PHI_3_MINI_4K = {
  ...COMMON,
  _name_or_path: 'Phi-3-mini-4k-instruct',
  architectures: ['Phi3ForCausalLM'],
  attention_bias: false,
  auto_map: {
    AutoConfig: 'configuration_phi3.Phi3Config',
    AutoModelForCausalLM: 'modeling_phi3.Phi3ForCausalLM',
  },
  bos_token_id: 1,
  embd_pdrop: 0,
  eos_token_id: 32_000,
  hidden_act: 'silu',
  hidden_size: 3072,
  intermediate_size: 8192,
  max_position_embeddings: 4096,
  model_type: 'phi3',
  num_attention_heads: 32,
  num_hidden_layers: 32,
  num_key_value_heads: 32,
  original_max_position_embeddings: 4096,
  pad_token_id: 32_000,
  resid_pdrop: 0,
  rms_norm_eps: 1e-5,
  rope_scaling: null,
  rope_theta: 10_000,
  sliding_window: 2047,
  tie_word_embeddings: false,
  torch_dtype: 'bfloat16',
  vocab_size: 32_064,
}

const factors = (count: number) => Array.from({ length: count }, (_, index) => 1 + index / 10)
const PHI_3_MINI_128K = {
  ...PHI_3_MINI_4K,
  max_position_embeddings: 131_072,
  rope_scaling: { long_factor: factors(48), short_factor: factors(48), type: 'longrope' },
  sliding_window: 262_144,
}

const PHI_4_MINI = {
  ...PHI_3_MINI_128K,
  eos_token_id: 199_999,
  full_attn_mod: 1,
  interpolate_factor: 1,
  lm_head_bias: false,
  mlp_bias: false,
  num_attention_heads: 24,
  num_key_value_heads: 8,
  partial_rotary_factor: 0.75,
  rope_scaling: { long_factor: factors(48), short_factor: factors(48), type: 'longrope' },
  tie_word_embeddings: true,
  vocab_size: 200_064,
}

function plan(fields: object) {
  const { ggufName, metadata, tensors } = planArchitecture({ path: 'config.json', fields: { ...fields } })
  const numbers = Object.fromEntries(
    metadata.map(([key, value]) => [
      key.slice(ggufName.length + 1),
      value.type === 'array' ? null : value.value,
    ]),
  )
  const parameters = tensors
    .filter(({ origin }) => origin.kind !== 'computed')
    .reduce((sum, { shape }) => sum + elementCount(shape), 0)
  return { ggufName, parameters, numbers, names: tensors.map(({ name }) => name) }
}

interface Published {
  readonly config: object
  readonly ggufName: string
  /** As the model's card counts them, tied embeddings once. */
  readonly parameters: number
  readonly context: number
  readonly rotated: number
}

describe('a release', () => {
  it.each<[string, Published]>([
    [
      'Llama 3.2 1B',
      { config: LLAMA_3_2_1B, ggufName: 'llama', parameters: 1_235_814_400, context: 131_072, rotated: 64 },
    ],
    [
      'Mistral 7B v0.3',
      {
        config: MISTRAL_7B_V0_3,
        ggufName: 'llama',
        parameters: 7_248_023_552,
        context: 32_768,
        rotated: 128,
      },
    ],
    [
      'Granite 3.3 2B',
      {
        config: GRANITE_3_3_2B,
        ggufName: 'granite',
        parameters: 2_533_539_840,
        context: 131_072,
        rotated: 64,
      },
    ],
    [
      'SmolLM3 3B',
      { config: SMOLLM3_3B, ggufName: 'smollm3', parameters: 3_075_098_624, context: 65_536, rotated: 128 },
    ],
    [
      'Qwen3 30B A3B',
      {
        config: QWEN_3_30B_A3B,
        ggufName: 'qwen3moe',
        parameters: 30_532_122_624,
        context: 40_960,
        rotated: 128,
      },
    ],
    [
      'Gemma 3 4B',
      { config: GEMMA_3_4B, ggufName: 'gemma3', parameters: 3_880_263_168, context: 131_072, rotated: 256 },
    ],
    [
      'Mistral Small 3.1',
      {
        config: MISTRAL_SMALL_3_1,
        ggufName: 'mistral3',
        parameters: 23_572_403_200,
        context: 131_072,
        rotated: 128,
      },
    ],
    [
      'Qwen2.5 0.5B',
      { config: QWEN_2_5_0_5B, ggufName: 'qwen2', parameters: 494_032_768, context: 32_768, rotated: 64 },
    ],
    [
      'Qwen3 0.6B',
      { config: QWEN_3_0_6B, ggufName: 'qwen3', parameters: 596_049_920, context: 40_960, rotated: 128 },
    ],
    [
      'Gemma 2 2B',
      { config: GEMMA_2_2B, ggufName: 'gemma2', parameters: 2_614_341_888, context: 8192, rotated: 256 },
    ],
    [
      'Gemma 3 1B',
      { config: GEMMA_3_1B, ggufName: 'gemma3', parameters: 999_885_952, context: 32_768, rotated: 256 },
    ],
    [
      'Phi-3 mini 4k',
      { config: PHI_3_MINI_4K, ggufName: 'phi3', parameters: 3_821_079_552, context: 2047, rotated: 96 },
    ],
    [
      'Phi-3 mini 128k',
      { config: PHI_3_MINI_128K, ggufName: 'phi3', parameters: 3_821_079_552, context: 131_072, rotated: 96 },
    ],
    [
      'Phi-4 mini',
      { config: PHI_4_MINI, ggufName: 'phi3', parameters: 3_836_021_760, context: 131_072, rotated: 96 },
    ],
  ])(
    '%s is planned with as many weights as it has',
    (_, { config, ggufName, parameters, context, rotated }) => {
      const planned = plan(config)
      expect(planned).toMatchObject({
        ggufName,
        parameters,
        numbers: { context_length: context, 'rope.dimension_count': rotated },
      })
    },
  )

  it('is the same as transformers 5 writes it', () => {
    const v5 = (
      { torch_dtype: dtype, rope_theta, rope_scaling, ...rest }: Record<string, unknown>,
      more = {},
    ) => ({
      ...rest,
      dtype,
      transformers_version: '5.0.0',
      rope_parameters: { rope_type: 'default', ...(rope_scaling as object | null), rope_theta, ...more },
    })
    const { rope_local_base_freq: local, sliding_window_pattern: _, ...gemma } = GEMMA_3_1B
    const layerTypes = Array.from({ length: 26 }, (_unused, layer) =>
      (layer + 1) % 6 === 0 ? 'full_attention' : 'sliding_attention',
    )
    const pairs: [object, object][] = [
      [LLAMA_3_2_1B, v5(LLAMA_3_2_1B)],
      [MISTRAL_7B_V0_3, v5({ ...MISTRAL_7B_V0_3, head_dim: null })],
      [
        QWEN_2_5_0_5B,
        v5({ ...QWEN_2_5_0_5B, layer_types: Array(24).fill('full_attention'), sliding_window: null }),
      ],
      [GRANITE_3_3_2B, v5(GRANITE_3_3_2B)],
      [QWEN_3_0_6B, v5({ ...QWEN_3_0_6B, layer_types: Array(28).fill('full_attention') })],
      [
        PHI_4_MINI,
        v5(PHI_4_MINI, {
          partial_rotary_factor: 0.75,
          original_max_position_embeddings: 4096,
          rope_type: 'longrope',
        }),
      ],
      [
        GEMMA_3_1B,
        {
          ...gemma,
          layer_types: layerTypes,
          rope_parameters: {
            full_attention: { rope_type: 'default', rope_theta: 1_000_000 },
            sliding_attention: { rope_type: 'default', rope_theta: local },
          },
        },
      ],
    ]
    for (const [old, now] of pairs) expect(plan(now)).toEqual(plan(old))
  })

  it('converts gpt-oss 20B, with its experts in MXFP4', () => {
    const { tensors, metadata } = planArchitecture({ path: 'config.json', fields: GPT_OSS_20B })
    const count = tensors.reduce((sum, { shape }) => sum + elementCount(shape), 0)
    expect(count).toBe(20_914_757_184)
    const values = new Map(metadata.map(([key, value]) => [key, value]))
    expect(values.get('gpt-oss.expert_count')).toEqual({ type: 'uint32', value: 32 })
    expect(values.get('gpt-oss.attention.sliding_window')).toEqual({ type: 'uint32', value: 128 })
    expect(values.get('gpt-oss.rope.scaling.factor')).toEqual({ type: 'float32', value: 32 })
    expect(tensors.find(({ name }) => name === 'blk.23.ffn_up_exps.weight')).toEqual({
      name: 'blk.23.ffn_up_exps.weight',
      shape: [32, 2880, 2880],
      origin: {
        kind: 'mxfp4',
        blocks: 'model.layers.23.mlp.experts.gate_up_proj_blocks',
        scales: 'model.layers.23.mlp.experts.gate_up_proj_scales',
        picks: 'odd',
      },
    })
  })

  it.each([
    [
      'gpt-oss with another limit',
      { ...GPT_OSS_20B, swiglu_limit: 5 },
      /"swiglu_limit" must be 7, but is 5\.$/,
    ],
    [
      'gpt-oss in another format',
      { ...GPT_OSS_20B, quantization_config: { quant_method: 'awq' } },
      /its weights are already quantized; give the full-precision checkpoint\.$/,
    ],
    [
      'Llama 4, which sees',
      {
        architectures: ['Llama4ForConditionalGeneration'],
        text_config: { hidden_size: 5120 },
        vision_config: {},
      },
      /has the architecture "Llama4ForConditionalGeneration"; safetensors are converted for LlamaForCausalLM, .*, others need a GGUF file\.$/,
    ],
    [
      'Mistral 4, whose text half is another',
      { ...MISTRAL_SMALL_3_1, text_config: { ...MISTRAL_SMALL_3_1.text_config, model_type: 'mistral4' } },
      /"model_type" of its "text_config" must be "mistral", but is "mistral4"\.$/,
    ],
    [
      'one in fp8',
      { ...LLAMA_3_2_1B, quantization_config: { quant_method: 'fp8' } },
      /its weights are already quantized; give the full-precision checkpoint\.$/,
    ],
    [
      'one with a rope scaling of its own',
      { ...LLAMA_3_2_1B, rope_scaling: { type: 'dynamic', factor: 2 } },
      /rope scaling must be default, linear, llama3 or yarn for its architecture, but is "dynamic"\.$/,
    ],
  ])('%s is refused in one sentence', (_, config, sentence) => {
    expect(() => plan(config)).toThrow(sentence)
  })
})
