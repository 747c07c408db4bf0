/** `POST /v1/generate` and `POST /v1/generate/stream`: one prompt, plain or streamed. */
import { ServiceError } from '../../core/errors.ts'
import { Generation, type GenerationDeps } from '../../generation/generation.ts'
import { describeRoute, type RouteApp } from '../openapi/describe-route.ts'
import { createGenerateFrames, toGenerateResponse } from '../dialects/generate/answers.ts'
import { generateRequest, generateResponse, streamChunk } from '../dialects/generate/schema.ts'
import { streamEvents, type StreamDeps } from '../event-stream.ts'

const access = 'key'

export function registerGenerateRoutes(app: RouteApp, deps: GenerationDeps & StreamDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/generate',
    ...describeRoute({
      operationId: 'generate',
      summary: 'Continue a text',
      tag: 'Generation',
      access,
      generates: true,
      body: generateRequest,
      ok: generateResponse,
      errors: [400, 401, 404, 429, 500, 503],
    }),
    handler: async ({ body, context }) => {
      using generation = await Generation.open(deps, body, context)
      return toGenerateResponse(generation, await generation.fold())
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/generate/stream',
    ...describeRoute({
      operationId: 'generateStream',
      summary: 'Continue a text, sent as it is made',
      tag: 'Generation',
      access,
      generates: true,
      body: generateRequest,
      ok: streamChunk,
      event: streamChunk,
      isStreamOnly: true,
      errors: [400, 401, 404, 429, 500, 503],
    }),
    handler: async ({ body, context }, reply) => {
      refuseBeamsOnStream(body.numBeams)
      using generation = await Generation.open(deps, body, context)
      await streamEvents(deps, reply, { generation, format: createGenerateFrames() })
    },
  })
}

/** The best beam is known only at its end (spec: decisions, Generation). */
function refuseBeamsOnStream(numBeams: number): void {
  if (numBeams === 1) return
  const message = `num_beams must be 1 on a stream, but was ${numBeams}.`
  throw new ServiceError('unsupported_value', { message }, { param: 'num_beams' })
}
