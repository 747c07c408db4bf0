/**
 * BERT as transformers stores it: an encoder with learned positions, whose norms come behind attention and feed-forward. llama.cpp
 * adds the embedding of the first segment to every token, as transformers does for a single text, so the second one has no
 * use here.
 */
import type { Pooling } from '../../protocol/engine.ts'
import { quoted, shown, unconvertible } from '../file-errors.ts'
import { poolingTypeId } from '../gguf/embedding-model.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { type JsonObject, objectField, positiveNumberField, wholeNumberField } from '../json-file.ts'
import type { ArchitecturePlan, MetadataEntry, TensorPlan } from './architecture-plan.ts'

const GGUF_NAME = 'bert'
const MAX_SIZE = 2 ** 24
/** llama.cpp's LLAMA_MAX_LAYERS. */
const MAX_LAYERS = 512
const LAYER_NORM_EPSILON = 1e-12

type BertSizes = ReturnType<typeof readSizes>

/** Pools the mean of all tokens where the checkpoint says nothing else, as sentence-transformers does. */
export function planBert(config: JsonObject): ArchitecturePlan {
  const sizes = readSizes(config)
  return {
    ...planEncoder(config, sizes, 'mean'),
    tensors: encoderTensors(sizes, ''),
    // transformers' pooler stands behind the first token and is trained for another task.
    isRedundant: (name) => name === 'embeddings.position_ids' || name.startsWith('pooler.'),
  }
}

/**
 * A reranking model, which gives one score to a query and a document that it reads together.
 * @throws StartError where it knows which of the two a token belongs to: llama.cpp says of all that they belong to the first
 */
export function planBertReranker(config: JsonObject): ArchitecturePlan {
  const sizes = readSizes(config)
  const { segments, hiddenSize } = sizes
  if (segments > 1) {
    throw unconvertible(
      config,
      `"type_vocab_size" must be 1, but is ${segments}: llama.cpp tells no query from a document`,
    )
  }
  const labels = countLabels(config)
  if (labels !== 1) throw unconvertible(config, `it sorts texts into ${labels} classes, and gives no score`)
  return {
    ...planEncoder(config, sizes, 'rank'),
    isReranker: true,
    tensors: [
      ...encoderTensors(sizes, 'bert.'),
      ...linear('cls', 'bert.pooler.dense', [hiddenSize, hiddenSize]),
      ...linear('cls.output', 'classifier', [labels, hiddenSize]),
    ],
    isRedundant: (name) => name === 'bert.embeddings.position_ids',
  }
}

/** As transformers counts them. */
function countLabels(config: JsonObject): number {
  const named = objectField(config, 'id2label')
  return named === null
    ? wholeNumberField(config, 'num_labels', { min: 1, max: MAX_SIZE, default: 2 })
    : Object.keys(named.fields).length
}

function planEncoder(config: JsonObject, sizes: BertSizes, pooling: Pooling) {
  checkSupported(config)
  const metadata = [
    ...bertMetadata(config, sizes),
    [`${GGUF_NAME}.pooling_type`, gguf.uint32(poolingTypeId(pooling))] as const,
  ]
  return { ggufName: GGUF_NAME, vocabSize: sizes.vocabSize, metadata }
}

function encoderTensors(sizes: BertSizes, prefix: string): TensorPlan[] {
  return [
    ...embeddingTensors(sizes, prefix),
    ...Array.from({ length: sizes.layers }, (_, layer) => layerTensors(sizes, layer, prefix)).flat(),
  ]
}

function checkSupported(config: JsonObject): void {
  const { hidden_act: activation = 'gelu', position_embedding_type: positions = 'absolute' } = config.fields
  if (activation !== 'gelu') {
    throw unconvertible(config, `"hidden_act" must be "gelu", but is ${shown(activation)}`)
  }
  if (positions !== 'absolute') {
    throw unconvertible(config, `"position_embedding_type" must be "absolute", but is ${shown(positions)}`)
  }
}

function readSizes(config: JsonObject) {
  const size = (name: string) => wholeNumberField(config, name, { min: 1, max: MAX_SIZE })
  const heads = size('num_attention_heads')
  const hiddenSize = size('hidden_size')
  if (hiddenSize % heads !== 0) {
    throw unconvertible(
      config,
      `${heads} attention heads do not share ${quoted('hidden_size')} ${hiddenSize}`,
    )
  }
  return {
    vocabSize: size('vocab_size'),
    contextLength: size('max_position_embeddings'),
    segments: wholeNumberField(config, 'type_vocab_size', { min: 1, max: MAX_SIZE, default: 2 }),
    hiddenSize,
    feedForwardSize: size('intermediate_size'),
    layers: wholeNumberField(config, 'num_hidden_layers', { min: 1, max: MAX_LAYERS }),
    heads,
  }
}

function bertMetadata(config: JsonObject, sizes: BertSizes): MetadataEntry[] {
  const entries: MetadataEntry[] = [
    ['vocab_size', gguf.uint32(sizes.vocabSize)],
    ['context_length', gguf.uint32(sizes.contextLength)],
    ['embedding_length', gguf.uint32(sizes.hiddenSize)],
    ['feed_forward_length', gguf.uint32(sizes.feedForwardSize)],
    ['block_count', gguf.uint32(sizes.layers)],
    ['attention.head_count', gguf.uint32(sizes.heads)],
    [
      'attention.layer_norm_epsilon',
      gguf.float32(positiveNumberField(config, 'layer_norm_eps', LAYER_NORM_EPSILON)),
    ],
    ['attention.causal', gguf.bool(false)],
  ]
  return [
    ...entries.map(([key, value]) => [`${GGUF_NAME}.${key}`, value] as const),
    ['tokenizer.ggml.token_type_count', gguf.uint32(sizes.segments)],
  ]
}

function embeddingTensors(
  { vocabSize, contextLength, segments, hiddenSize }: BertSizes,
  prefix: string,
): TensorPlan[] {
  const weight = (name: string, hf: string, rows: number) =>
    tensor(`${name}.weight`, `${prefix}embeddings.${hf}.weight`, [rows, hiddenSize])
  return [
    weight('token_embd', 'word_embeddings', vocabSize),
    weight('position_embd', 'position_embeddings', contextLength),
    weight('token_types', 'token_type_embeddings', segments),
    ...norm('token_embd_norm', `${prefix}embeddings.LayerNorm`, hiddenSize),
  ]
}

function layerTensors(
  { hiddenSize, feedForwardSize }: BertSizes,
  layer: number,
  prefix: string,
): TensorPlan[] {
  const at = (name: string) => `blk.${layer}.${name}`
  const from = (name: string) => `${prefix}encoder.layer.${layer}.${name}`
  const square = [hiddenSize, hiddenSize]
  return [
    ...linear(at('attn_q'), from('attention.self.query'), square),
    ...linear(at('attn_k'), from('attention.self.key'), square),
    ...linear(at('attn_v'), from('attention.self.value'), square),
    ...linear(at('attn_output'), from('attention.output.dense'), square),
    ...norm(at('attn_output_norm'), from('attention.output.LayerNorm'), hiddenSize),
    ...linear(at('ffn_up'), from('intermediate.dense'), [feedForwardSize, hiddenSize]),
    ...linear(at('ffn_down'), from('output.dense'), [hiddenSize, feedForwardSize]),
    ...norm(at('layer_output_norm'), from('output.LayerNorm'), hiddenSize),
  ]
}

function linear(name: string, hf: string, shape: readonly number[]): TensorPlan[] {
  return [
    tensor(`${name}.weight`, `${hf}.weight`, shape),
    tensor(`${name}.bias`, `${hf}.bias`, shape.slice(0, 1)),
  ]
}

function norm(name: string, hf: string, size: number): TensorPlan[] {
  return linear(name, hf, [size])
}

function tensor(name: string, hf: string, shape: readonly number[]): TensorPlan {
  return { name, shape, origin: { kind: 'copy', name: hf } }
}
