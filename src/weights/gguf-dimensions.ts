/**
 * The numbers of a model that say how much memory serving it takes, read from GGUF metadata. Estimates are the
 * engine's work; this only reads, and fills in the defaults that llama.cpp fills in.
 */
import { badFile } from './file-errors.ts'
import { type GgufModel, numberValue } from './gguf-file.ts'

export interface GgufDimensions {
  readonly layers: number
  readonly embeddingLength: number
  readonly headCount: number
  /** One per layer; 0 where a layer keeps no KV cache. */
  readonly kvHeadCounts: readonly number[]
  readonly keyLength: number
  readonly valueLength: number
  /** Tokens the model was trained for; null when the file does not say. */
  readonly contextLength: number | null
  readonly vocabSize: number
  readonly parameters: number
  /** KV cache elements one token of one sequence takes, over all layers; times 2 bytes with F16. */
  readonly kvElementsPerToken: number
  /** Of all files together: about what the weights take in memory. */
  readonly weightBytes: number
}

export function readGgufDimensions(model: GgufModel): GgufDimensions {
  const { metadata, architecture, path } = model
  const optional = (key: string) => numberValue(metadata, `${architecture}.${key}`)
  const required = (key: string) => {
    const value = optional(key)
    if (value === null || !(value > 0))
      throw badFile(path, `is damaged: it does not say ${architecture}.${key}`)
    return value
  }
  const layers = required('block_count')
  const embeddingLength = required('embedding_length')
  const headCounts = perLayer(model, 'attention.head_count', layers) ?? [1]
  const headCount = Math.max(1, ...headCounts)
  const kvHeadCounts =
    perLayer(model, 'attention.head_count_kv', layers) ?? Array<number>(layers).fill(headCount)
  const keyLength = optional('attention.key_length') ?? Math.floor(embeddingLength / headCount)
  const valueLength = optional('attention.value_length') ?? Math.floor(embeddingLength / headCount)
  const tokens = metadata.get('tokenizer.ggml.tokens')
  return {
    layers,
    embeddingLength,
    headCount,
    kvHeadCounts,
    keyLength,
    valueLength,
    contextLength: optional('context_length'),
    vocabSize: tokens?.type === 'array' ? tokens.items.length : 0,
    parameters: model.tensors.reduce(
      (sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1),
      0,
    ),
    kvElementsPerToken: kvHeadCounts.reduce((sum, heads) => sum + heads * (keyLength + valueLength), 0),
    weightBytes: model.tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  }
}

/** A number that may be given once for all layers or as a list with one per layer. */
function perLayer({ metadata, architecture, path }: GgufModel, key: string, layers: number): number[] | null {
  const value = metadata.get(`${architecture}.${key}`)
  if (value === undefined) return null
  if (layers > 100_000) throw badFile(path, `is damaged: it claims ${layers} layers`)
  if (value.type !== 'array')
    return Array<number>(layers).fill(numberValue(metadata, `${architecture}.${key}`) ?? 0)
  const items = Array.from(value.items, Number)
  if (items.length < layers)
    throw badFile(path, `is damaged: ${architecture}.${key} has fewer entries than layers`)
  return items.slice(0, layers)
}
