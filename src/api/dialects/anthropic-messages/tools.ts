/**
 * Tools of a request of Anthropic's Messages API: the caller's own. Those that Anthropic runs, or whose schema only its models
 * know, are refused by their name.
 */
import { z } from 'zod'
import { UNBUILT_TOOL_FIELDS } from '../../../net/requests/other-fields/dialects.ts'
import { brokenRule, describeValue } from '../../../net/requests/request-fields.ts'
import type { ToolChoice, ToolDefinition } from '../../../protocol/chat.ts'
import {
  addUnsupported,
  boolean,
  isJsonObject,
  must,
  mustBeOfType,
  text,
  withoutUnbuilt,
} from '../../schemas/fields.ts'
import { longArray } from '../../schemas/parsing/long-array.ts'

const TOOL_NAME = /^[\w-]{1,128}$/
const NAME_RULE = 'a name of 1 to 128 letters, digits, underscores and hyphens'

const toolName = () => z.string({ error: must(NAME_RULE) }).regex(TOOL_NAME, { error: must(NAME_RULE) })

const SCHEMA_RULE = "a JSON schema of type 'object'"

const customTool = z
  .object(
    {
      type: z.literal('custom').nullish(),
      name: toolName(),
      description: text().nullish(),
      input_schema: z.looseObject(
        { type: z.literal('object', { error: must("'object'") }) },
        { error: must(SCHEMA_RULE) },
      ),
      strict: boolean().nullish(),
    },
    { error: must('a tool with name and input_schema') },
  )
  .meta({ id: 'AnthropicTool' })

/** Beginnings of the types that a caller runs. */
const RUN_BY_CALLERS = /^(?:bash|text_editor|memory|computer)_/
/** Anthropic's types have the date of their version. */
const HOSTED = /_\d{8}$|^mcp_toolset$/

/** It follows what is wrong. */
function unreadToolReason(type: string): string {
  if (RUN_BY_CALLERS.test(type))
    return ": its schema is known to Anthropic's models only, so give it as a custom tool with input_schema"
  return HOSTED.test(type) ? ': this server has no tools of its own' : ''
}

function refuseUnreadTool(given: unknown, context: z.RefinementCtx): unknown {
  const type = isJsonObject(given) ? given['type'] : undefined
  if (typeof type === 'string' && type !== 'custom')
    addUnsupported(context, ['type'], `${brokenRule("'custom'", type)}${unreadToolReason(type)}`)
  return given
}

const tool = z.preprocess(refuseUnreadTool, withoutUnbuilt(customTool, UNBUILT_TOOL_FIELDS))

export const tools = longArray(tool, { error: must('an array of tools') })

const oneCall = { disable_parallel_tool_use: boolean().nullish() }

export const toolChoiceParam = z
  .discriminatedUnion(
    'type',
    [
      z.object({ type: z.literal('auto'), ...oneCall }),
      z.object({ type: z.literal('any'), ...oneCall }),
      z.object({ type: z.literal('tool'), name: text(), ...oneCall }),
      z.object({ type: z.literal('none') }),
    ],
    { error: mustBeOfType(['auto', 'any', 'tool', 'none']) },
  )
  .meta({ id: 'AnthropicToolChoice' })

type Tool = z.output<typeof customTool>
type GivenChoice = z.output<typeof toolChoiceParam>

interface ChatTools {
  readonly tools: readonly ToolDefinition[]
  readonly toolChoice: ToolChoice
  readonly allowsParallelToolCalls: boolean
}

/** What is wrong with a choice among these tools; it follows the field's name. Null where nothing is. */
export function findToolChoiceProblem(given: readonly Tool[], choice: GivenChoice): string | null {
  if (choice.type === 'none' || choice.type === 'auto') return null
  if (given.length === 0) return "must be of type 'auto' or 'none' where there are no tools"
  if (choice.type === 'any' || given.some(({ name }) => name === choice.name)) return null
  return `must name one of the tools, but has ${describeValue(choice.name)}`
}

export function toToolOptions(given: readonly Tool[], choice: GivenChoice): ChatTools {
  return {
    tools: given.map(({ name, description, input_schema: parameters, strict }, index) => ({
      name,
      description: description ?? null,
      parameters,
      strict: strict ?? false,
      parametersField: `tools[${index}].input_schema`,
    })),
    toolChoice: toToolChoice(choice),
    allowsParallelToolCalls: choice.type === 'none' || choice.disable_parallel_tool_use !== true,
  }
}

function toToolChoice(choice: GivenChoice): ToolChoice {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return choice.type
    case 'any':
      return 'required'
    case 'tool':
      return { name: choice.name }
  }
}
