/** Whether a model makes vectors of texts, known from its GGUF header: an encoder, or a decoder whose header names a pooling. */
import type { EmbeddingInfo, Pooling } from '../../protocol/model-info.ts'
import { EMBEDDING_ARCHITECTURES } from './gguf-architectures.ts'
import { numberValue } from './gguf-file.ts'
import type { GgufMetadata } from './gguf-format.ts'

/** By llama.cpp's number, `LLAMA_POOLING_TYPE_...`; 0 is none. */
const POOLINGS: readonly (Pooling | null)[] = [null, 'mean', 'cls', 'last', 'rank']

export function poolingTypeId(pooling: Pooling): number {
  return POOLINGS.indexOf(pooling)
}

/** Of this program's own conversions: `any`, or numbers separated by commas. */
export const SHORTER_DIMENSIONS_KEY = 'sluice.embedding.shorter_dimensions'

/** Of this program's own conversions: what is added to the id of a token of the second of two texts that are read together. */
export const SECOND_SEGMENT_KEY = 'sluice.embedding.second_segment'

interface Header {
  readonly architecture: string
  readonly metadata: GgufMetadata
}

/** Null for a model that generates text. */
export function embeddingInfo({ architecture, metadata }: Header): EmbeddingInfo | null {
  const named = POOLINGS[numberValue(metadata, `${architecture}.pooling_type`) ?? 0] ?? null
  // sentence-transformers pools so where nothing else is said.
  const pooling = named ?? (EMBEDDING_ARCHITECTURES.has(architecture) ? 'mean' : null)
  if (pooling === null) return null
  const read = (name: string) => numberValue(metadata, `${architecture}.${name}`)
  const dimensions = read('embedding_length_out') ?? read('embedding_length') ?? 0
  return {
    pooling,
    dimensions: pooling === 'rank' ? countLabels(metadata, architecture) : dimensions,
    shorterDimensions: shorterDimensions(metadata),
  }
}

function countLabels(metadata: GgufMetadata, architecture: string): number {
  const labels = metadata.get(`${architecture}.classifier.output_labels`)
  return labels?.type === 'array' ? labels.items.length : 1
}

function shorterDimensions(metadata: GgufMetadata): EmbeddingInfo['shorterDimensions'] {
  const given = metadata.get(SHORTER_DIMENSIONS_KEY)
  if (given?.type !== 'string') return []
  return given.value === 'any' ? 'any' : given.value.split(',').map(Number)
}
