/**
 * Embeddings of an upstream, and its ranking of texts: one request for all of them, and the vectors as an engine gives them. Called
 * by `remote-engine.ts`.
 */
import type { EmbeddingRequest, Prompt } from '../../protocol/engine.ts'
import type { AnswerEvent } from '../../protocol/engine-events.ts'
import { countOf, isObject, type Json, objects } from './answers/answer-chunk.ts'
import { startsOf } from './answers/answer-reader.ts'
import { readJson } from './answers/json-answer.ts'
import { estimateTokens } from './estimate-tokens.ts'
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
  request: EmbeddingRequest,
): Promise<readonly AnswerEvent[]> {
  const answer = await readJson(body)
  const count = request.prompts.length
  const vectors = Array.from({ length: count }, () => '')
  for (const [index, vector] of vectorsOf(answer)) vectors[index ?? count] = vector
  if (vectors.length !== count || vectors.includes(''))
    throw answerLost('does not have a vector for each text')
  const usage = isObject(answer['usage']) ? answer['usage'] : {}
  const told = countOf(usage['prompt_tokens']) ?? countOf(usage['total_tokens'])
  const starts = told === null ? estimatedStarts(request) : toldStarts(told, count)
  const ends = vectors.map((vector, index) => ({
    ...{ type: 'sequence-end' as const, index, finishReason: 'stop' as const, error: null, vector },
  }))
  return [...starts, ...ends]
}

/** The starts of a request whose tokens its upstream has not told. A ranking reads its query with each of the texts. */
export function estimatedStarts({ prompts, query }: EmbeddingRequest): readonly AnswerEvent[] {
  const ofQuery = query === undefined ? 0 : estimateTokens({ pieces: [query], addSpecial: false })
  return prompts.flatMap((prompt, firstIndex) =>
    startsOf({ choices: 1, firstIndex, estimatedPromptTokens: ofQuery + estimateTokens(prompt) }),
  )
}

/** An upstream tells the sum of all texts: the first has it. */
function toldStarts(tokens: number, count: number): readonly AnswerEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const promptTokens = index === 0 ? tokens : 0
    return { type: 'sequence-start', index, promptTokens, cachedTokens: 0, queueMs: 0 }
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
