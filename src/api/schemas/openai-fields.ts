/** Fields that OpenAI's chat and its completions share: how an answer ends, how it streams, what it used. */
import { z } from 'zod'
import { UNBUILT_STREAM_FIELDS } from '../../net/requests/field-table.ts'
import { boolean, must, nullableWithDefault, stopStrings, withoutUnbuilt } from './fields.ts'

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

const streamOptions = z.object(
  { include_usage: nullableWithDefault(boolean(), false) },
  { error: must('an object') },
)

export const streamOptionsField = () => withoutUnbuilt(streamOptions, UNBUILT_STREAM_FIELDS).nullish()

export const usage = z
  .object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() })
  .meta({ id: 'Usage' })

export const finishReason = z.enum(['stop', 'length', 'content_filter'])
