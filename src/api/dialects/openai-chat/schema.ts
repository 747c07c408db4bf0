/**
 * `POST /v1/chat/completions`, shaped like OpenAI's. Its clients send `null` for what they leave out, so `null` is
 * absence for every optional field.
 */
import { z } from 'zod'
import type { GenerationRequest } from '../../../generation/generation-request.ts'
import { mustCall } from '../../../protocol/chat.ts'
import {
  arrayOf,
  boolean,
  integer,
  modelId,
  nullableWithDefault,
  priority,
  seed,
} from '../../schemas/fields.ts'
import { constraintFields, constraintOf, refuseSeveralConstraints } from '../../schemas/constraints.ts'
import { endFields, toEndRules } from '../../schemas/end-rules.ts'
import {
  finishReason,
  maxTokensOrDefault,
  stopField,
  streamOptionsField,
  usage,
  usageOption,
} from '../../schemas/openai-fields.ts'
import { samplingFields, toSampling } from '../../schemas/sampling.ts'
import { passedOnBody, toUpstreamFields } from '../../schemas/upstream-fields.ts'
import { checkLogprobs, choiceLogprobs, logprobFields, toTopLogprobs } from './logprobs.ts'
import { message } from './message.ts'
import { checkTools, ignoreUnaskedTools, toChat, toolFields } from './tools.ts'

/** As many as a batch has prompts. */
const MAX_CHOICES = 64

const choices = () =>
  integer(1, MAX_CHOICES).describe(
    'Answers to the conversation, each with an `index`; its prompt is computed and counted once. With a `seed` each has one of its own.',
  )

const givenBody = passedOnBody('ChatRequest', {
  model: nullableWithDefault(modelId(), 'default'),
  messages: arrayOf(message, { min: 1, max: Infinity, of: 'message' }),
  max_tokens: maxTokensOrDefault(),
  max_completion_tokens: maxTokensOrDefault().describe('The same as `max_tokens`.'),
  ...samplingFields(),
  ...endFields(),
  ...logprobFields(),
  ...constraintFields(),
  ...toolFields(),
  n: nullableWithDefault(choices(), 1),
  stream: nullableWithDefault(boolean(), false),
  stream_options: streamOptionsField(usageOption),
  stop: stopField(),
  seed: seed().nullish(),
  priority: nullableWithDefault(priority(), 0),
})

const chatBody = z.preprocess(ignoreUnaskedTools, givenBody).superRefine((body, context) => {
  checkLogprobs(body, context)
  refuseSeveralConstraints(body, context)
  checkTools(body, context)
  const { max_tokens: one, max_completion_tokens: other } = body
  if (typeof one !== 'number' || typeof other !== 'number' || one === other) return
  context.addIssue({
    code: 'custom',
    path: ['max_completion_tokens'],
    message: `must be the same as max_tokens (${one}) where both are given, but was ${other}`,
  })
})

function toGenerationRequest(body: z.output<typeof chatBody>, defaultMaxTokens: number): GenerationRequest {
  return {
    modelId: body.model,
    input: { kind: 'chat', choices: body.n, ...toChat(body) },
    maxNewTokens: body.max_tokens ?? body.max_completion_tokens ?? defaultMaxTokens,
    sampling: toSampling(body),
    stopStrings: body.stop ?? [],
    ...toEndRules(body),
    ...toTopLogprobs(body),
    ...constraintOf(body),
    ...toUpstreamFields(body),
    numBeams: 1,
    priority: body.priority,
  }
}

/** @param defaultMaxTokens of a request that names no number; `context` is as many as are allowed */
export const createChatRequest = (defaultMaxTokens: number | 'context') =>
  chatBody.transform((body) => {
    const generation = toGenerationRequest(body, defaultMaxTokens === 'context' ? Infinity : defaultMaxTokens)
    const { input } = generation
    return {
      isStream: body.stream,
      includeUsage: body.stream_options?.include_usage ?? false,
      isUsageContinuous: body.stream_options?.continuous_usage_stats ?? false,
      mustCall: input.kind === 'chat' && mustCall(input),
      generation,
    }
  })

const chatFinishReason = z.enum([...finishReason.options, 'tool_calls'])

const answerMessage = z.object({
  role: z.literal('assistant'),
  content: z
    .string()
    .nullable()
    .describe('`null` where the answer has calls only, or had to and was cut before one.'),
  reasoning_content: z.string().optional().describe('What the model thought before it answered.'),
  tool_calls: z
    .array(
      z.object({
        id: z.string().describe('`call_<id>`'),
        type: z.literal('function'),
        function: z.object({ name: z.string(), arguments: z.string().describe('JSON text of an object.') }),
      }),
    )
    .optional(),
})

const answerDelta = z.object({
  role: z.literal('assistant').optional(),
  content: z
    .string()
    .nullable()
    .optional()
    .describe('`null` in the first delta of an answer that must be a call.'),
  reasoning_content: z.string().optional(),
  tool_calls: z
    .array(
      z.object({
        index: z.int(),
        id: z.string().optional().describe('With the first delta of a call, as its name.'),
        type: z.literal('function').optional(),
        function: z.object({ name: z.string().optional(), arguments: z.string() }),
      }),
    )
    .optional(),
})

const completionFields = {
  id: z.string().describe('`chatcmpl-<id>`, the same in every chunk of a stream.'),
  created: z.int().describe('Unix seconds.'),
  model: z.string(),
}

export const chatCompletion = z
  .object({
    ...completionFields,
    object: z.literal('chat.completion'),
    choices: z.array(
      z.object({
        index: z.int(),
        message: answerMessage,
        logprobs: choiceLogprobs.optional().describe('With `logprobs` only.'),
        finish_reason: chatFinishReason,
      }),
    ),
    usage,
  })
  .meta({ id: 'ChatCompletion' })

export const chatChunk = z
  .object({
    ...completionFields,
    object: z.literal('chat.completion.chunk'),
    choices: z.array(
      z.object({
        index: z.int(),
        delta: answerDelta,
        logprobs: choiceLogprobs
          .nullable()
          .optional()
          .describe('With `logprobs` only; of the tokens whose text is complete with this chunk.'),
        finish_reason: chatFinishReason.nullable(),
      }),
    ),
    usage: usage.nullable().optional().describe('With `stream_options.include_usage` only.'),
  })
  .meta({ id: 'ChatChunk', description: 'Data of each event; the last one is `[DONE]`.' })
