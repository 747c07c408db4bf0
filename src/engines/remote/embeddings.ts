/**
 * Embeddings of an upstream, and its ranking of texts: one request for all of them, and the vectors as an engine gives them. Called
 * by `remote-engine.ts`.
 */
import type { EmbeddingRequest, Prompt } from '../../protocol/engine.ts'
import type { AnswerEvent } from '../../protocol/engine-events.ts'
import { countOf, isObject, type Json, objects } from './answers/answer-chunk.ts'
import { readJson } from './answers/json-answer.ts'
import type { UpstreamRequest } from './request-body.ts'
import { answerLost } from './upstream-errors.ts'

export function toEmbeddingRequest(
  model: string,
  { prompts, dimensions, query, traceparent }: EmbeddingRequest,
): UpstreamRequest {
  // There is no conversation whose cache could be found.
  const common = { key: null, ...(traceparent !== undefined && { traceparent }) }
  if (query !== undefined)
    return { path: '/v1/rerank', body: { model, query, documents: prompts.map(inputOf) }, ...common }
  const body = {
    ...{ model, input: prompts.map(inputOf), encoding_format: 'float' },
    ...(dimensions !== undefined && { dimensions }),
  }
  return { path: '/v1/embeddings', body, ...common }
}

/** @throws ServiceError `engine_failed` unless there is a vector for each text */
export async function readVectors(
  body: AsyncIterable<Uint8Array>,
  count: number,
): Promise<readonly AnswerEvent[]> {
  const answer = await readJson(body)
  const vectors = Array.from({ length: count }, () => '')
  for (const [index, vector] of vectorsOf(answer)) vectors[index ?? count] = vector
  if (vectors.length !== count || vectors.includes(''))
    throw answerLost('does not have a vector for each text')
  const usage = isObject(answer['usage']) ? answer['usage'] : {}
  const tokens = countOf(usage['prompt_tokens']) ?? countOf(usage['total_tokens']) ?? 0
  return vectors.flatMap((vector, index): AnswerEvent[] => {
    const promptTokens = index === 0 ? tokens : 0
    return [
      { type: 'sequence-start', index, promptTokens, cachedTokens: 0, queueMs: 0 },
      { type: 'sequence-end', index, finishReason: 'stop', error: null, vector },
    ]
  })
}

/** By its text's place: vectors, or the relevance of each text as a vector of one number. */
function vectorsOf(answer: Json): readonly (readonly [index: number | null, vector: string])[] {
  const vectors = objects(answer['data']).map(
    ({ index, embedding }) => [countOf(index), toVector(embedding)] as const,
  )
  const scores = objects(answer['results']).map(
    ({ index, relevance_score: score }) => [countOf(index), toVector([score])] as const,
  )
  return [...vectors, ...scores]
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
