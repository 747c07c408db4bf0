/**
 * Makes the whole plan of a conversion from a decoder's config and the rows of its tensor table. Holds the rows that
 * several architectures share; each architecture puts its own table together.
 */
import type {
  ArchitecturePlan,
  MetadataEntry,
  StackedOrigin,
  TensorChange,
  TensorPlan,
} from './architecture-plan.ts'
import type { DecoderConfig } from './decoder-config.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { ropeMetadata, ropeTensors } from './rope-scaling.ts'

/** A tensor that every layer has, named without its layer and without `.weight`. */
export interface LayerTensor {
  readonly gguf: string
  readonly hf: string
  /** Rows and columns; one number for a vector. */
  readonly shape: readonly number[]
  /** Whether it has a bias, a vector of one number per row. */
  readonly hasBias?: boolean
  readonly change?: TensorChange | undefined
  /** Where it is one of so many experts: they are one tensor in GGUF, and `{}` in `hf` stands for their number. */
  readonly experts?: LayerExperts
  /** @default false */
  readonly isF32?: boolean
}

interface LayerExperts {
  readonly count: number
  /** The tensor that newer releases have in their place, by its name behind the last dot, and which part of it this is. */
  readonly fused: StackedOrigin['fused']
}

interface DecoderTable {
  readonly layer: readonly LayerTensor[]
  /** Without the architecture's prefix. */
  readonly metadata?: readonly MetadataEntry[]
  /** What is done to the norm behind the last layer. */
  readonly outputNormChange?: TensorChange
}

export function planDecoder(decoder: DecoderConfig, table: DecoderTable): ArchitecturePlan {
  const { ggufName, vocabSize, rope } = decoder
  const entries = [...decoderMetadata(decoder), ...ropeMetadata(rope), ...(table.metadata ?? [])]
  return {
    ggufName,
    vocabSize,
    metadata: entries.map(([key, value]) => [`${ggufName}.${key}`, value]),
    tensors: decoderTensors(decoder, table),
    isRedundant: (name) =>
      name.endsWith('.rotary_emb.inv_freq') || (decoder.hasTiedEmbeddings && name === 'lm_head.weight'),
  }
}

function decoderMetadata(decoder: DecoderConfig): MetadataEntry[] {
  return [
    ['vocab_size', gguf.uint32(decoder.vocabSize)],
    ['context_length', gguf.uint32(decoder.contextLength)],
    ['embedding_length', gguf.uint32(decoder.hiddenSize)],
    ['feed_forward_length', gguf.uint32(decoder.feedForwardSize)],
    ['block_count', gguf.uint32(decoder.layers)],
    ['attention.head_count', gguf.uint32(decoder.heads)],
    ['attention.head_count_kv', gguf.uint32(decoder.kvHeads)],
    ['attention.key_length', gguf.uint32(decoder.headSize)],
    ['attention.value_length', gguf.uint32(decoder.headSize)],
    ['attention.layer_norm_rms_epsilon', gguf.float32(decoder.rmsEpsilon)],
    ['rope.dimension_count', gguf.uint32(decoder.rotatedSize)],
  ]
}

function decoderTensors(decoder: DecoderConfig, { layer, outputNormChange }: DecoderTable): TensorPlan[] {
  const { hiddenSize, vocabSize, rope, rotatedSize, layers, hasTiedEmbeddings } = decoder
  const norm = { gguf: 'output_norm', hf: 'model.norm', shape: [hiddenSize], change: outputNormChange }
  // Without output.weight llama.cpp multiplies by the embeddings: that is tying them.
  const head = { gguf: 'output', hf: 'lm_head', shape: [vocabSize, hiddenSize] }
  const layerRows = Array.from({ length: layers }, (_, index) =>
    layer.map((row) => ({ ...row, gguf: `blk.${index}.${row.gguf}`, hf: `model.layers.${index}.${row.hf}` })),
  )
  return [
    ...plansOf({ gguf: 'token_embd', hf: 'model.embed_tokens', shape: [vocabSize, hiddenSize] }),
    ...ropeTensors(rope, rotatedSize),
    ...layerRows.flat().flatMap(plansOf),
    ...(hasTiedEmbeddings ? [norm] : [norm, head]).flatMap(plansOf),
  ]
}

function plansOf({
  gguf: ggufName,
  hf,
  shape,
  hasBias,
  change = { kind: 'copy' },
  experts,
  isF32,
}: LayerTensor): TensorPlan[] {
  if (experts !== undefined) {
    const names = Array.from(
      { length: experts.count },
      (_, expert) => `${hf.replace('{}', String(expert))}.weight`,
    )
    const { name, part, parts } = experts.fused
    const fused = { name: hf.replace(/\{\}.*$/, name), part, parts }
    return [
      {
        name: `${ggufName}.weight`,
        shape: [experts.count, ...shape],
        origin: { kind: 'stacked', names, fused },
      },
    ]
  }
  const plan = (part: 'weight' | 'bias', partShape: readonly number[]): TensorPlan => ({
    name: `${ggufName}.${part}`,
    shape: partShape,
    origin: { ...change, name: `${hf}.${part}` },
    ...(isF32 === true && { isF32 }),
  })
  const weight = plan('weight', shape)
  return hasBias === true ? [weight, plan('bias', shape.slice(0, 1))] : [weight]
}

interface AttentionOptions {
  /** Whether Q, K and V have biases. */
  readonly hasBias?: boolean
  readonly hasOutputBias?: boolean
  /** Whether the rows of Q and K are interleaved. */
  readonly interleavesHeads?: boolean
}

/** Q, K, V and the output projection, as most checkpoints name them. */
export function attentionTensors(decoder: DecoderConfig, options: AttentionOptions = {}): LayerTensor[] {
  const { hiddenSize, heads, kvHeads, headSize } = decoder
  const { hasBias = false, hasOutputBias = false, interleavesHeads = false } = options
  const change = interleavesHeads ? ({ kind: 'interleave-heads', headRows: headSize } as const) : undefined
  const queryRows = heads * headSize
  const keyRows = kvHeads * headSize
  return [
    { gguf: 'attn_q', hf: 'self_attn.q_proj', shape: [queryRows, hiddenSize], hasBias, change },
    { gguf: 'attn_k', hf: 'self_attn.k_proj', shape: [keyRows, hiddenSize], hasBias, change },
    { gguf: 'attn_v', hf: 'self_attn.v_proj', shape: [keyRows, hiddenSize], hasBias },
    { gguf: 'attn_output', hf: 'self_attn.o_proj', shape: [hiddenSize, queryRows], hasBias: hasOutputBias },
  ]
}

/** The gated feed-forward network. */
export function feedForwardTensors(decoder: DecoderConfig, hasBias = false): LayerTensor[] {
  const { hiddenSize, feedForwardSize } = decoder
  return [
    { gguf: 'ffn_gate', hf: 'mlp.gate_proj', shape: [feedForwardSize, hiddenSize], hasBias },
    { gguf: 'ffn_up', hf: 'mlp.up_proj', shape: [feedForwardSize, hiddenSize], hasBias },
    { gguf: 'ffn_down', hf: 'mlp.down_proj', shape: [hiddenSize, feedForwardSize], hasBias },
  ]
}

/** The norms before attention and before the feed-forward network. */
export function layerNorms({ hiddenSize }: DecoderConfig): LayerTensor[] {
  return [
    { gguf: 'attn_norm', hf: 'input_layernorm', shape: [hiddenSize] },
    { gguf: 'ffn_norm', hf: 'post_attention_layernorm', shape: [hiddenSize] },
  ]
}

/** Norms over each head of Q and K. */
export function headNorms({ headSize }: DecoderConfig): LayerTensor[] {
  return [
    { gguf: 'attn_q_norm', hf: 'self_attn.q_norm', shape: [headSize] },
    { gguf: 'attn_k_norm', hf: 'self_attn.k_norm', shape: [headSize] },
  ]
}
