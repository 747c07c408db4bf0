/** `POST /v1/chat/completions`: OpenAI's shape, plain or streamed. */
import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { newId } from '../../core/ids.ts'
import type { AppDeps } from '../deps.ts'
import type { FoldedSequence } from '../fold.ts'
import { createChatFrames, type ChatAnswer } from '../sse/frames.ts'
import { Generation } from '../generation.ts'
import { chatFields, refuseAttacks } from '../prompt-check.ts'
import { describeRoute } from '../route-schema.ts'
import { chatChunk, chatCompletion, chatRequest } from '../schemas/chat.ts'
import { streamEvents } from '../sse/stream-events.ts'

const access = 'key'

export function registerChatRoutes(app: FastifyInstance, deps: AppDeps): void {
  app.withTypeProvider<ZodTypeProvider>().route({
    method: 'POST',
    url: '/v1/chat/completions',
    config: { access, generates: true },
    schema: describeRoute({
      operationId: 'createChatCompletion',
      summary: 'Answer a conversation',
      tag: 'Generation',
      access,
      body: chatRequest,
      ok: chatCompletion,
      event: chatChunk,
      errors: [400, 401, 404, 429, 500, 503],
      isOpenAiShaped: true,
    }),
    handler: async (request, reply) => {
      const { messages, isStream, includeUsage, request: generationRequest } = request.body
      using generation = await Generation.open(deps, { request, reply }, generationRequest)
      await refuseAttacks(deps, generation, chatFields(messages))
      const prompt = generation.lease.renderChat(messages)
      const answer: ChatAnswer = {
        id: `chatcmpl-${newId()}`,
        createdUnixSeconds: generation.createdUnixSeconds,
        model: generation.lease.modelId,
        includeUsage,
      }
      if (!isStream) return toChatCompletion(answer, await generation.runOne(prompt))
      await streamEvents(deps, { request, reply }, { generation, prompt, format: createChatFrames(answer) })
      return reply
    },
  })
}

function toChatCompletion(
  answer: ChatAnswer,
  { text, tokenIds, promptTokens, finishReason }: FoldedSequence,
) {
  return {
    id: answer.id,
    object: 'chat.completion',
    created: answer.createdUnixSeconds,
    model: answer.model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finishReason }],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: tokenIds.length,
      total_tokens: promptTokens + tokenIds.length,
    },
  }
}
