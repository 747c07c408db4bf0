/**
 * The messages of Anthropic's Messages API as a request brings them: content as a string, or as blocks of the kinds that a
 * role may have. What this server cannot read is refused by its name. `conversation.ts` makes a chat of them.
 */
import { z } from 'zod'
import { addUnsupported, boolean, isJsonObject, must, mustBeOfType, text } from '../../schemas/fields.ts'
import { longArray } from '../../schemas/parsing/long-array.ts'
import { stringOr } from '../../schemas/string-or.ts'
import { findUnreadPart } from '../../schemas/content-parts.ts'

const MAX_ID_CHARACTERS = 256
const ID_RULE = `a string of 1 to ${MAX_ID_CHARACTERS} characters`

const callId = () =>
  text(ID_RULE)
    .min(1, { error: must(ID_RULE) })
    .max(MAX_ID_CHARACTERS, { error: must(ID_RULE) })

const textBlock = z.object({ type: z.literal('text'), text: text() })

const base64Source = z.object({
  type: z.literal('base64'),
  media_type: text('a media type such as image/png').max(100, {
    error: must('a media type such as image/png'),
  }),
  data: text(),
})

const urlSource = z.object({ type: z.literal('url'), url: text() })

const UNREAD_SOURCES = new Map([
  ['file', 'nothing is stored here, so send it as base64'],
  ['url', 'this server fetches no documents'],
])

const UNREAD_BLOCKS = new Map([
  ['search_result', 'send it as a document of text'],
  ['server_tool_use', 'this server has no tools of its own'],
  ['tool_reference', 'this server loads no tools later'],
])

const imageBlock = z
  .object({
    type: z.literal('image'),
    source: z.discriminatedUnion('type', [base64Source, urlSource], {
      error: mustBeOfType(['base64', 'url'], UNREAD_SOURCES),
    }),
  })
  .describe('For a model that reads images.')

const plainTextSource = z
  .object({
    type: z.literal('text'),
    media_type: z.literal('text/plain', { error: must("'text/plain'") }),
    data: text(),
  })
  .describe('For any model: it reads the text, with its title and context, in tags.')

const thinkingBlock = z.object({ type: z.literal('thinking'), thinking: text() })

const redactedThinkingBlock = z
  .object({ type: z.literal('redacted_thinking') })
  .describe('Passes unread: it is encrypted.')

const toolUseBlock = z.object({
  type: z.literal('tool_use'),
  id: callId(),
  name: text(),
  input: z.record(z.string(), z.unknown(), { error: must('an object') }),
})

type BlockSchema = z.ZodObject<{ type: z.ZodLiteral<string> }>

/** Content of blocks of these kinds; a string is short for one text block. */
function contentOf<const Blocks extends readonly [BlockSchema, ...BlockSchema[]]>(...blocks: Blocks) {
  const types = blocks.map(({ shape }) => shape.type.value)
  const error = mustBeOfType(types, UNREAD_BLOCKS)
  const checkType = (given: unknown, context: z.RefinementCtx): unknown => {
    const type = isJsonObject(given) ? given['type'] : undefined
    if (typeof type !== 'string' || types.includes(type)) return given
    const unread = findUnreadPart(given, types)
    if (unread !== null) addUnsupported(context, [], unread)
    else addUnsupported(context, ['type'], error({ input: given }))
    return given
  }
  const block = z.preprocess(checkType, z.discriminatedUnion('type', blocks, { error }))
  const array = longArray(block, { error: must('a string (or an array of content blocks)') })
  return stringOr((given) => [{ type: 'text', text: given }], array)
}

const contentSource = z
  .object({ type: z.literal('content'), content: contentOf(textBlock, imageBlock) })
  .describe('As a text source; images are for a model that reads them.')

const documentBlock = z
  .object({
    type: z.literal('document'),
    source: z.discriminatedUnion('type', [base64Source, plainTextSource, contentSource], {
      error: mustBeOfType(['base64', 'text', 'content'], UNREAD_SOURCES),
    }),
    title: text().nullish(),
    context: text().nullish(),
    citations: z.object({ enabled: boolean().nullish() }, { error: must('an object') }).nullish(),
  })
  .superRefine(({ citations }, context) => {
    if (citations?.enabled !== true) return
    addUnsupported(
      context,
      ['citations', 'enabled'],
      'must be false, but was true: this server cites no documents',
    )
  })
  .describe('With a base64 source for a model that reads files.')

/** Text alone, of system prompts. */
export const textContent = contentOf(textBlock)

const resultContent = contentOf(textBlock, imageBlock, documentBlock)

const toolResultBlock = z.object({
  type: z.literal('tool_result'),
  tool_use_id: callId().describe('Of a `tool_use` block before it.'),
  content: resultContent.optional(),
  is_error: boolean().nullish().describe('The model reads the result as `Error: <content>`.'),
})

const userMessage = z.object({
  role: z.literal('user'),
  content: contentOf(textBlock, imageBlock, documentBlock, toolResultBlock),
})

const assistantMessage = z.object({
  role: z.literal('assistant'),
  content: contentOf(textBlock, thinkingBlock, redactedThinkingBlock, toolUseBlock),
})

const systemMessage = z.object({ role: z.literal('system'), content: textContent })

const ROLE_RULE = "'user', 'assistant' or 'system'"

/** The role decides what may follow, so it is named first where it is wrong. */
function checkRole(given: unknown, context: z.RefinementCtx): unknown {
  const role = isJsonObject(given) ? given['role'] : undefined
  if (!isJsonObject(given) || role === 'user' || role === 'assistant' || role === 'system') return given
  context.addIssue({ code: 'custom', path: ['role'], message: must(ROLE_RULE)({ input: role }) })
  return given
}

export const messageParam = z
  .preprocess(
    checkRole,
    z.discriminatedUnion('role', [userMessage, assistantMessage, systemMessage], {
      error: must('an object with role and content'),
    }),
  )
  .meta({ id: 'AnthropicMessageParam' })

export type TextContent = z.output<typeof textContent>
/** Text or media of a user's message, or of a result. */
export type ReadBlock = z.output<typeof resultContent>[number]
export type Message = z.output<typeof messageParam>
