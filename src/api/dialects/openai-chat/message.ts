/**
 * A message of a chat as `/v1/chat/completions` reads it: text, whole or in parts, media for models that
 * read them, what the assistant called and thought, and results of tools. Other parts are refused by their name.
 */
import { z } from 'zod'
import { UNBUILT_MESSAGE_FIELDS } from '../../../net/requests/other-fields/dialects.ts'
import { brokenRule } from '../../../net/requests/request-fields.ts'
import type { ChatMessage, ContentPart } from '../../../protocol/chat.ts'
import { isJsonObject, must, mustBeOfType, oneOf, text, withoutUnbuilt } from '../../schemas/fields.ts'
import { longArray } from '../../schemas/parsing/long-array.ts'
import { stringOr } from '../../schemas/string-or.ts'
import { refuseOtherTypes } from '../../schemas/tool-fields.ts'
import {
  CHAT_MEDIA,
  chatMediaPart,
  joinParts,
  refuseUnreadPart,
  toMediaPart,
} from '../../schemas/content-parts.ts'

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const

const role = oneOf(ROLES)
  // OpenAI renamed the role; templates know the old name.
  .transform((given) => (given === 'developer' ? 'system' : given))
  .describe('`developer` is `system`.')

const textPart = z.object({ type: z.literal('text'), text: text() })

/** Of an assistant that declined: read as its text. */
const refusalPart = z.object({ type: z.literal('refusal'), refusal: text() })

const CONTENT_RULE = 'a string (or an array of text parts)'

const part = z.discriminatedUnion('type', [textPart, refusalPart, chatMediaPart()], {
  error: mustBeOfType(['text', 'refusal']),
})

const content = stringOr(
  (given) => [{ type: 'text', text: given }],
  longArray(part, { error: must(CONTENT_RULE) }),
).transform((parts) => joinParts(parts.map(toPart)))

function toPart(given: z.output<typeof part>, index: number): ContentPart {
  if (given.type === 'text') return { kind: 'text', text: given.text }
  if (given.type === 'refusal') return { kind: 'text', text: given.refusal }
  return toMediaPart(given, given.type, `[${index}]`)
}

const toolCall = z.preprocess(
  refuseOtherTypes(['function'], 'function'),
  z
    .object({
      id: text(),
      type: z.literal('function'),
      function: z.object({ name: text(), arguments: text('JSON text of an object') }),
    })
    .meta({ id: 'ChatToolCall' }),
)

const messageObject = z
  .object(
    {
      role,
      content: content
        .nullish()
        .describe(
          '`null` in a message of the assistant that has `tool_calls`, a `refusal` or `reasoning_content` alone.',
        ),
      refusal: text().nullish().describe('Of the assistant, in place of `content`: read as its text.'),
      name: text().nullish(),
      tool_calls: longArray(toolCall, { error: must('an array of tool calls') }).nullish(),
      tool_call_id: text().nullish().describe('Of a message of a tool: the call that it answers.'),
      reasoning_content: text().nullish().describe('What the assistant thought before it answered.'),
      reasoning: text().nullish().describe('The same as `reasoning_content`.'),
    },
    { error: must('an object with role and content') },
  )
  .meta({ id: 'ChatMessage' })

type GivenMessage = z.output<typeof messageObject>

function checkMessage(
  { role: given, content: body, tool_calls: calls, ...others }: GivenMessage,
  context: z.RefinementCtx,
): void {
  const hasCalls = (calls?.length ?? 0) > 0
  const isWithoutText =
    given === 'assistant' && [others.refusal, thoughtOf(others)].some((text) => (text ?? '') !== '')
  if (hasCalls && given !== 'assistant') {
    const message = `must be in a message of the role 'assistant', but was in one of '${given}'`
    context.addIssue({ code: 'custom', path: ['tool_calls'], message })
  }
  if (!hasCalls && !body && !isWithoutText) {
    context.addIssue({ code: 'custom', path: ['content'], message: brokenRule(CONTENT_RULE, body) })
  }
}

function thoughtOf(given: Pick<GivenMessage, 'reasoning_content' | 'reasoning'>): string {
  return given.reasoning_content ?? given.reasoning ?? ''
}

function toChatMessage(given: GivenMessage): ChatMessage {
  const { role: of, content: body, name, tool_calls: calls, tool_call_id: callId } = given
  const reasoning = thoughtOf(given)
  return {
    role: of,
    ...(body ?? { content: (of === 'assistant' ? given.refusal : null) ?? '' }),
    ...(of === 'assistant' && reasoning !== '' && { reasoning }),
    ...((calls?.length ?? 0) > 0 && {
      toolCalls: (calls ?? []).map(({ id, function: called }) => ({ id, ...called })),
    }),
    ...(of === 'tool' && typeof callId === 'string' && { toolCallId: callId }),
    ...(of === 'tool' && typeof name === 'string' && { name }),
  }
}

export const message = z.preprocess((given, context) => {
  if (isJsonObject(given)) refuseUnreadPart(given, 'content', { read: CHAT_MEDIA, context })
  return given
}, withoutUnbuilt(messageObject, UNBUILT_MESSAGE_FIELDS).superRefine(checkMessage).transform(toChatMessage))
