/**
 * One reranking request: how relevant each document is to a query, by a model that reads both together, by the cosine of
 * their vectors, or as an upstream ranks them. Runs as an embedding request does, and is billed as one.
 */
import { SpecialTexts } from '../checkpoints/tokenizers/special-texts.ts'
import { ownTurn } from '../core/concurrency/turns.ts'
import { ServiceError } from '../core/errors.ts'
import type { RankedPair } from '../protocol/model-info.ts'
import {
  decodeVector,
  embed,
  type EmbeddingContext,
  type EmbeddingDeps,
  type EmbeddingInput,
  type EmbeddingModel,
} from './embedding.ts'
import { fillTemplate } from './rerank-template.ts'

export interface RerankRequest {
  /** Null is the default model. */
  readonly modelId: string | null
  readonly query: string
  readonly documents: readonly string[]
  /** To which they may be cut; null leaves them whole, as they are anyway. */
  readonly maxTokensPerDocument: number | null
}

export interface Reranked {
  readonly modelId: string
  /** In the order of the documents: 0 to 1 of a reranking model, -1 to 1 of an embedding model, the upstream's own of a remote one. */
  readonly scores: readonly number[]
  readonly promptTokens: number
}

/** @throws as `embed` does */
export async function rerank(
  deps: EmbeddingDeps,
  context: EmbeddingContext,
  request: RerankRequest,
): Promise<Reranked> {
  let ranking = byVectors(request)
  const prepare = async (model: EmbeddingModel): Promise<readonly EmbeddingInput[]> => {
    ranking = await chooseRanking(request, model)
    checkCut(request, model)
    return ranking.inputs
  }
  const { modelId: asked, query } = request
  const { modelId, vectors, promptTokens } = await embed(deps, context, { modelId: asked, query, prepare })
  return { modelId, scores: ranking.toScores(vectors.map(decodeVector)), promptTokens }
}

/** @throws ServiceError `unsupported_value` for a bound by which a document could be cut that the model has room for */
function checkCut({ maxTokensPerDocument }: RerankRequest, { modelId, info }: EmbeddingModel): void {
  if (maxTokensPerDocument === null) return
  const { maxSeqLen } = info
  if (maxSeqLen !== null && maxTokensPerDocument >= maxSeqLen) return
  const rule = maxSeqLen === null ? 'null' : `at least ${maxSeqLen}, the context of model '${modelId}'`
  const why = 'this route cannot cut a document that is too long'
  const message = `max_tokens_per_doc must be ${rule}, but was ${maxTokensPerDocument}: ${why}.`
  throw new ServiceError('unsupported_value', { message }, { param: 'max_tokens_per_doc' })
}

/** What an engine is given, and what its vectors say. */
interface Ranking {
  readonly inputs: readonly EmbeddingInput[]
  readonly toScores: (vectors: readonly Float32Array[]) => readonly number[]
}

/** @throws ServiceError `unsupported_value` for a model that generates text; as `checkPairs` */
async function chooseRanking(request: RerankRequest, { modelId, info }: EmbeddingModel): Promise<Ranking> {
  if (info.takesChats === true) return byUpstream(request)
  if (info.embedding !== undefined) {
    const { pair } = info.embedding
    return pair === undefined ? byVectors(request) : await byPairs(request, pair, info.specialTexts)
  }
  const message = `model must be a reranking or an embedding model, but '${modelId}' generates text.`
  throw new ServiceError('unsupported_value', { message }, { param: 'model' })
}

function byUpstream({ documents }: RerankRequest): Ranking {
  return { inputs: documents.map(toInput), toScores: (vectors) => vectors.map(([score = 0]) => score) }
}

function byVectors({ query, documents }: RerankRequest): Ranking {
  const inputs = [{ ...toInput(query), name: 'query' }, ...documents.map(toInput)]
  const toScores: Ranking['toScores'] = ([ofQuery = new Float32Array(), ...ofDocuments]) =>
    ofDocuments.map((vector) => dot(ofQuery, vector))
  return { inputs, toScores }
}

function toInput(document: string, index = 0): EmbeddingInput {
  return { name: `documents[${index}]`, prompt: { pieces: [document], addSpecial: true } }
}

/** Characters that an engine is given of one request: what a body holds, twice over. */
const MAX_CHARACTERS = 16 * 2 ** 20

/** @throws ServiceError `invalid_request` for a query that is too long to be read with each of so many documents */
function checkPairs({ query, documents }: RerankRequest): void {
  const max = Math.floor(MAX_CHARACTERS / Math.max(1, documents.length))
  if (query.length <= max) return
  const why = `it is read with each of the ${documents.length} documents`
  const message = `query must have at most ${max} characters, but has ${query.length}: ${why}.`
  throw new ServiceError('invalid_request', { message }, { param: 'query' })
}

/** Characters of a template that are filled and read in one turn of the event loop: some milliseconds. */
const TURN_CHARACTERS = 256 * 1024

async function byPairs(
  request: RerankRequest,
  pair: RankedPair,
  specialTexts: readonly string[],
): Promise<Ranking> {
  checkPairs(request)
  const { query, documents } = request
  const { before, between, after, addSpecial, isProbability = false } = pair
  const special = new SpecialTexts(specialTexts)
  // Between two texts a special token stands, so that each of them is a piece of its own.
  const toPieces = (document: string) =>
    addSpecial
      ? [before, query, between, document, after].filter((text) => text !== '')
      : fillTemplate(pair, { query, document }, special)
  const inputs: EmbeddingInput[] = []
  let filled = 0
  for (const [index, document] of documents.entries()) {
    inputs.push({ name: `documents[${index}]`, prompt: { pieces: toPieces(document), addSpecial } })
    filled += query.length + document.length
    if (addSpecial || filled < TURN_CHARACTERS) continue
    filled = 0
    await ownTurn()
  }
  const toScore = (output: number) => (isProbability ? output : 1 / (1 + Math.exp(-output)))
  return { inputs, toScores: (vectors) => vectors.map(([output = 0]) => toScore(output)) }
}

/** The cosine of vectors of length 1. */
function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0)
}
