/**
 * `POST /v1/generate/batch` queues its prompts as one block, accepted or refused whole; prompts that the prompt guard
 * refuses are not in it.
 * `POST /v1/generate/continuous-batch` queues each prompt by itself, so that one may be refused and the others run;
 * when every one is refused, the request is.
 */
import { Generation, type GenerationDeps } from '../../generation/generation.ts'
import { toBatchResponse } from '../dialects/generate/answers.ts'
import { describeRoute, type RouteApp } from '../openapi/describe-route.ts'
import { batchRequest, batchResponse } from '../dialects/generate/schema.ts'

const access = 'key'

export function registerBatchRoutes(app: RouteApp, deps: GenerationDeps): void {
  const description = {
    tag: 'Generation',
    access,
    generates: true,
    ok: batchResponse,
    errors: [400, 401, 404, 429, 500, 503],
  } as const

  app.route({
    method: 'POST',
    url: '/v1/generate/batch',
    ...describeRoute({
      operationId: 'generateBatch',
      summary: 'Continue several texts, queued as one block',
      ...description,
      body: batchRequest('block'),
    }),
    handler: async ({ body, context }) => {
      using generation = await Generation.open(deps, body, context)
      return toBatchResponse(generation, await generation.fold(), { hasQueueMs: false })
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/generate/continuous-batch',
    ...describeRoute({
      operationId: 'generateContinuousBatch',
      summary: 'Continue several texts, each queued by itself',
      ...description,
      body: batchRequest('separate'),
    }),
    handler: async ({ body, context }) => {
      using generation = await Generation.open(deps, body, context)
      return toBatchResponse(generation, await generation.fold(), { hasQueueMs: true })
    },
  })
}
