/**
 * BERT and RoBERTa as transformers stores them: encoders with learned positions, whose norms come behind attention and
 * feed-forward. llama.cpp adds the embedding of the first segment to every token, as transformers does for a single text; a
 * reranking BERT, which was trained to see a second one, gets a second set of word embeddings that holds the difference.
 */
import type { Pooling } from '../../protocol/model-info.ts'
import { quoted, shown, unconvertible } from '../files/file-errors.ts'
import { poolingTypeId, SECOND_SEGMENT_KEY } from '../gguf/embedding-model.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { type JsonObject, objectField, positiveNumberField, wholeNumberField } from '../files/json-file.ts'
import type { ArchitecturePlan, MetadataEntry, TensorPlan } from './architecture-plan.ts'

const GGUF_NAME = 'bert'
const MAX_SIZE = 2 ** 24
/** llama.cpp's LLAMA_MAX_LAYERS. */
const MAX_LAYERS = 512
const LAYER_NORM_EPSILON = 1e-12
const WORD_EMBEDDINGS = 'token_embd.weight'
const HF_WORD_EMBEDDINGS = 'embeddings.word_embeddings.weight'

type BertSizes = ReturnType<typeof readSizes>

/** Pools the mean of all tokens where the checkpoint says nothing else, as sentence-transformers does. */
export function planBert(config: JsonObject): ArchitecturePlan {
  return planEmbedder(config, readSizes(config))
}

/** The same, with positions that are counted from behind that of padding. */
export function planRoberta(config: JsonObject): ArchitecturePlan {
  return planEmbedder(config, readRobertaSizes(config))
}

/** A reranking model, which gives one score to a query and a document that it reads together. */
export function planBertReranker(config: JsonObject): ArchitecturePlan {
  const sizes = readSizes(config)
  const labels = countLabels(config)
  const { vocabSize, hiddenSize, segments } = sizes
  const hasSecond = segments > 1
  const tokens = vocabSize * (hasSecond ? 2 : 1)
  const prefix = 'bert.'
  const words: TensorPlan = {
    name: WORD_EMBEDDINGS,
    shape: [tokens, hiddenSize],
    origin: {
      kind: 'both-segments',
      name: `${prefix}${HF_WORD_EMBEDDINGS}`,
      types: `${prefix}embeddings.token_type_embeddings.weight`,
    },
  }
  const tensors = encoderTensors(sizes, prefix)
  const plan = planEncoder(config, { ...sizes, vocabSize: tokens }, 'rank')
  return {
    ...plan,
    metadata: [
      ...plan.metadata,
      ...(hasSecond ? [[SECOND_SEGMENT_KEY, gguf.uint32(vocabSize)] as const] : []),
    ],
    isReranker: true,
    tensors: [
      ...(hasSecond ? tensors.map((tensor) => (tensor.name === WORD_EMBEDDINGS ? words : tensor)) : tensors),
      ...linear('cls', 'bert.pooler.dense', [hiddenSize, hiddenSize]),
      ...linear('cls.output', 'classifier', [labels, hiddenSize]),
    ],
    isRedundant: (name) => name === 'bert.embeddings.position_ids',
  }
}

/** RoBERTa gives all tokens the first segment, also to those of a second text. */
export function planRobertaReranker(config: JsonObject): ArchitecturePlan {
  const sizes = readRobertaSizes(config)
  const labels = countLabels(config)
  const { hiddenSize } = sizes
  return {
    ...planEncoder(config, sizes, 'rank'),
    isReranker: true,
    tensors: [
      ...encoderTensors(sizes, 'roberta.'),
      ...linear('cls', 'classifier.dense', [hiddenSize, hiddenSize]),
      ...linear('cls.output', 'classifier.out_proj', [labels, hiddenSize]),
    ],
    isRedundant: (name) => name === 'roberta.embeddings.position_ids',
  }
}

function planEmbedder(config: JsonObject, sizes: BertSizes): ArchitecturePlan {
  return {
    ...planEncoder(config, sizes, 'mean'),
    tensors: encoderTensors(sizes, ''),
    // transformers' pooler stands behind the first token and is trained for another task.
    isRedundant: (name) => name === 'embeddings.position_ids' || name.startsWith('pooler.'),
  }
}

/** As transformers counts them. @throws StartError where there is more than one */
function countLabels(config: JsonObject): number {
  const named = objectField(config, 'id2label')
  const labels =
    named === null
      ? wholeNumberField(config, 'num_labels', { min: 1, max: MAX_SIZE, default: 2 })
      : Object.keys(named.fields).length
  if (labels !== 1) throw unconvertible(config, `it sorts texts into ${labels} classes, and gives no score`)
  return labels
}

function planEncoder(config: JsonObject, sizes: BertSizes, pooling: Pooling) {
  checkSupported(config)
  const metadata = [
    ...bertMetadata(config, sizes),
    [`${GGUF_NAME}.pooling_type`, gguf.uint32(poolingTypeId(pooling))] as const,
  ]
  return { ggufName: GGUF_NAME, isEncoder: true, vocabSize: sizes.vocabSize, metadata }
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
    /** Rows of the position embeddings that no token of a text has. */
    skippedPositions: 0,
  }
}

function readRobertaSizes(config: JsonObject): BertSizes {
  const sizes = readSizes(config)
  const most = { min: 0, max: sizes.contextLength - 2 }
  const skippedPositions = 1 + wholeNumberField(config, 'pad_token_id', { ...most, default: 1 })
  return { ...sizes, skippedPositions, contextLength: sizes.contextLength - skippedPositions }
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
  { vocabSize, contextLength, segments, hiddenSize, skippedPositions }: BertSizes,
  prefix: string,
): TensorPlan[] {
  return [
    tensor(WORD_EMBEDDINGS, `${prefix}${HF_WORD_EMBEDDINGS}`, [vocabSize, hiddenSize]),
    {
      name: 'position_embd.weight',
      shape: [contextLength, hiddenSize],
      origin: {
        kind: 'skip-rows',
        name: `${prefix}embeddings.position_embeddings.weight`,
        rows: skippedPositions,
      },
      isF32: true,
    },
    {
      ...tensor('token_types.weight', `${prefix}embeddings.token_type_embeddings.weight`, [
        segments,
        hiddenSize,
      ]),
      isF32: true,
    },
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
