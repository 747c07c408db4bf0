/**
 * `POST /v1/chat/completions`, shaped like OpenAI's. Its clients send `null` for what they leave out, so `null` is
 * absence for every optional field. OpenAI's fields that would change the answer and are not built here are refused
 * unless their value is neutral: never accepted and ignored.
 */
import { z } from 'zod'
import type { GenerationRequest } from '../../../generation/engine-request.ts'
import {
  arrayOf,
  boolean,
  integer,
  modelId,
  must,
  nullableWithDefault,
  number,
  priority,
  repetitionPenalty,
  seed,
  stopStrings,
  text,
  topK,
  topP,
} from '../../schemas/fields.ts'

const textPart = z.object(
  { type: z.literal('text', { error: must("'text'") }), text: text() },
  { error: must('a text part') },
)

const content = z
  .union([text(), z.array(textPart)], { error: must('a string (or an array of text parts)') })
  .transform((given) => (typeof given === 'string' ? given : given.map((part) => part.text).join('')))

const message = z
  .object(
    {
      role: z.enum(['system', 'user', 'assistant'], { error: must("'system', 'user' or 'assistant'") }),
      content,
      tool_calls: neutral('null or []', isNothing),
      function_call: neutral('null', isNothing),
    },
    { error: must('an object with role and content') },
  )
  .meta({ id: 'ChatMessage' })

const chatBody = z
  .object(
    {
      model: nullableWithDefault(modelId(), 'default'),
      messages: arrayOf(message, { min: 1, max: Infinity, of: 'message' }),
      max_tokens: integer(1, 8192).nullish().describe('Tokens to generate at most; 256 when left out.'),
      max_completion_tokens: integer(1, 8192).nullish().describe('The same as `max_tokens`.'),
      temperature: nullableWithDefault(number(0, 5), 1).describe('0 takes the likeliest token each time.'),
      top_k: nullableWithDefault(topK(), 0),
      top_p: nullableWithDefault(topP(), 1),
      repetition_penalty: nullableWithDefault(repetitionPenalty(), 1),
      stream: nullableWithDefault(boolean(), false),
      stream_options: z
        .object({ include_usage: nullableWithDefault(boolean(), false) }, { error: must('an object') })
        .nullish(),
      stop: z
        .union(
          [
            z
              .string()
              .pipe(z.transform((one) => [one]))
              .pipe(stopStrings()),
            stopStrings(),
          ],
          {
            error: must('a string or an array of 0 to 16 strings'),
          },
        )
        .nullish(),
      seed: seed().nullish(),
      priority: nullableWithDefault(priority(), 0),
      n: neutral('1', (value) => value === 1),
      tools: neutral('[]', isNothing),
      tool_choice: neutral("'none' or 'auto'", isNoneOrAuto),
      functions: neutral('[]', isNothing),
      function_call: neutral("'none' or 'auto'", isNoneOrAuto),
      response_format: neutral('{"type":"text"}', (value) => isRecord(value) && value['type'] === 'text'),
      logprobs: neutral('false', (value) => value === false),
      top_logprobs: neutral('0', (value) => value === 0),
      logit_bias: neutral('{}', (value) => isRecord(value) && isNothing(Object.keys(value))),
      presence_penalty: neutral('0', (value) => value === 0),
      frequency_penalty: neutral('0', (value) => value === 0),
      modalities: neutral(
        '["text"]',
        (value) => Array.isArray(value) && value.every((one) => one === 'text'),
      ),
      audio: neutral('null', isNothing),
      reasoning_effort: neutral("'none'", (value) => value === 'none'),
      web_search_options: neutral('null', isNothing),
    },
    { error: must('a JSON object') },
  )
  .superRefine((body, context) => {
    const { max_tokens: one, max_completion_tokens: other } = body
    if (typeof one !== 'number' || typeof other !== 'number' || one === other) return
    context.addIssue({
      code: 'custom',
      path: ['max_completion_tokens'],
      message: `must be the same as max_tokens (${one}) where both are given, but was ${other}`,
    })
  })
  .meta({ id: 'ChatRequest' })

/** A field of OpenAI's that does nothing here: only values that ask for nothing pass. */
function neutral(values: string, isNeutral: (value: unknown) => boolean) {
  return z
    .unknown()
    .refine((value) => value === undefined || value === null || isNeutral(value), {
      error: (issue) => `${must(values)(issue)}: other values are not supported`,
      params: { code: 'unsupported_value' },
    })
    .optional()
    .describe(`Only ${values}.`)
}

function isNothing(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}

function isNoneOrAuto(value: unknown): boolean {
  return value === 'none' || value === 'auto'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const DEFAULT_MAX_TOKENS = 256

function toGenerationRequest(body: z.output<typeof chatBody>): GenerationRequest {
  return {
    modelId: body.model,
    input: { kind: 'chat', messages: body.messages.map(({ role, content }) => ({ role, content })) },
    maxNewTokens: body.max_tokens ?? body.max_completion_tokens ?? DEFAULT_MAX_TOKENS,
    sampling: {
      temperature: body.temperature,
      topK: body.top_k,
      topP: body.top_p,
      repetitionPenalty: body.repetition_penalty === 0 ? 1 : body.repetition_penalty,
      seed: body.seed ?? null,
    },
    stopStrings: body.stop ?? [],
    numBeams: 1,
    priority: body.priority,
  }
}

export const chatRequest = chatBody.transform((body) => ({
  isStream: body.stream,
  includeUsage: body.stream_options?.include_usage ?? false,
  generation: toGenerationRequest(body),
}))

const usage = z
  .object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() })
  .meta({ id: 'Usage' })

const finishReason = z.enum(['stop', 'length', 'content_filter'])

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
        message: z.object({ role: z.literal('assistant'), content: z.string() }),
        finish_reason: finishReason,
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
        delta: z.object({ role: z.literal('assistant').optional(), content: z.string().optional() }),
        finish_reason: finishReason.nullable(),
      }),
    ),
    usage: usage.nullable().optional().describe('With `stream_options.include_usage` only.'),
  })
  .meta({ id: 'ChatChunk', description: 'Data of each event; the last one is `[DONE]`.' })
