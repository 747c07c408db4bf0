/** `POST /v1/chat/completions`: OpenAI's shape, plain or streamed. */
import type { FastifyInstance } from 'fastify'
import { Generation, type GenerationDeps } from '../../generation/generation.ts'
import type { AppDeps } from '../deps.ts'
import { createChatFrames, toChatCompletion } from '../dialects/openai-chat/answers.ts'
import { failFrames } from '../dialects/frames.ts'
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
      const { isStream, includeUsage, isUsageContinuous, mustCall } = body
      const hasLogprobs = body.generation.topLogprobs !== undefined
      const open = () => Generation.open(deps, body.generation, context)
      if (!isStream) {
        using generation = await open()
        return toChatCompletion(generation, await generation.fold(), { hasLogprobs, mustCall })
      }
      const options = { includeUsage, isUsageContinuous, hasLogprobs, mustCall }
      await streamEvents(deps, reply, {
        modelId: body.generation.modelId,
        open,
        createFormat: (generation) => createChatFrames(generation, options),
        fail: failFrames,
      })
      return reply
    },
  })
}
