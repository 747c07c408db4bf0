/**
 * From a decoder's config and the rows of its tensor table to the whole plan of its conversion. The tables are the
 * architectures'; this knows only what all of them share.
 */
import type { ArchitecturePlan, MetadataEntry, TensorOrigin, TensorPlan } from './architecture-plan.ts'
import type { DecoderConfig } from './decoder-config.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { ropeMetadata, ropeTensors } from './rope-scaling.ts'

/** A tensor that every layer has, named without its layer and without `.weight`. */
export interface LayerTensor {
  readonly gguf: string
  readonly hf: string
  /** Rows and columns; one number for a vector. */
  readonly shape: readonly number[]
  /** Whether a bias of as many numbers as there are rows comes with it. */
  readonly hasBias?: boolean
  readonly change?: 'interleave-heads' | 'add-one'
}

export interface DecoderPlanOptions {
  readonly ggufName: string
  readonly decoder: DecoderConfig
  readonly layer: readonly LayerTensor[]
  /** Without the architecture's prefix. */
  readonly metadata?: readonly MetadataEntry[]
  /** What is done to the norm behind the last layer. */
  readonly outputNormChange?: 'add-one'
}

export function planDecoder(options: DecoderPlanOptions): ArchitecturePlan {
  const { ggufName, decoder, metadata = [] } = options
  const prefixed = (entries: readonly MetadataEntry[]) =>
    entries.map(([key, value]): MetadataEntry => [`${ggufName}.${key}`, value])
  return {
    ggufName,
    vocabSize: decoder.vocabSize,
    metadata: prefixed([...decoderMetadata(decoder), ...ropeMetadata(decoder.rope), ...metadata]),
    tensors: decoderTensors(options),
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

function decoderTensors({ decoder, layer, outputNormChange }: DecoderPlanOptions): TensorPlan[] {
  const { hiddenSize, vocabSize, rope, rotatedSize, layers, hasTiedEmbeddings } = decoder
  const embeddings: LayerTensor = {
    gguf: 'token_embd',
    hf: 'model.embed_tokens',
    shape: [vocabSize, hiddenSize],
  }
  const norm: LayerTensor = {
    gguf: 'output_norm',
    hf: 'model.norm',
    shape: [hiddenSize],
    ...(outputNormChange === undefined ? {} : { change: outputNormChange }),
  }
  // Without output.weight llama.cpp multiplies by the embeddings, which is what tied means.
  const head: LayerTensor = { gguf: 'output', hf: 'lm_head', shape: [vocabSize, hiddenSize] }
  const layerRows = Array.from({ length: layers }, (_, index) =>
    layer.map((row) => ({ ...row, gguf: `blk.${index}.${row.gguf}`, hf: `model.layers.${index}.${row.hf}` })),
  )
  const toPlans = (rows: readonly LayerTensor[]) => rows.flatMap((row) => plansOf(row, decoder.headSize))
  return [
    ...toPlans([embeddings]),
    ...ropeTensors(rope, rotatedSize),
    ...toPlans(layerRows.flat()),
    ...toPlans(hasTiedEmbeddings ? [norm] : [norm, head]),
  ]
}

function plansOf(row: LayerTensor, headSize: number): TensorPlan[] {
  const plan = (part: 'weight' | 'bias', shape: readonly number[]): TensorPlan => ({
    name: `${row.gguf}.${part}`,
    shape,
    origin: originOf(`${row.hf}.${part}`, row.change, headSize),
  })
  const weight = plan('weight', row.shape)
  return row.hasBias === true ? [weight, plan('bias', row.shape.slice(0, 1))] : [weight]
}

function originOf(name: string, change: LayerTensor['change'], headSize: number): TensorOrigin {
  switch (change) {
    case undefined:
      return { kind: 'copy', name }
    case 'interleave-heads':
      return { kind: 'interleave-heads', name, headRows: headSize }
    case 'add-one':
      return { kind: 'add-one', name }
  }
}

interface AttentionOptions {
  /** Whether Q, K and V have biases. */
  readonly hasBias?: boolean
  readonly hasOutputBias?: boolean
  /** What is done to Q and K. */
  readonly change?: 'interleave-heads'
}

/** Q, K, V and what follows them, as most checkpoints name them. */
export function attentionTensors(decoder: DecoderConfig, options: AttentionOptions = {}): LayerTensor[] {
  const { hiddenSize, heads, kvHeads, headSize } = decoder
  const { hasBias = false, hasOutputBias = false, change } = options
  const rotated = { hasBias, ...(change === undefined ? {} : { change }) }
  const queryRows = heads * headSize
  const keyRows = kvHeads * headSize
  return [
    { gguf: 'attn_q', hf: 'self_attn.q_proj', shape: [queryRows, hiddenSize], ...rotated },
    { gguf: 'attn_k', hf: 'self_attn.k_proj', shape: [keyRows, hiddenSize], ...rotated },
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
