/** `POST /v1/chat/completions`: OpenAI's shape, plain or streamed. */
import type { FastifyInstance } from 'fastify'
import { Generation, type GenerationDeps } from '../../generation/generation.ts'
import type { AppDeps } from '../deps.ts'
import { createChatFrames, toChatCompletion } from '../dialects/openai-chat/answers.ts'
import { MAX_BODY_BYTES } from '../../net/requests/read-body.ts'
import { addRoute } from '../openapi/add-route.ts'
import { CHAT_ERRORS } from '../openapi/route-errors.ts'
import { chatChunk, chatCompletion, createChatRequest } from '../dialects/openai-chat/schema.ts'
import { streamEvents, type StreamDeps } from '../event-stream.ts'

type ChatDeps = GenerationDeps & StreamDeps & Pick<AppDeps, 'defaultMaxTokens'>

export function registerChatRoutes(app: FastifyInstance, deps: ChatDeps): void {
  addRoute(app, 'POST /v1/chat/completions', {
    operationId: 'createChatCompletion',
    summary: 'Answer a conversation',
    tag: 'Generation',
    access: 'key',
    generates: true,
    body: createChatRequest(deps.defaultMaxTokens),
    maxBodyBytes: MAX_BODY_BYTES,
    ok: chatCompletion,
    event: chatChunk,
    errors: CHAT_ERRORS,
    errorShape: 'openai',
    handler: async ({ body, context }, reply) => {
      const { isStream, includeUsage, isUsageContinuous } = body
      const hasLogprobs = body.generation.topLogprobs !== undefined
      using generation = await Generation.open(deps, body.generation, context)
      if (!isStream) return toChatCompletion(generation, await generation.fold(), { hasLogprobs })
      const createFormat = () =>
        createChatFrames(generation, { includeUsage, isUsageContinuous, hasLogprobs })
      await streamEvents(deps, reply, { generation, createFormat })
      return reply
    },
  })
}
