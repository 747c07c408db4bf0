/**
 * What a request to `/v1/responses` may hold as `input`: OpenAI's items, those that an answer gave out and that come back
 * with the next request included. Items of tools that this server does not run, and references to what it does not store,
 * are refused by their name. `conversation.ts` makes a chat of them.
 */
import { z } from 'zod'
import { brokenRule } from '../../../net/requests/request-fields.ts'
import type { ContentPart } from '../../../protocol/chat.ts'
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
import { longArray } from '../../schemas/parsing/long-array.ts'
import { stringOr } from '../../schemas/string-or.ts'
import { unreadReason } from '../../schemas/tool-fields.ts'
import { joinParts, refuseUnreadPart, toMediaPart } from '../../schemas/content-parts.ts'

/** Ids that clients make themselves are as long as they like; OpenAI's are 64 characters at most. */
const MAX_CALL_ID_CHARACTERS = 256
const CALL_ID_RULE = `a string of 1 to ${MAX_CALL_ID_CHARACTERS} characters`

const textPart = z.object({ type: z.literal(['input_text', 'output_text', 'text']), text: text() })

const refusalPart = z.object({ type: z.literal('refusal'), refusal: text() })

/** Where OpenAI finds a file that a part does not hold. */
const unreadPlace = (why: string) =>
  z
    .unknown()
    .superRefine((given, context) => {
      if (given !== undefined && given !== null)
        addUnsupported(context, [], `${brokenRule('null', given)}: ${why}`)
    })
    .optional()
    .describe('Not built, and 400 unless it is `null`.')

const fileId = unreadPlace('nothing is stored here, so the file itself must be sent')

const imagePart = z
  .object({
    type: z.literal('input_image'),
    file_id: fileId,
    image_url: text().describe('Its address, or a `data:` URL.'),
    detail: text().nullish(),
  })
  .describe('For a model that reads images.')

const filePart = z
  .object({
    type: z.literal('input_file'),
    file_id: fileId,
    file_url: unreadPlace('this server fetches no files, so it must be sent as file_data'),
    file_data: text().describe('A `data:` URL.'),
    filename: text().nullish(),
  })
  .describe('For a model that reads files.')

const MEDIA_TYPES = ['input_image', 'input_file'] as const

const contentPart = z.discriminatedUnion('type', [textPart, refusalPart, imagePart, filePart], {
  error: mustBeOfType(['input_text', 'output_text', 'refusal']),
})

const content = stringOr(
  (given) => [{ type: 'text', text: given }],
  longArray(contentPart, { error: must('a string (or an array of text parts)') }),
).transform((parts) => joinParts(parts.map(toPart)))

function toPart(part: z.output<typeof contentPart>, index: number): ContentPart {
  const place = `[${index}]`
  switch (part.type) {
    case 'refusal':
      return { kind: 'text', text: part.refusal }
    case 'input_image': {
      const image = { url: part.image_url, ...(typeof part.detail === 'string' && { detail: part.detail }) }
      return toMediaPart({ type: 'image_url', image_url: image }, part.type, place)
    }
    case 'input_file': {
      const file = { file_data: part.file_data, filename: part.filename ?? 'file' }
      return toMediaPart({ type: 'file', file }, part.type, place)
    }
    case 'input_text':
    case 'output_text':
    case 'text':
      return { kind: 'text', text: part.text }
  }
}

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

/** It follows what is wrong. */
function unreadItemReason(type: unknown): string {
  if (type === 'item_reference')
    return ': nothing is stored here that it could refer to, so the item itself must be sent, as clients do with `store: false`'
  return type === 'compaction' ? ': this server does not shorten conversations' : unreadReason(type)
}

/** OpenAI's clients leave out the type of a message and of a reference. */
function readItem(given: unknown, context: z.RefinementCtx): unknown {
  if (!isJsonObject(given)) return given
  const type = given['type'] ?? ('role' in given ? 'message' : 'item_reference')
  if (!ITEM_TYPES.some((known) => known === type)) {
    addUnsupported(context, ['type'], `${brokenRule(quoteNames(ITEM_TYPES), type)}${unreadItemReason(type)}`)
  }
  const read = given['role'] === 'assistant' ? [] : MEDIA_TYPES
  refuseUnreadPart(given, type === 'message' ? 'content' : 'output', { read, context })
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
