/**
 * The generate routes: one prompt, plain or streamed, and two kinds of batch. `/v1/generate/batch` queues its prompts as one
 * block, accepted or refused whole, without those that the prompt guard refuses. `/v1/generate/continuous-batch` queues each
 * prompt separately: the request is refused only when every prompt is.
 */
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import { Generation, type GenerationDeps } from '../../generation/generation.ts'
import { failFrames } from '../dialects/frames.ts'
import { createGenerateFrames, toBatchResponse, toGenerateResponse } from '../dialects/generate/answers.ts'
import {
  batchRequest,
  batchResponse,
  generateRequest,
  generateResponse,
  generateStreamRequest,
  streamChunk,
} from '../dialects/generate/schema.ts'
import { streamEvents, type StreamDeps } from '../event-stream.ts'
import { MAX_BODY_BYTES } from '../../net/requests/read-body.ts'
import { addRoute } from '../openapi/add-route.ts'
import { GENERATION_ERRORS } from '../openapi/route-errors.ts'

const GENERATION = {
  maxBodyBytes: MAX_BODY_BYTES,
  tag: 'Generation',
  access: 'key',
  generates: true,
  errors: [...GENERATION_ERRORS, 'beams_too_large', 'beams_unavailable'],
} as const

export function registerGenerateRoutes(app: FastifyInstance, deps: GenerationDeps & StreamDeps): void {
  addRoute(app, 'POST /v1/generate', {
    operationId: 'generate',
    summary: 'Continue a text',
    ...GENERATION,
    body: generateRequest,
    ok: generateResponse,
    handler: async ({ body, context }) => {
      using generation = await Generation.open(deps, body, context)
      return toGenerateResponse(generation, await generation.fold())
    },
  })

  addRoute(app, 'POST /v1/generate/stream', {
    operationId: 'generateStream',
    summary: 'Continue a text, sent as it is made',
    ...GENERATION,
    body: generateStreamRequest,
    ok: streamChunk,
    event: streamChunk,
    isStreamOnly: true,
    handler: async ({ body, context }, reply) => {
      refuseBeamsOnStream(body.numBeams)
      await streamEvents(deps, reply, {
        modelId: body.modelId,
        open: () => Generation.open(deps, body, context),
        createFormat: createGenerateFrames,
        fail: failFrames,
      })
    },
  })

  addRoute(app, 'POST /v1/generate/batch', {
    operationId: 'generateBatch',
    summary: 'Continue several texts, queued as one block',
    ...GENERATION,
    ok: batchResponse,
    body: batchRequest('block'),
    handler: async ({ body, context }) => {
      using generation = await Generation.open(deps, body, context)
      return toBatchResponse(generation, await generation.fold(), { hasQueueMs: false })
    },
  })

  addRoute(app, 'POST /v1/generate/continuous-batch', {
    operationId: 'generateContinuousBatch',
    summary: 'Continue several texts, each queued by itself',
    ...GENERATION,
    ok: batchResponse,
    body: batchRequest('separate'),
    handler: async ({ body, context }) => {
      using generation = await Generation.open(deps, body, context)
      return toBatchResponse(generation, await generation.fold(), { hasQueueMs: true })
    },
  })
}

/** The best beam is known only at its end (spec: decisions, Generation). */
function refuseBeamsOnStream(numBeams: number): void {
  if (numBeams === 1) return
  const message = `num_beams must be 1 on a stream, but was ${numBeams}.`
  throw new ServiceError('unsupported_value', { message }, { param: 'num_beams' })
}
