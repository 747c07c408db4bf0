/**
 * Tools of a request to `/v1/responses`: functions of the caller's own, in OpenAI's flat shape. Tools that OpenAI runs itself
 * are refused by their name: this server runs none.
 */
import { z } from 'zod'
import { UNBUILT_TOOL_FIELDS } from '../../../net/requests/other-fields/dialects.ts'
import type { ToolChoice, ToolDefinition } from '../../../protocol/chat.ts'
import { arrayOf, must, oneOf, withoutUnbuilt } from '../../schemas/fields.ts'
import { longArray } from '../../schemas/parsing/long-array.ts'
import {
  findNamesProblem,
  functionFields,
  functionName,
  refuseOtherTypes,
  toDefinition,
} from '../../schemas/tool-fields.ts'

const functionTool = z
  .object({ type: z.literal('function'), ...functionFields() })
  .meta({ id: 'ResponseFunctionTool' })

const tool = z.preprocess(
  refuseOtherTypes(['function'], 'name'),
  withoutUnbuilt(functionTool, UNBUILT_TOOL_FIELDS),
)

export const responseTools = longArray(tool, { error: must('an array of tools') })

const namedFunction = z.object({ type: z.literal('function'), name: functionName() })

const allowedTools = z.object({
  type: z.literal('allowed_tools'),
  mode: oneOf(['auto', 'required']),
  tools: arrayOf(z.preprocess(refuseOtherTypes(['function'], 'name'), namedFunction), {
    min: 1,
    max: Infinity,
    of: 'function',
  }),
})

export const toolChoice = z.preprocess(
  refuseOtherTypes(['function', 'allowed_tools'], 'name'),
  z.union([z.enum(['none', 'auto', 'required']), namedFunction, allowedTools], {
    error: must("'none', 'auto', 'required', a function or 'allowed_tools'"),
  }),
)

type Tool = z.output<typeof functionTool>
type GivenChoice = z.output<typeof toolChoice>

/** What the chat asks for: the tools that may be called, and whether one must be. */
export interface ChatTools {
  readonly tools: readonly ToolDefinition[]
  readonly toolChoice: ToolChoice
}

/** What is wrong with a choice among these tools; it follows the field's name. Null where nothing is. */
export function findChoiceProblem(tools: readonly Tool[], choice: GivenChoice): string | null {
  if (typeof choice === 'string') return findNamesProblem(tools, choice)
  const chosen = choice.type === 'function' ? [choice] : choice.tools
  return findNamesProblem(
    tools,
    chosen.map(({ name }) => name),
  )
}

/** `allowed_tools` leaves out the others: what a model does not know of it cannot call. */
export function toChatTools(tools: readonly Tool[], choice: GivenChoice): ChatTools {
  const definitions = tools.map((one, index) => toDefinition(one, `tools[${index}].parameters`))
  if (typeof choice === 'string') return { tools: definitions, toolChoice: choice }
  if (choice.type === 'function') return { tools: definitions, toolChoice: { name: choice.name } }
  const allowed = new Set(choice.tools.map(({ name }) => name))
  return { tools: definitions.filter(({ name }) => allowed.has(name)), toolChoice: choice.mode }
}

/** As an answer shows a tool. */
export function toShownTool({ name, description, parameters, strict }: Tool) {
  return {
    type: 'function' as const,
    name,
    description: description ?? null,
    parameters: parameters ?? null,
    strict: strict ?? false,
  }
}
