/**
 * `POST /v1/responses`: OpenAI's shape, plain or streamed. Nothing is stored, so no response can be asked for later.
 * `/v1/responses/input_tokens`: how long its prompt would be.
 */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ServiceError } from '../../core/errors.ts'
import { Generation, type GenerationDeps } from '../../generation/generation.ts'
import { tokenize } from '../../generation/tokens.ts'
import { MAX_BODY_BYTES } from '../../net/requests/read-body.ts'
import type { AppDeps } from '../deps.ts'
import { inputTokens, response } from '../dialects/openai-responses/answer-schema.ts'
import {
  createOutput,
  createResponseFrames,
  type ResponseHead,
  toResponse,
} from '../dialects/openai-responses/answers.ts'
import { responseEvent } from '../dialects/openai-responses/event-schema.ts'
import { createResponsesRequest } from '../dialects/openai-responses/request.ts'
import { DEFAULT_MODEL_ID } from '../../models/registry.ts'
import { streamEvents, type StreamDeps } from '../event-stream.ts'
import { addRoute } from '../openapi/add-route.ts'
import { CHAT_ERRORS } from '../openapi/route-errors.ts'

type ResponsesDeps = GenerationDeps & StreamDeps & Pick<AppDeps, 'defaultMaxTokens'>

export function registerResponsesRoutes(app: FastifyInstance, deps: ResponsesDeps): void {
  /** What both routes have in common. */
  const responsesRoute = {
    tag: 'Generation',
    access: 'key',
    generates: true,
    body: createResponsesRequest(deps.defaultMaxTokens),
    maxBodyBytes: MAX_BODY_BYTES,
    errors: CHAT_ERRORS,
    errorShape: 'openai',
  } as const

  addRoute(app, 'POST /v1/responses', {
    operationId: 'createResponse',
    summary: 'Answer a conversation, in the shape of the Responses API',
    ...responsesRoute,
    ok: response,
    event: responseEvent,
    handler: async ({ body, context }, reply) => {
      const open = () => Generation.open(deps, body.generation, context)
      const { clock } = deps
      const headOf = (generation: ResponseHead['generation']) => ({ generation, echo: body.echo, clock })
      if (!body.isStream) {
        using generation = await open()
        const head = headOf(generation)
        const output = createOutput(head)
        await generation.run((events) => events.forEach((event) => output.add(event)))
        return toResponse(head, output)
      }
      const { modelId } = body.generation
      const unopened = {
        modelId: modelId ?? DEFAULT_MODEL_ID,
        createdUnixSeconds: Math.floor(clock.unixSeconds()),
      }
      await streamEvents(deps, reply, {
        modelId,
        open,
        createFormat: (generation) => createResponseFrames(headOf(generation)),
        fail: (error) => createResponseFrames(headOf(unopened)).fail(error),
      })
      return reply
    },
  })

  addRoute(app, 'POST /v1/responses/input_tokens', {
    operationId: 'countResponseInputTokens',
    summary: 'Count the tokens that a response would be asked with',
    ...responsesRoute,
    ok: inputTokens,
    handler: async ({ body, context }) => {
      const { modelId, input } = body.generation
      const work = { modelId, input: { kind: 'chat', chat: input }, wantsTexts: false } as const
      const { tokenIds } = await tokenize(deps, context, work)
      return { object: 'response.input_tokens' as const, input_tokens: tokenIds.length }
    },
  })

  registerStoredResponseRoutes(app)
}

/** Answers clients that expect a store in one sentence. */
function registerStoredResponseRoutes(app: FastifyInstance): void {
  const endpoints = [
    ['GET /v1/responses/:response_id', 'getResponse', 'Not built: no response is stored'],
    ['DELETE /v1/responses/:response_id', 'deleteResponse', 'Not built: no response is stored'],
  ] as const
  for (const [endpoint, operationId, summary] of endpoints) {
    addRoute(app, endpoint, {
      operationId,
      summary,
      tag: 'Generation',
      access: 'key',
      params: z.object({ response_id: z.string() }),
      ok: z.never(),
      errors: ['response_not_found'],
      errorShape: 'openai',
      handler: ({ params }) => {
        throw new ServiceError('response_not_found', { responseId: params.response_id })
      },
    })
  }
}
