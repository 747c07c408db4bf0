/** Fields that OpenAI's routes share: how long an answer is, how it ends, how it streams, what it used. */
import { z } from 'zod'
import { UNBUILT_STREAM_FIELDS } from '../../net/requests/other-fields/dialects.ts'
import {
  boolean,
  integerFrom,
  MAX_TOKENS_MEANING,
  must,
  nullableWithDefault,
  stopStrings,
  withoutUnbuilt,
} from './fields.ts'

export const maxTokensOrDefault = () =>
  integerFrom(1)
    .nullish()
    .describe(
      `${MAX_TOKENS_MEANING} When left out, what the server was started with: 256, or its \`--default-max-tokens\`.`,
    )

export const stopField = () =>
  z
    .union(
      [
        z
          .string()
          .pipe(z.transform((one) => [one]))
          .pipe(stopStrings()),
        stopStrings(),
      ],
      { error: must('a string or an array of 0 to 16 strings') },
    )
    .nullish()

/** Of a route whose streams may end with a chunk of usage. */
export const usageOption = {
  include_usage: nullableWithDefault(boolean(), false),
  continuous_usage_stats: nullableWithDefault(boolean(), false).describe(
    "vLLM's: with `include_usage`, the usage so far in every chunk, with the tokens of the prompt that were in the cache.",
  ),
}

/** @param options those that the route has */
export const streamOptionsField = <Shape extends z.ZodRawShape>(options: Shape) =>
  withoutUnbuilt(z.object(options, { error: must('an object') }), UNBUILT_STREAM_FIELDS).nullish()

export const usage = z
  .object({
    ...{ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() },
    prompt_tokens_details: z
      .object({ cached_tokens: z.int().describe('Tokens of the prompt that were in the KV cache.') })
      .optional()
      .describe('Where there were any.'),
    completion_tokens_details: z
      .object({ reasoning_tokens: z.int().describe('Tokens of the answer that were thought.') })
      .optional()
      .describe('Where there were any.'),
  })
  .meta({ id: 'Usage' })

export const finishReason = z.enum(['stop', 'length', 'content_filter'])
