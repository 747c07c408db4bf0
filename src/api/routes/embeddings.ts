/** `POST /v1/embeddings` in OpenAI's shape, `POST /v1/rerank` in Jina's. Limits, permits and usage are those of the routes that generate. */
import type { FastifyInstance } from 'fastify'
import { checkEmbeds, embed, type EmbeddingDeps } from '../../generation/embedding.ts'
import { rerank } from '../../generation/reranking.ts'
import { MAX_BODY_BYTES } from '../../net/requests/read-body.ts'
import { checkDimensions, toEmbeddingsJson } from '../dialects/openai-embeddings/answers.ts'
import { embeddingsRequest, embeddingsResponse } from '../dialects/openai-embeddings/schema.ts'
import { toRerankResponse } from '../dialects/rerank/answers.ts'
import { rerankRequest, rerankResponse } from '../dialects/rerank/schema.ts'
import { addRoute } from '../openapi/add-route.ts'
import { EMBEDDING_ERRORS } from '../openapi/route-errors.ts'

export function registerEmbeddingRoutes(app: FastifyInstance, deps: EmbeddingDeps): void {
  addRoute(app, 'POST /v1/embeddings', {
    operationId: 'createEmbeddings',
    summary: 'Make vectors of texts',
    tag: 'Embeddings',
    access: 'key',
    generates: true,
    body: embeddingsRequest,
    maxBodyBytes: MAX_BODY_BYTES,
    ok: embeddingsResponse,
    errors: EMBEDDING_ERRORS,
    errorShape: 'openai',
    handler: async ({ body, context }, reply) => {
      const { modelId, inputs, dimensions } = body
      const embedded = await embed(deps, context, {
        modelId,
        dimensions,
        prepare: (model) => {
          checkEmbeds(model)
          checkDimensions(dimensions, model)
          return inputs
        },
      })
      const json = await toEmbeddingsJson(embedded, body)
      return reply.type('application/json; charset=utf-8').send(json)
    },
  })

  for (const { prefix, suffix } of RERANK_PREFIXES) {
    addRoute(app, `POST ${prefix}/rerank`, {
      operationId: `rerank${suffix}`,
      summary: 'Order documents by their relevance to a query',
      tag: 'Embeddings',
      access: 'key',
      generates: true,
      body: rerankRequest,
      maxBodyBytes: MAX_BODY_BYTES,
      ok: rerankResponse,
      errors: EMBEDDING_ERRORS,
      errorShape: 'openai',
      handler: async ({ body, context }) => toRerankResponse(await rerank(deps, context, body), body),
    })
  }
}

/** By the beginning of their path: Jina's, Cohere's second version, and that of vLLM and llama-server. */
const RERANK_PREFIXES = [
  { prefix: '/v1', suffix: '' },
  { prefix: '/v2', suffix: 'V2' },
  { prefix: '', suffix: 'AtRoot' },
] as const
