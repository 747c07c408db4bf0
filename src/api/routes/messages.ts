/** `POST /v1/messages`: Anthropic's shape, plain or streamed; `/v1/messages/count_tokens`: how long its prompt would be. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import { Generation, type GenerationDeps } from '../../generation/generation.ts'
import { tokenize } from '../../generation/tokens.ts'
import { ANTHROPIC_REQUEST_ID } from '../../net/render-error.ts'
import { describeValue } from '../../net/requests/request-fields.ts'
import { MAX_BODY_BYTES } from '../../net/requests/read-body.ts'
import { failMessage, MessageFrames, toMessage } from '../dialects/anthropic-messages/answers.ts'
import {
  anthropicEvent,
  anthropicMessage,
  countRequest,
  messagesQuery,
  messagesRequest,
  tokenCount,
} from '../dialects/anthropic-messages/schema.ts'
import { streamEvents, type StreamDeps } from '../event-stream.ts'
import { addRoute } from '../openapi/add-route.ts'
import { CHAT_ERRORS } from '../openapi/route-errors.ts'
import type { RequestContext } from '../pipeline/request-context.ts'

/** What both routes have in common. */
const MESSAGE_ROUTE = {
  tag: 'Generation',
  access: 'key',
  generates: true,
  query: messagesQuery,
  maxBodyBytes: MAX_BODY_BYTES,
  errors: CHAT_ERRORS,
  errorShape: 'anthropic',
} as const

export function registerMessageRoutes(app: FastifyInstance, deps: GenerationDeps & StreamDeps): void {
  addRoute(app, 'POST /v1/messages', {
    operationId: 'createMessage',
    summary: "Answer a conversation in Anthropic's shape",
    ...MESSAGE_ROUTE,
    body: messagesRequest,
    ok: anthropicMessage,
    event: anthropicEvent,
    handler: async ({ body, context }, reply) => {
      greet(context, reply)
      const { isStream, showsThinking } = body
      const open = () => Generation.open(deps, body.generation, context)
      if (!isStream) {
        using generation = await open()
        const [sequence] = await generation.fold()
        return sequence && toMessage(generation, sequence, { showsThinking })
      }
      const options = { requestId: context.requestId, showsThinking }
      await streamEvents(deps, reply, {
        modelId: body.generation.modelId,
        open,
        createFormat: (generation) => new MessageFrames(generation, options),
        fail: (error) => failMessage(error, options),
      })
      return reply
    },
  })

  addRoute(app, 'POST /v1/messages/count_tokens', {
    operationId: 'countMessageTokens',
    summary: 'Count the tokens that a message would be asked with',
    ...MESSAGE_ROUTE,
    body: countRequest,
    ok: tokenCount,
    handler: async ({ body, context }, reply) => {
      greet(context, reply)
      const { modelId, input } = body
      const work = { modelId, input: { kind: 'chat', chat: input }, wantsTexts: false } as const
      const { tokenIds } = await tokenize(deps, context, work)
      return { input_tokens: tokenIds.length }
    },
  })
}

const VERSION = /^\d{4}-\d{2}-\d{2}$/

/**
 * Names the request where Anthropic's clients look for it. Any version of the API is answered as its one version is; betas
 * are asked for by fields too, and those are read or refused. @throws ServiceError for a version that is none
 */
function greet({ request, requestId }: RequestContext, reply: FastifyReply): void {
  reply.header(ANTHROPIC_REQUEST_ID, requestId)
  const version = request.headers['anthropic-version']
  if (version === undefined || (typeof version === 'string' && VERSION.test(version))) return
  const message = `The header anthropic-version must be a date, as 2023-06-01 is, but was ${describeValue(version)}.`
  throw new ServiceError('invalid_request', { message })
}
