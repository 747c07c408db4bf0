/**
 * The events of a streamed response, as OpenAI's clients type them: each has its name as the event's name too, and a number.
 *
 *   created → in_progress → for each item of the output:
 *     output_item.added → (content_part.added →) deltas → done (→ content_part.done) → output_item.done
 *   → completed | incomplete | failed, behind `error` where it failed
 */
import { z } from 'zod'
import { tokenLogprob } from '../token-logprobs.ts'
import { outputItem, outputText, reasoningText, response, summaryText } from './answer-schema.ts'

const numbered = <const Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), sequence_number: z.int(), ...shape })

const inItem = { item_id: z.string(), output_index: z.int() }
const inContent = { ...inItem, content_index: z.int() }
const inSummary = { ...inItem, summary_index: z.int() }
const logprobs = z.array(tokenLogprob)
const contentPart = z.discriminatedUnion('type', [outputText, reasoningText])

export const responseEvent = z
  .discriminatedUnion('type', [
    numbered('response.created', { response }),
    numbered('response.in_progress', { response }),
    numbered('response.output_item.added', { output_index: z.int(), item: outputItem }),
    numbered('response.content_part.added', { ...inContent, part: contentPart }),
    numbered('response.output_text.delta', { ...inContent, delta: z.string(), logprobs }),
    numbered('response.output_text.done', { ...inContent, text: z.string(), logprobs }),
    numbered('response.reasoning_text.delta', { ...inContent, delta: z.string() }),
    numbered('response.reasoning_text.done', { ...inContent, text: z.string() }),
    numbered('response.content_part.done', { ...inContent, part: contentPart }),
    numbered('response.reasoning_summary_part.added', { ...inSummary, part: summaryText }),
    numbered('response.reasoning_summary_text.delta', { ...inSummary, delta: z.string() }),
    numbered('response.reasoning_summary_text.done', { ...inSummary, text: z.string() }),
    numbered('response.reasoning_summary_part.done', { ...inSummary, part: summaryText }),
    numbered('response.function_call_arguments.delta', { ...inItem, delta: z.string() }),
    numbered('response.function_call_arguments.done', { ...inItem, name: z.string(), arguments: z.string() }),
    numbered('response.output_item.done', { output_index: z.int(), item: outputItem }),
    numbered('response.completed', { response }),
    numbered('response.incomplete', { response }),
    numbered('response.failed', { response }),
    numbered('error', {
      code: z.string(),
      message: z.string(),
      param: z.string().nullable(),
      error: z.object({
        message: z.string(),
        type: z.string(),
        param: z.string().nullable(),
        code: z.string(),
      }),
      detail: z.string(),
    }).describe(
      "`error` is what OpenAI's clients look for, the fields beside it what its reference documents.",
    ),
  ])
  .meta({ id: 'ResponseEvent', description: 'Data of each event.' })
