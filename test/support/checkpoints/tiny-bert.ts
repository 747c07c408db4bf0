/**
 * A BERT of a few thousand random numbers in the Hugging Face layout, and a forward pass of it written without any code of the
 * program, so that an error there cannot hide here.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashedTensor } from './hashed-weights.ts'
import { safetensors, type Shapes } from './tiny-checkpoint.ts'

const HIDDEN = 32
const HEADS = 4
const FEED_FORWARD = 64
const LAYERS = 2
export const CONTEXT = 64
const EPSILON = 1e-12
const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
const WORDS = ['the', 'quick', 'brown', 'fox', 'un', '##believ', '##able', '.', ',', 'ज', '##ि', '漢']
const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz0123456789', (letter) => [letter, `##${letter}`]).flat()
export const VOCABULARY = [...SPECIAL, ...WORDS, ...LETTERS]

const CONFIG = {
  architectures: ['BertModel'],
  model_type: 'bert',
  hidden_act: 'gelu',
  hidden_size: HIDDEN,
  intermediate_size: FEED_FORWARD,
  num_hidden_layers: LAYERS,
  num_attention_heads: HEADS,
  max_position_embeddings: CONTEXT,
  type_vocab_size: 2,
  vocab_size: VOCABULARY.length,
  layer_norm_eps: EPSILON,
}

export const TOKENIZER = {
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: { type: 'BertProcessing', sep: ['[SEP]', 3], cls: ['[CLS]', 2] },
  added_tokens: SPECIAL.map((content, id) => ({ id, content, special: true })),
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    vocab: Object.fromEntries(VOCABULARY.map((text, id) => [text, id])),
  },
}

function linear(name: string, [rows, columns]: readonly [number, number]): Shapes {
  return { [`${name}.weight`]: [rows, columns], [`${name}.bias`]: [rows] }
}

function norm(name: string): Shapes {
  return { [`${name}.weight`]: [HIDDEN], [`${name}.bias`]: [HIDDEN] }
}

const SHAPES: Shapes = {
  'embeddings.word_embeddings.weight': [VOCABULARY.length, HIDDEN],
  'embeddings.position_embeddings.weight': [CONTEXT, HIDDEN],
  'embeddings.token_type_embeddings.weight': [2, HIDDEN],
  ...norm('embeddings.LayerNorm'),
  ...linear('pooler.dense', [HIDDEN, HIDDEN]),
  ...Object.assign(
    {},
    ...Array.from({ length: LAYERS }, (_, layer) => layerShapes(`encoder.layer.${layer}`)),
  ),
}

/** The same as a reranking model: all tensors behind a prefix, and a score of the first token. */
const RERANKER_SHAPES: Shapes = {
  ...Object.fromEntries(Object.entries(SHAPES).map(([name, shape]) => [`bert.${name}`, shape])),
  'bert.embeddings.token_type_embeddings.weight': [1, HIDDEN],
  ...linear('classifier', [1, HIDDEN]),
}
const RERANKER_CONFIG = {
  architectures: ['BertForSequenceClassification'],
  type_vocab_size: 1,
  id2label: { 0: 'LABEL_0' },
}

function layerShapes(at: string): Shapes {
  return {
    ...linear(`${at}.attention.self.query`, [HIDDEN, HIDDEN]),
    ...linear(`${at}.attention.self.key`, [HIDDEN, HIDDEN]),
    ...linear(`${at}.attention.self.value`, [HIDDEN, HIDDEN]),
    ...linear(`${at}.attention.output.dense`, [HIDDEN, HIDDEN]),
    ...norm(`${at}.attention.output.LayerNorm`),
    ...linear(`${at}.intermediate.dense`, [FEED_FORWARD, HIDDEN]),
    ...linear(`${at}.output.dense`, [HIDDEN, FEED_FORWARD]),
    ...norm(`${at}.output.LayerNorm`),
  }
}

const valuesByName = new Map<string, Float32Array>()

/** Of a name once: a forward pass asks for each row. */
function valuesOf(name: string): Float32Array {
  const known = valuesByName.get(name) ?? makeValues(name)
  valuesByName.set(name, known)
  return known
}

function makeValues(name: string): Float32Array {
  const values = hashedTensor(name, SHAPES[name] ?? RERANKER_SHAPES[name] ?? [], 1)
  if (name.endsWith('LayerNorm.weight')) return values.map((value) => 1 + value / 2)
  return values.map((value) => value * 2)
}

export interface TinyBertOptions {
  readonly name?: string
  readonly config?: object
  readonly tokenizer?: object
  /** Content of `1_Pooling/config.json`; null writes none. @default mean */
  readonly pooling?: object | null
  /** @default false */
  readonly isReranker?: boolean
}

function storedValues(name: string, shape: readonly number[]): Float32Array {
  const count = shape.reduce((product, size) => product * size, 1)
  return valuesOf(name.replace(/^bert\./, ''))
    .subarray(0, count)
    .slice()
}

/** Resolves with its folder. */
export async function writeTinyBert(folder: string, options: TinyBertOptions = {}): Promise<string> {
  const { name = 'bert', config, tokenizer, pooling = { pooling_mode_mean_tokens: true } } = options
  const { isReranker = false } = options
  const path = join(folder, name)
  await mkdir(join(path, '1_Pooling'), { recursive: true })
  await writeFile(
    join(path, 'config.json'),
    JSON.stringify({ ...CONFIG, ...(isReranker && RERANKER_CONFIG), ...config }),
  )
  await writeFile(join(path, 'tokenizer.json'), JSON.stringify({ ...TOKENIZER, ...tokenizer }))
  await writeFile(
    join(path, 'model.safetensors'),
    safetensors(isReranker ? RERANKER_SHAPES : SHAPES, 'F32', storedValues),
  )
  if (pooling !== null) await writeFile(join(path, '1_Pooling', 'config.json'), JSON.stringify(pooling))
  return path
}

type Vector = readonly number[]

/** The vector of a text's tokens, [CLS] and [SEP] among them; of length 1. */
export function embedReference(
  tokenIds: readonly number[],
  pooling: 'mean' | 'cls' | 'last' = 'mean',
): Vector {
  const states = runLayers(tokenIds)
  const all = { mean: sum(...states), cls: states[0] ?? [], last: states.at(-1) ?? [] }[pooling]
  const length = Math.hypot(...all)
  return all.map((value) => value / length)
}

/** The score of a query and a document as one text, between 0 and 1. */
export function rankReference(tokenIds: readonly number[]): number {
  const pooled = apply(runLayers(tokenIds)[0] ?? [], 'pooler.dense').map(Math.tanh)
  const [score = 0] = apply(pooled, 'classifier')
  return 1 / (1 + Math.exp(-score))
}

function runLayers(tokenIds: readonly number[]): Vector[] {
  const row = (name: string, index: number): Vector =>
    Array.from(valuesOf(name).subarray(index * HIDDEN, (index + 1) * HIDDEN))
  let states = tokenIds.map((tokenId, position) =>
    layerNorm(
      sum(
        row('embeddings.word_embeddings.weight', tokenId),
        row('embeddings.position_embeddings.weight', position),
        row('embeddings.token_type_embeddings.weight', 0),
      ),
      'embeddings.LayerNorm',
    ),
  )
  for (let layer = 0; layer < LAYERS; layer++) states = runLayer(states, `encoder.layer.${layer}`)
  return states
}

function runLayer(states: readonly Vector[], at: string): Vector[] {
  const [queries, keys, values] = ['query', 'key', 'value'].map((part) =>
    states.map((state) => apply(state, `${at}.attention.self.${part}`)),
  ) as [Vector[], Vector[], Vector[]]
  const size = HIDDEN / HEADS
  const attended = queries.map((query) =>
    Array.from({ length: HEADS }, (_, head) => {
      const part = (vector: Vector) => vector.slice(head * size, (head + 1) * size)
      const scores = keys.map((key) => Math.exp(dot(part(query), part(key)) / Math.sqrt(size)))
      const total = scores.reduce((all, score) => all + score, 0)
      return sum(...values.map((value, i) => part(value).map((x) => (x * (scores[i] ?? 0)) / total)))
    }).flat(),
  )
  return states.map((state, index) => {
    const mixed = apply(attended[index] ?? [], `${at}.attention.output.dense`)
    const afterAttention = layerNorm(sum(state, mixed), `${at}.attention.output.LayerNorm`)
    const wide = apply(afterAttention, `${at}.intermediate.dense`).map(gelu)
    return layerNorm(sum(afterAttention, apply(wide, `${at}.output.dense`)), `${at}.output.LayerNorm`)
  })
}

function apply(vector: Vector, name: string): Vector {
  const weight = valuesOf(`${name}.weight`)
  return Array.from(valuesOf(`${name}.bias`), (bias, row) =>
    vector.reduce((all, value, column) => all + value * (weight[row * vector.length + column] ?? 0), bias),
  )
}

function layerNorm(vector: Vector, name: string): Vector {
  const mean = vector.reduce((all, value) => all + value, 0) / vector.length
  const variance = vector.reduce((all, value) => all + (value - mean) ** 2, 0) / vector.length
  const weight = valuesOf(`${name}.weight`)
  const bias = valuesOf(`${name}.bias`)
  const scale = 1 / Math.sqrt(variance + EPSILON)
  return vector.map((value, i) => (value - mean) * scale * (weight[i] ?? 0) + (bias[i] ?? 0))
}

/** With the error function (Abramowitz and Stegun 7.1.26, to 1e-7). */
function gelu(x: number): number {
  const z = Math.abs(x) / Math.SQRT2
  const t = 1 / (1 + 0.3275911 * z)
  const series = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592]
  const polynomial = series.reduce((all, factor) => all * t + factor, 0) * t
  const erf = Math.sign(x) * (1 - polynomial * Math.exp(-z * z))
  return (x / 2) * (1 + erf)
}

function sum(...vectors: readonly Vector[]): Vector {
  return Array.from({ length: vectors[0]?.length ?? 0 }, (_, i) =>
    vectors.reduce((all, vector) => all + (vector[i] ?? 0), 0),
  )
}

export function dot(one: ArrayLike<number>, other: ArrayLike<number>): number {
  return Array.from(one).reduce((all, value, i) => all + value * (other[i] ?? 0), 0)
}
