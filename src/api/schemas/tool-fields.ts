/** What the dialects share about tools: a function as OpenAI writes it, and which of the tools a choice names. */
import { z } from 'zod'
import { brokenRule, describeValue } from '../../net/requests/request-fields.ts'
import type { ToolDefinition } from '../../protocol/chat.ts'
import { addUnsupported, boolean, isJsonObject, must, quoteNames, text } from './fields.ts'

/** More than OpenAI's 128: agents bring those of all their servers. */
export const MAX_TOOLS = 512

/** As long as Anthropic's: agents put the name of a server in front. */
const FUNCTION_NAME = /^[\w.-]{1,128}$/
const NAME_RULE = 'a name of 1 to 128 letters, digits, underscores, dots and hyphens'

export const functionName = () =>
  z.string({ error: must(NAME_RULE) }).regex(FUNCTION_NAME, { error: must(NAME_RULE) })

const schemaObject = (rule: string) => z.record(z.string(), z.unknown(), { error: must(rule) })

/** The fields of a function that a model may call. */
export const functionFields = () => ({
  name: functionName(),
  description: text().nullish(),
  parameters: schemaObject('a JSON schema of an object').nullish(),
  strict: boolean().nullish(),
})

export type FunctionTool = z.output<z.ZodObject<ReturnType<typeof functionFields>>>

/** Beginnings of the types that OpenAI runs itself, and of the items of their calls. */
const HOSTED = /^(?:web_search|file_search|code_interpreter|image_generation|mcp)/
/** The same of those that a caller runs, as it does functions. */
const RUN_BY_CALLERS = /^(?:custom|shell|local_shell|apply_patch|computer)/

/** Why a tool of that type is not read, or an item of it, to follow what is wrong; empty where it is no type that others have. */
export function unreadReason(type: unknown): string {
  const name = String(type)
  if (HOSTED.test(name)) return ': this server runs no tools of its own'
  return RUN_BY_CALLERS.test(name) ? ": only tools of type 'function' are built" : ''
}

/** Where the dialects have the fields of a function: in an object of their own, or beside its type. */
const PLACES = { function: 'below function', name: 'beside type' } as const

/**
 * Tools that are no functions, ways to choose them, and functions in the shape of another dialect.
 * @param read the types that are read
 * @param needed what a function has in this dialect
 */
export const refuseOtherTypes =
  (read: readonly string[], needed: keyof typeof PLACES) =>
  (given: unknown, context: z.RefinementCtx): unknown => {
    if (!isJsonObject(given)) return given
    const { type } = given
    if (!read.some((one) => one === type)) {
      addUnsupported(context, ['type'], `${brokenRule(quoteNames(read), type)}${unreadReason(type)}`)
    } else if (type === 'function' && given[needed] === undefined) {
      const isOfOther = Object.keys(PLACES).some((place) => given[place] !== undefined)
      const where = isOfOther ? `: a function's fields stand ${PLACES[needed]} here` : ''
      context.addIssue({ code: 'custom', path: [needed], message: `is required${where}` })
    }
    return given
  }

/** For the `preprocess` of a body: with the choice `none` tools ask for nothing, so what is no tool of this schema is left out. */
export const ignoreUnasked =
  (tools: z.ZodType) =>
  (body: unknown): unknown => {
    if (!isJsonObject(body) || body['tool_choice'] !== 'none') return body
    const { tools: given } = body
    const mayBeTools = Array.isArray(given) && given.length <= MAX_TOOLS
    return mayBeTools && tools.safeParse(given).success ? body : { ...body, tools: null }
  }

/** What a choice may be, beside `none` and `auto`: any of the tools, or some of them. */
type Choice = 'none' | 'auto' | 'required' | readonly string[]

/** What is wrong with a choice among these tools; it follows the field's name. Null where nothing is. */
export function findNamesProblem(tools: readonly FunctionTool[], choice: Choice): string | null {
  if (choice === 'none' || choice === 'auto') return null
  if (tools.length === 0) return "must be 'none' or 'auto' where there are no tools"
  if (choice === 'required') return null
  const names = new Set(tools.map(({ name }) => name))
  const unknown = choice.find((name) => !names.has(name))
  return unknown === undefined ? null : `must name one of the tools, but has ${describeValue(unknown)}`
}

/** @param parametersField the body's name for `parameters` */
export function toDefinition(
  { name, description, parameters, strict }: FunctionTool,
  parametersField: string,
): ToolDefinition {
  return {
    name,
    description: description ?? null,
    parameters: parameters ?? NO_PARAMETERS,
    strict: strict ?? false,
    parametersField,
  }
}

/** Of a function that takes nothing: without the last field a schema that names no properties allows any. */
const NO_PARAMETERS = { type: 'object', properties: {}, additionalProperties: false } as const
