/**
 * What a request to `/v1/responses` may hold as `input`: OpenAI's items, those that an answer gave out and that come back
 * with the next request included. Items of tools that this server does not run, and references to what it does not store,
 * are refused by their name. `conversation.ts` makes a chat of them.
 */
import { z } from 'zod'
import { brokenRule } from '../../../net/requests/request-fields.ts'
import {
  addUnsupported,
  arrayOf,
  isJsonObject,
  must,
  mustBeOfType,
  oneOf,
  quoteNames,
  text,
} from '../../schemas/fields.ts'
import { longArray } from '../../schemas/long-array.ts'
import { stringOr } from '../../schemas/string-or.ts'
import { refuseUnreadPart } from '../../schemas/unread-parts.ts'

/** Ids that clients make themselves are as long as they like; OpenAI's are 64 characters at most. */
const MAX_CALL_ID_CHARACTERS = 256
const CALL_ID_RULE = `a string of 1 to ${MAX_CALL_ID_CHARACTERS} characters`

const textPart = z
  .object({ type: z.literal(['input_text', 'output_text', 'text']), text: text() })
  .transform((part) => part.text)

const refusalPart = z
  .object({ type: z.literal('refusal'), refusal: text() })
  .transform((part) => part.refusal)

const content = stringOr(
  (given) => [{ type: 'text', text: given }],
  longArray(
    z.discriminatedUnion('type', [textPart, refusalPart], {
      error: mustBeOfType(['input_text', 'output_text', 'refusal']),
    }),
    {
      error: must('a string (or an array of text parts)'),
    },
  ),
).transform((texts) => texts.join(''))

const message = z.object({
  type: z.literal('message').describe('May be left out.'),
  role: oneOf(['user', 'assistant', 'system', 'developer']),
  content,
})

const callId = () =>
  text(CALL_ID_RULE)
    .min(1, { error: must(CALL_ID_RULE) })
    .max(MAX_CALL_ID_CHARACTERS, { error: must(CALL_ID_RULE) })

const functionCall = z.object({
  type: z.literal('function_call'),
  call_id: callId(),
  name: text(),
  arguments: text('a string, the JSON text of an object'),
})

const functionCallOutput = z.object({
  type: z.literal('function_call_output'),
  call_id: callId().describe('Of an earlier `function_call` of this input.'),
  output: content,
})

const reasoningTexts = (type: 'summary_text' | 'reasoning_text') =>
  longArray(
    z.object(
      { type: z.literal(type, { error: must(`'${type}'`) }), text: text() },
      { error: must(`a part of type '${type}'`) },
    ),
    { error: must(`an array of parts of type '${type}'`) },
  ).nullish()

const reasoning = z
  .object({
    type: z.literal('reasoning'),
    summary: reasoningTexts('summary_text'),
    content: reasoningTexts('reasoning_text'),
  })
  .describe('What an earlier answer thought: its `content`, or its `summary` where it has none.')

const ITEM_TYPES = ['message', 'function_call', 'function_call_output', 'reasoning'] as const

/** OpenAI's clients leave out the type of a message and of a reference. */
function readItem(given: unknown, context: z.RefinementCtx): unknown {
  if (!isJsonObject(given)) return given
  const type = given['type'] ?? ('role' in given ? 'message' : 'item_reference')
  if (!ITEM_TYPES.some((known) => known === type)) {
    const why =
      type === 'item_reference'
        ? 'nothing is stored here that it could refer to, so the item itself must be sent, as clients do with `store: false`'
        : 'this server runs no tools of its own'
    addUnsupported(context, ['type'], `${brokenRule(quoteNames(ITEM_TYPES), type)}: ${why}`)
  }
  refuseUnreadPart(given, type === 'message' ? 'content' : 'output', context)
  return { ...given, type }
}

const item = z
  .preprocess(
    readItem,
    z.discriminatedUnion('type', [message, functionCall, functionCallOutput, reasoning], {
      error: mustBeOfType(ITEM_TYPES),
    }),
  )
  .meta({ id: 'ResponseInputItem' })

export type InputItem = z.output<typeof item>

export const input = stringOr(
  (given) => [{ role: 'user', content: given }],
  arrayOf(item, { min: 1, max: Infinity, of: 'item (or a string)' }),
)
