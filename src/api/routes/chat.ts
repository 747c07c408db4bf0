/** `POST /v1/chat/completions`: OpenAI's shape, plain or streamed. */
import { Generation, type GenerationDeps } from '../../generation/generation.ts'
import { createChatFrames, toChatCompletion } from '../dialects/openai-chat/answers.ts'
import { describeRoute, type RouteApp } from '../openapi/describe-route.ts'
import { chatChunk, chatCompletion, chatRequest } from '../dialects/openai-chat/schema.ts'
import { streamEvents, type StreamDeps } from '../event-stream.ts'

const access = 'key'

export function registerChatRoutes(app: RouteApp, deps: GenerationDeps & StreamDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/chat/completions',
    ...describeRoute({
      operationId: 'createChatCompletion',
      summary: 'Answer a conversation',
      tag: 'Generation',
      access,
      generates: true,
      body: chatRequest,
      ok: chatCompletion,
      event: chatChunk,
      errors: [400, 401, 404, 429, 500, 503],
      errorShape: 'openai',
    }),
    handler: async ({ body, context }, reply) => {
      const { isStream, includeUsage } = body
      using generation = await Generation.open(deps, body.generation, context)
      if (!isStream) return toChatCompletion(generation, await generation.fold())
      await streamEvents(deps, reply, { generation, format: createChatFrames(generation, { includeUsage }) })
      return reply
    },
  })
}
