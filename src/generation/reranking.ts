/**
 * One reranking request: how relevant each document is to a query, by a model that reads both together, or by the cosine of
 * their vectors. Runs as an embedding request does, and is billed as one.
 */
import { ServiceError } from '../core/errors.ts'
import type { Prompt, RankedPair } from '../protocol/engine.ts'
import {
  decodeVector,
  embed,
  type EmbeddingContext,
  type EmbeddingDeps,
  type EmbeddingInput,
  type EmbeddingModel,
} from './embedding.ts'

export interface RerankRequest {
  /** Null is the default model. */
  readonly modelId: string | null
  readonly query: string
  readonly documents: readonly string[]
}

export interface Reranked {
  readonly modelId: string
  /** In the order of the documents: 0 to 1 of a reranking model, -1 to 1 of an embedding model. */
  readonly scores: readonly number[]
  readonly promptTokens: number
}

/** @throws as `embed` does */
export async function rerank(
  deps: EmbeddingDeps,
  context: EmbeddingContext,
  request: RerankRequest,
): Promise<Reranked> {
  let isRanked = false
  const prepare = (model: EmbeddingModel): readonly EmbeddingInput[] => {
    const pair = pairOf(model)
    isRanked = pair !== null
    return pair === null ? separateInputs(request) : pairInputs(request, pair)
  }
  const { modelId, vectors, promptTokens } = await embed(deps, context, { modelId: request.modelId, prepare })
  const numbers = vectors.map(decodeVector)
  const [query = new Float32Array(), ...documents] = numbers
  const scores = isRanked
    ? numbers.map(([logit = 0]) => 1 / (1 + Math.exp(-logit)))
    : documents.map((document) => dot(query, document))
  return { modelId, scores, promptTokens }
}

/** Null for a model that makes vectors. @throws ServiceError `unsupported_value` for one that generates text */
function pairOf({ modelId, info }: EmbeddingModel): RankedPair | null {
  if (info.embedding !== undefined) return info.embedding.pair ?? null
  const what = info.takesChats === true ? 'is served by an upstream' : 'generates text'
  const message = `model must be a reranking or an embedding model, but '${modelId}' ${what}.`
  throw new ServiceError('unsupported_value', { message }, { param: 'model' })
}

function separateInputs({ query, documents }: RerankRequest): readonly EmbeddingInput[] {
  const toPrompt = (text: string): Prompt => ({ pieces: [text], addSpecial: true })
  return [
    { name: 'query', prompt: toPrompt(query) },
    ...documents.map((document, index) => ({ name: `documents[${index}]`, prompt: toPrompt(document) })),
  ]
}

/** Each text is a piece of its own, so that it forms no special token with what stands around it. */
function pairInputs(
  { query, documents }: RerankRequest,
  { before, between, after, addSpecial }: RankedPair,
): readonly EmbeddingInput[] {
  return documents.map((document, index) => ({
    name: `documents[${index}]`,
    prompt: { pieces: [before, query, between, document, after].filter((text) => text !== ''), addSpecial },
  }))
}

/** The cosine of vectors of length 1. */
function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0)
}
