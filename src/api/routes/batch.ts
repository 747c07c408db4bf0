/**
 * `POST /v1/generate/batch` queues its prompts as one block, accepted or refused whole; prompts that the prompt guard
 * refuses are not in it.
 * `POST /v1/generate/continuous-batch` queues each prompt by itself, so that one may be refused and the others run;
 * when every one is refused, the request is.
 */
import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { ServiceError, toServiceError } from '../../core/errors.ts'
import type { AppDeps } from '../deps.ts'
import { logCause } from '../error-handler.ts'
import { Generation, toPrompt } from '../generation.ts'
import { batchFields, checkPrompts } from '../prompt-check.ts'
import { toBatchResponse, type PromptOutcome } from '../results.ts'
import { describeRoute } from '../route-schema.ts'
import { batchRequest, batchResponse } from '../schemas/generate.ts'

const access = 'key'

export function registerBatchRoutes(app: FastifyInstance, deps: AppDeps): void {
  const routes = app.withTypeProvider<ZodTypeProvider>()
  const description = {
    tag: 'Generation',
    access,
    body: batchRequest,
    ok: batchResponse,
    errors: [400, 401, 404, 429, 500, 503],
  } as const

  routes.route({
    method: 'POST',
    url: '/v1/generate/batch',
    config: { access, generates: true },
    schema: describeRoute({
      operationId: 'generateBatch',
      summary: 'Continue several texts, queued as one block',
      ...description,
    }),
    handler: async (request, reply) => {
      const { prompts, request: generationRequest } = request.body
      using generation = await Generation.open(deps, { request, reply }, generationRequest)
      const refusals = await checkPrompts(deps, generation, batchFields(prompts))
      refuseWhenAllWere(refusals)
      const outcomes = await runTogether(generation, prompts, refusals)
      return toBatchResponse(generation, outcomes, { hasQueueMs: false })
    },
  })

  routes.route({
    method: 'POST',
    url: '/v1/generate/continuous-batch',
    config: { access, generates: true },
    schema: describeRoute({
      operationId: 'generateContinuousBatch',
      summary: 'Continue several texts, each queued by itself',
      ...description,
    }),
    handler: async (request, reply) => {
      const { prompts, request: generationRequest } = request.body
      using generation = await Generation.open(deps, { request, reply }, generationRequest)
      const refusals = await checkPrompts(deps, generation, batchFields(prompts))
      const outcomes = await Promise.all(
        prompts.map(async (prompt, index) => refusals[index] ?? (await runAlone(generation, prompt))),
      )
      generation.signal.throwIfAborted()
      refuseWhenAllWere(outcomes)
      for (const outcome of outcomes) {
        if (outcome instanceof ServiceError) logCause(outcome, request.id, deps.log)
      }
      return toBatchResponse(generation, outcomes, { hasQueueMs: true })
    },
  })
}

/** The prompts that were not refused, as one block; each outcome in its prompt's place. */
async function runTogether(
  generation: Generation,
  prompts: readonly string[],
  refusals: readonly (ServiceError | null)[],
): Promise<PromptOutcome[]> {
  const accepted = prompts.filter((_, index) => (refusals[index] ?? null) === null)
  const sequences = (await generation.run(accepted.map(toPrompt))).values()
  return prompts.map(
    (_, index) => refusals[index] ?? sequences.next().value ?? internalError(generation.requestId),
  )
}

async function runAlone(generation: Generation, prompt: string): Promise<PromptOutcome> {
  try {
    const [sequence] = await generation.run([toPrompt(prompt)])
    return sequence ?? internalError(generation.requestId)
  } catch (thrown) {
    return toServiceError(thrown, generation.requestId)
  }
}

function internalError(requestId: string): ServiceError {
  return new ServiceError('internal_error', { requestId })
}

function refuseWhenAllWere(outcomes: readonly (PromptOutcome | null)[]): void {
  const [first] = outcomes
  if (first instanceof ServiceError && outcomes.every((outcome) => outcome instanceof ServiceError))
    throw first
}
