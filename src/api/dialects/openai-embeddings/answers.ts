/**
 * Vectors as `/v1/embeddings` answers them. The JSON of many vectors is megabytes of numbers: it is written a few at a time,
 * and the event loop goes on in between.
 */
import { ownTurn } from '../../../core/concurrency/turns.ts'
import { ServiceError } from '../../../core/errors.ts'
import { decodeVector, type Embedded, type EmbeddingModel } from '../../../generation/embedding.ts'
import type { EmbeddingsRequest } from './schema.ts'

/** Numbers written in one turn of the event loop: a few milliseconds. */
const NUMBERS_PER_TURN = 16_384

type AnswerOptions = Pick<EmbeddingsRequest, 'encoding' | 'dimensions'>

/** @throws ServiceError `unsupported_value` for a length to which the model's vectors cannot be cut */
export function checkDimensions(
  dimensions: number | null,
  { modelId, info: { embedding } }: EmbeddingModel,
): void {
  if (dimensions === null || embedding === undefined || dimensions === embedding.dimensions) return
  const { shorterDimensions: shorter, dimensions: whole } = embedding
  const isKnown = shorter === 'any' ? dimensions < whole : shorter.includes(dimensions)
  if (isKnown) return
  const rule = shorter === 'any' ? `at most ${whole}` : [...shorter, whole].join(' or ')
  const why =
    shorter.length === 0 ? `the vectors of model '${modelId}' cannot be cut` : `those of model '${modelId}'`
  throw new ServiceError(
    'unsupported_value',
    { message: `dimensions must be ${rule}, but was ${dimensions}: ${why}.` },
    { param: 'dimensions' },
  )
}

/** The JSON of an `EmbeddingsResponse`. */
export async function toEmbeddingsJson(
  { modelId, vectors, promptTokens }: Embedded,
  options: AnswerOptions,
): Promise<string> {
  const items: string[] = []
  let left = NUMBERS_PER_TURN
  for (const [index, vector] of vectors.entries()) {
    items.push(`{"object":"embedding","index":${index},"embedding":${toJson(vector, options)}}`)
    left -= vector.length / 5
    if (left > 0) continue
    await ownTurn()
    left = NUMBERS_PER_TURN
  }
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens }
  const tail = `"model":${JSON.stringify(modelId)},"usage":${JSON.stringify(usage)}`
  return `{"object":"list","data":[${items.join(',')}],${tail}}`
}

function toJson(vector: string, { encoding, dimensions }: AnswerOptions): string {
  if (encoding === 'base64' && dimensions === null) return `"${vector}"`
  const whole = decodeVector(vector)
  const floats = dimensions === null ? whole : normalized(whole.subarray(0, dimensions))
  if (encoding === 'float') return `[${floats.join(',')}]`
  return `"${Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength).toString('base64')}"`
}

function normalized(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}
