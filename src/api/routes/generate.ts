/** `POST /v1/generate` and `POST /v1/generate/stream`: one prompt, in one piece or as it comes. */
import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { ServiceError } from '../../core/errors.ts'
import type { AppDeps } from '../deps.ts'
import { createGenerateFrames } from '../sse/frames.ts'
import { Generation, toPrompt } from '../generation.ts'
import { describeRoute } from '../route-schema.ts'
import { promptFields, refuseAttacks } from '../prompt-check.ts'
import { toGenerateResponse } from '../results.ts'
import { generateRequest, generateResponse, streamChunk } from '../schemas/generate.ts'
import { streamEvents } from '../sse/stream-events.ts'

const access = 'key'

export function registerGenerateRoutes(app: FastifyInstance, deps: AppDeps): void {
  const routes = app.withTypeProvider<ZodTypeProvider>()

  routes.route({
    method: 'POST',
    url: '/v1/generate',
    config: { access, generates: true },
    schema: describeRoute({
      operationId: 'generate',
      summary: 'Continue a text',
      tag: 'Generation',
      access,
      body: generateRequest,
      ok: generateResponse,
      errors: [400, 401, 404, 429, 500, 503],
    }),
    handler: async (request, reply) => {
      const { prompt, request: generationRequest } = request.body
      using generation = await Generation.open(deps, { request, reply }, generationRequest)
      await refuseAttacks(deps, generation, promptFields(prompt))
      return toGenerateResponse(generation, await generation.runOne(toPrompt(prompt)))
    },
  })

  routes.route({
    method: 'POST',
    url: '/v1/generate/stream',
    config: { access, generates: true },
    schema: describeRoute({
      operationId: 'generateStream',
      summary: 'Continue a text, sent as it is made',
      tag: 'Generation',
      access,
      body: generateRequest,
      ok: streamChunk,
      event: streamChunk,
      isStreamOnly: true,
      errors: [400, 401, 404, 429, 500, 503],
    }),
    handler: async (request, reply) => {
      const { prompt, request: generationRequest } = request.body
      refuseBeamsOnStream(generationRequest.numBeams)
      using generation = await Generation.open(deps, { request, reply }, generationRequest)
      await refuseAttacks(deps, generation, promptFields(prompt))
      const stream = { generation, prompt: toPrompt(prompt), format: createGenerateFrames() }
      await streamEvents(deps, { request, reply }, stream)
    },
  })
}

/** The best beam is known only at its end (spec: decisions, Generation). */
function refuseBeamsOnStream(numBeams: number): void {
  if (numBeams === 1) return
  const message = `num_beams must be 1 on a stream, but was ${numBeams}.`
  throw new ServiceError('unsupported_value', { message }, { param: 'num_beams' })
}
