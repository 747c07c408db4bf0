/**
 * Tools of a request to `/v1/responses`: functions of the caller's own, in OpenAI's flat shape. Tools that OpenAI runs itself
 * are refused by their name: this server runs none.
 */
import { z } from 'zod'
import { brokenRule, describeValue } from '../../../net/requests/request-fields.ts'
import type { ToolChoice, ToolDefinition } from '../../../protocol/chat.ts'
import {
  addUnsupported,
  arrayOf,
  boolean,
  isJsonObject,
  must,
  oneOf,
  quoteNames,
  text,
} from '../../schemas/fields.ts'

const FUNCTION_NAME = /^[\w.-]{1,64}$/
const NAME_RULE = 'a name of 1 to 64 letters, digits, underscores, dots and hyphens'

const functionName = () =>
  z.string({ error: must(NAME_RULE) }).regex(FUNCTION_NAME, { error: must(NAME_RULE) })

const schemaObject = (rule: string) => z.record(z.string(), z.unknown(), { error: must(rule) })

const functionTool = z
  .object({
    type: z.literal('function'),
    name: functionName(),
    description: text().nullish(),
    parameters: schemaObject('a JSON schema of an object').nullish(),
    strict: boolean().nullish(),
  })
  .meta({ id: 'ResponseFunctionTool' })

/** Hosted tools, and ways to choose them. @param read the types that are read */
const refuseHosted = (read: readonly string[]) => (given: unknown, context: z.RefinementCtx) => {
  if (!isJsonObject(given) || read.some((type) => type === given['type'])) return given
  const problem = `${brokenRule(quoteNames(read), given['type'])}: this server runs no tools of its own`
  addUnsupported(context, ['type'], problem)
  return given
}

export const tool = z.preprocess(refuseHosted(['function']), functionTool)

const namedFunction = z.object({ type: z.literal('function'), name: functionName() })

const allowedTools = z.object({
  type: z.literal('allowed_tools'),
  mode: oneOf(['auto', 'required']),
  tools: arrayOf(z.preprocess(refuseHosted(['function']), namedFunction), {
    min: 1,
    max: Infinity,
    of: 'function',
  }),
})

export const toolChoice = z.preprocess(
  refuseHosted(['function', 'allowed_tools']),
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
  if (choice === 'none' || choice === 'auto') return null
  if (tools.length === 0) return "must be 'none' or 'auto' where there are no tools"
  if (choice === 'required') return null
  const names = new Set(tools.map(({ name }) => name))
  const chosen = choice.type === 'function' ? [choice] : choice.tools
  const unknown = chosen.find(({ name }) => !names.has(name))
  return unknown === undefined ? null : `must name one of the tools, but has ${describeValue(unknown.name)}`
}

/** `allowed_tools` leaves out the others: what a model does not know of it cannot call. */
export function toChatTools(tools: readonly Tool[], choice: GivenChoice): ChatTools {
  const definitions = tools.map(toDefinition)
  if (typeof choice === 'string') return { tools: definitions, toolChoice: choice }
  if (choice.type === 'function') return { tools: definitions, toolChoice: { name: choice.name } }
  const allowed = new Set(choice.tools.map(({ name }) => name))
  return { tools: definitions.filter(({ name }) => allowed.has(name)), toolChoice: choice.mode }
}

function toDefinition({ name, description, parameters, strict }: Tool): ToolDefinition {
  return {
    name,
    description: description ?? null,
    parameters: parameters ?? NO_PARAMETERS,
    strict: strict ?? false,
  }
}

/** Of a function that takes nothing. */
const NO_PARAMETERS = { type: 'object', properties: {} } as const

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
