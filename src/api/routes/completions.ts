/** `POST /v1/completions`: OpenAI's legacy shape, plain or streamed. */
import type { FastifyInstance } from 'fastify'
import { Generation, type GenerationDeps } from '../../generation/generation.ts'
import { failFrames } from '../dialects/frames.ts'
import { MAX_BODY_BYTES } from '../../net/requests/read-body.ts'
import { createCompletionFrames, toCompletion } from '../dialects/openai-completions/answers.ts'
import { completion, completionChunk, completionRequest } from '../dialects/openai-completions/schema.ts'
import { streamEvents, type StreamDeps } from '../event-stream.ts'
import { addRoute } from '../openapi/add-route.ts'
import { GENERATION_ERRORS } from '../openapi/route-errors.ts'

export function registerCompletionRoutes(app: FastifyInstance, deps: GenerationDeps & StreamDeps): void {
  addRoute(app, 'POST /v1/completions', {
    operationId: 'createCompletion',
    summary: 'Continue texts or tokens',
    tag: 'Generation',
    access: 'key',
    generates: true,
    body: completionRequest,
    maxBodyBytes: MAX_BODY_BYTES,
    ok: completion,
    event: completionChunk,
    errors: GENERATION_ERRORS,
    errorShape: 'openai',
    handler: async ({ body, context }, reply) => {
      const { isStream, hasEcho, includeUsage, isUsageContinuous, choices } = body
      const open = () => Generation.open(deps, body.generation, context)
      const topLogprobs = body.generation.topLogprobs ?? null
      const options = { choices, includeUsage, isUsageContinuous, topLogprobs }
      if (!isStream) {
        using generation = await open()
        const echoedTexts = hasEcho ? await generation.promptTexts() : null
        return toCompletion(generation, await generation.fold(), { ...options, echoedTexts })
      }
      await streamEvents(deps, reply, {
        modelId: body.generation.modelId,
        open,
        isEchoed: hasEcho,
        createFormat: (generation, echoedTexts) =>
          createCompletionFrames(generation, { ...options, echoedTexts }),
        fail: failFrames,
      })
      return reply
    },
  })
}
