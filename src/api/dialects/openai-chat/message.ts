/** A message of a chat as `/v1/chat/completions` reads it: text, whole or in parts. What is no text is refused by its name. */
import { z } from 'zod'
import { UNBUILT_MESSAGE_FIELDS } from '../../../net/requests/field-table.ts'
import { isJsonObject, must, text, withoutUnbuilt } from '../../schemas/fields.ts'
import { longArray } from '../../schemas/long-array.ts'
import { refuseUnreadPart } from '../../schemas/unread-parts.ts'

const ROLES = ['system', 'developer', 'user', 'assistant'] as const

const role = z
  .enum(ROLES, { error: must("'system', 'developer', 'user' or 'assistant'") })
  // OpenAI renamed the role; templates know the old name.
  .transform((given) => (given === 'developer' ? 'system' : given))
  .describe('`developer` is `system`.')

const textPart = z.object(
  { type: z.literal('text', { error: must("'text'") }), text: text() },
  { error: must('a text part') },
)

const content = z
  .union([text(), longArray(textPart)], { error: must('a string (or an array of text parts)') })
  .transform((given) => (typeof given === 'string' ? given : given.map((part) => part.text).join('')))

const messageObject = z
  .object({ role, content }, { error: must('an object with role and content') })
  .meta({ id: 'ChatMessage' })

export const message = z.preprocess(
  (given, context) => {
    if (isJsonObject(given)) refuseUnreadPart(given, 'content', context)
    return given
  },
  withoutUnbuilt(messageObject, UNBUILT_MESSAGE_FIELDS),
)
