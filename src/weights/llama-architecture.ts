/**
 * `LlamaForCausalLM` → llama.cpp's `llama`: config.json to metadata, tensor names, and the order of the rows of Q
 * and K, which Hugging Face stores for rotating halves and llama.cpp reads for rotating neighbouring pairs.
 */
import type { ArchitecturePlan, TensorOrigin, TensorPlan } from './architecture-plan.ts'
import { badFile, shown } from './file-errors.ts'
import { gguf, type GgufValue } from './gguf-format.ts'
import { flag, type JsonObject, positiveNumber, wholeNumber } from './json-file.ts'
import { readRope, type Rope, ropeFrequencyFactors } from './rope-scaling.ts'

interface LlamaConfig {
  readonly vocabSize: number
  readonly contextLength: number
  readonly hiddenSize: number
  readonly feedForwardSize: number
  readonly layers: number
  readonly heads: number
  readonly kvHeads: number
  readonly headSize: number
  readonly rmsEpsilon: number
  readonly rope: Rope
  readonly hasAttentionBias: boolean
  readonly hasMlpBias: boolean
  readonly hasTiedEmbeddings: boolean
}

export function planLlama(config: JsonObject): ArchitecturePlan {
  const llama = readLlamaConfig(config)
  return {
    ggufName: 'llama',
    vocabSize: llama.vocabSize,
    metadata: llamaMetadata(llama),
    tensors: llamaTensors(llama),
    isRedundant: (name) =>
      name.endsWith('.rotary_emb.inv_freq') || (llama.hasTiedEmbeddings && name === 'lm_head.weight'),
  }
}

function readLlamaConfig(config: JsonObject): LlamaConfig {
  checkSupported(config)
  const size = (name: string, defaultValue?: number) =>
    wholeNumber(config, name, {
      min: 1,
      max: 2 ** 24,
      ...(defaultValue === undefined ? {} : { default: defaultValue }),
    })
  const heads = size('num_attention_heads')
  const kvHeads = size('num_key_value_heads', heads)
  const hiddenSize = size('hidden_size')
  const headSize = size('head_dim', Math.floor(hiddenSize / heads))
  if (heads % kvHeads !== 0) {
    throw badFile(
      config.path,
      `is not usable: ${heads} attention heads do not share ${kvHeads} key-value heads evenly`,
    )
  }
  if (headSize % 2 !== 0)
    throw badFile(config.path, `is not usable: "head_dim" must be even, but is ${headSize}`)
  return {
    vocabSize: size('vocab_size'),
    contextLength: size('max_position_embeddings'),
    hiddenSize,
    feedForwardSize: size('intermediate_size'),
    layers: wholeNumber(config, 'num_hidden_layers', { min: 1, max: 10_000 }),
    heads,
    kvHeads,
    headSize,
    rmsEpsilon: positiveNumber(config, 'rms_norm_eps', 1e-6),
    rope: readRope(config),
    hasAttentionBias: flag(config, 'attention_bias', false),
    hasMlpBias: flag(config, 'mlp_bias', false),
    hasTiedEmbeddings: flag(config, 'tie_word_embeddings', false),
  }
}

/** Settings that would change the numbers and that the GGUF architecture cannot express. */
function checkSupported(config: JsonObject): void {
  const { hidden_act: activation = 'silu', quantization_config: quantization, ...rest } = config.fields
  if (activation !== 'silu') {
    throw badFile(
      config.path,
      `cannot be converted: "hidden_act" must be "silu", but is ${shown(activation)}`,
    )
  }
  if (quantization !== undefined && quantization !== null) {
    throw badFile(
      config.path,
      'cannot be converted: its weights are already quantized; give the full-precision checkpoint',
    )
  }
  if ((rest['partial_rotary_factor'] ?? 1) !== 1) {
    throw badFile(config.path, 'cannot be converted: "partial_rotary_factor" must be 1')
  }
}

function llamaMetadata(llama: LlamaConfig): (readonly [string, GgufValue])[] {
  const { rope } = llama
  const scaling: (readonly [string, GgufValue])[] =
    rope.scaling.kind === 'linear'
      ? [
          ['llama.rope.scaling.type', gguf.string('linear')],
          ['llama.rope.scaling.factor', gguf.float32(rope.scaling.factor)],
        ]
      : []
  return [
    ['llama.vocab_size', gguf.uint32(llama.vocabSize)],
    ['llama.context_length', gguf.uint32(llama.contextLength)],
    ['llama.embedding_length', gguf.uint32(llama.hiddenSize)],
    ['llama.feed_forward_length', gguf.uint32(llama.feedForwardSize)],
    ['llama.block_count', gguf.uint32(llama.layers)],
    ['llama.attention.head_count', gguf.uint32(llama.heads)],
    ['llama.attention.head_count_kv', gguf.uint32(llama.kvHeads)],
    ['llama.attention.key_length', gguf.uint32(llama.headSize)],
    ['llama.attention.value_length', gguf.uint32(llama.headSize)],
    ['llama.attention.layer_norm_rms_epsilon', gguf.float32(llama.rmsEpsilon)],
    ['llama.rope.dimension_count', gguf.uint32(llama.headSize)],
    ['llama.rope.freq_base', gguf.float32(rope.theta)],
    ...scaling,
  ]
}

function llamaTensors(llama: LlamaConfig): TensorPlan[] {
  const { hiddenSize, vocabSize, rope, headSize, layers } = llama
  const plans = [copy('token_embd.weight', 'model.embed_tokens.weight', [vocabSize, hiddenSize])]
  const factors = ropeFrequencyFactors(rope, headSize)
  if (factors !== null) {
    plans.push({
      name: 'rope_freqs.weight',
      shape: [factors.length],
      origin: { kind: 'computed', values: factors },
    })
  }
  for (let layer = 0; layer < layers; layer++) plans.push(...layerTensors(llama, layer))
  plans.push(copy('output_norm.weight', 'model.norm.weight', [hiddenSize]))
  // Without output.weight llama.cpp multiplies by the embeddings, which is what tied means.
  if (!llama.hasTiedEmbeddings) plans.push(copy('output.weight', 'lm_head.weight', [vocabSize, hiddenSize]))
  return plans
}

function layerTensors(llama: LlamaConfig, layer: number): TensorPlan[] {
  const { hiddenSize, feedForwardSize, heads, kvHeads, headSize, hasAttentionBias, hasMlpBias } = llama
  const block = `blk.${layer}`
  const source = `model.layers.${layer}`
  const queryRows = heads * headSize
  const keyRows = kvHeads * headSize

  interface Linear {
    readonly ggufName: string
    readonly hfName: string
    readonly rows: number
    readonly columns: number
    readonly hasBias: boolean
    readonly isRotated?: boolean
  }
  const linear = ({ ggufName, hfName, rows, columns, hasBias, isRotated = false }: Linear): TensorPlan[] => {
    const plan = (part: 'weight' | 'bias', shape: number[]): TensorPlan => {
      const name = `${source}.${hfName}.${part}`
      const origin: TensorOrigin = isRotated
        ? { kind: 'interleave-heads', name, headRows: headSize }
        : { kind: 'copy', name }
      return { name: `${block}.${ggufName}.${part}`, shape, origin }
    }
    return [plan('weight', [rows, columns]), ...(hasBias ? [plan('bias', [rows])] : [])]
  }
  const attention = { columns: hiddenSize, hasBias: hasAttentionBias }
  const mlp = { hasBias: hasMlpBias }
  return [
    copy(`${block}.attn_norm.weight`, `${source}.input_layernorm.weight`, [hiddenSize]),
    ...linear({
      ...attention,
      ggufName: 'attn_q',
      hfName: 'self_attn.q_proj',
      rows: queryRows,
      isRotated: true,
    }),
    ...linear({
      ...attention,
      ggufName: 'attn_k',
      hfName: 'self_attn.k_proj',
      rows: keyRows,
      isRotated: true,
    }),
    ...linear({ ...attention, ggufName: 'attn_v', hfName: 'self_attn.v_proj', rows: keyRows }),
    ...linear({
      ...attention,
      ggufName: 'attn_output',
      hfName: 'self_attn.o_proj',
      rows: hiddenSize,
      columns: queryRows,
    }),
    copy(`${block}.ffn_norm.weight`, `${source}.post_attention_layernorm.weight`, [hiddenSize]),
    ...linear({
      ...mlp,
      ggufName: 'ffn_gate',
      hfName: 'mlp.gate_proj',
      rows: feedForwardSize,
      columns: hiddenSize,
    }),
    ...linear({
      ...mlp,
      ggufName: 'ffn_up',
      hfName: 'mlp.up_proj',
      rows: feedForwardSize,
      columns: hiddenSize,
    }),
    ...linear({
      ...mlp,
      ggufName: 'ffn_down',
      hfName: 'mlp.down_proj',
      rows: hiddenSize,
      columns: feedForwardSize,
    }),
  ]
}

function copy(name: string, hfName: string, shape: readonly number[]): TensorPlan {
  return { name, shape, origin: { kind: 'copy', name: hfName } }
}
