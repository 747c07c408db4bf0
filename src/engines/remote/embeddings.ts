/** Embeddings of an upstream: one request for all texts, and the vectors as an engine gives them. Called by `remote-engine.ts`. */
import type { AnswerEvent, EmbeddingRequest, Prompt } from '../../protocol/engine.ts'
import { countOf, isObject, type Json, objects } from './answer-chunk.ts'
import type { UpstreamRequest } from './request-body.ts'
import { answerLost } from './upstream-errors.ts'

/** Of an answer's JSON: 2048 texts of 4096 numbers, written out. */
const MAX_BYTES = 256 * 1024 * 1024

export function toEmbeddingRequest(
  model: string,
  { prompts, dimensions }: EmbeddingRequest,
): UpstreamRequest {
  const body = {
    ...{ model, input: prompts.map(inputOf), encoding_format: 'float' },
    ...(dimensions !== undefined && { dimensions }),
  }
  // There is no conversation whose cache could be found.
  return { path: '/embeddings', body, key: null }
}

/** @throws ServiceError `engine_failed` unless there is a vector for each text */
export async function readVectors(
  body: AsyncIterable<Uint8Array>,
  count: number,
): Promise<readonly AnswerEvent[]> {
  const answer = await readJson(body)
  const vectors = Array.from({ length: count }, () => '')
  for (const { index, embedding } of objects(answer['data']))
    vectors[countOf(index) ?? count] = toVector(embedding)
  if (vectors.length !== count || vectors.includes(''))
    throw answerLost('does not have a vector for each text')
  const usage = isObject(answer['usage']) ? countOf(answer['usage']['prompt_tokens']) : null
  return vectors.flatMap((vector, index): AnswerEvent[] => {
    const promptTokens = index === 0 ? (usage ?? 0) : 0
    return [
      { type: 'sequence-start', index, promptTokens, cachedTokens: 0, queueMs: 0 },
      { type: 'sequence-end', index, finishReason: 'stop', error: null, vector },
    ]
  })
}

function inputOf(prompt: Prompt): string | readonly number[] {
  return 'pieces' in prompt ? prompt.pieces.join('') : [...prompt.tokenIds]
}

/** 32-bit floats in little-endian order as base64; empty where it is no vector. */
function toVector(embedding: unknown): string {
  if (typeof embedding === 'string') return embedding
  if (!Array.isArray(embedding) || !embedding.every((one) => typeof one === 'number')) return ''
  return Buffer.from(Float32Array.from(embedding).buffer).toString('base64')
}

async function readJson(body: AsyncIterable<Uint8Array>): Promise<Json> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    pieces.push(piece)
    length += piece.length
    if (length > MAX_BYTES) throw answerLost('is too long')
  }
  try {
    const answer: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'))
    if (isObject(answer)) return answer
  } catch (error) {
    throw answerLost('is no JSON', error)
  }
  throw answerLost('is no object')
}
